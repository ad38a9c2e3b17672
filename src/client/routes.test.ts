import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

type Document = { paths: Record<string, Record<string, { security?: unknown[] }>> }

const read = (...path: string[]) => readFileSync(join(import.meta.dirname, ...path), 'utf8')

/** What is no part of the typed client: probes, the document itself, and doors for others. */
const others = [
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'GET /openapi.json',
  'POST /callbacks/{token}',
  'POST /webhooks/{agent}/{source}',
]

test('the typed client knows every route of the document, and no other', () => {
  const document = JSON.parse(read('..', '..', 'docs', 'reference', 'openapi.json')) as Document
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const typed = [...read('routes.ts').matchAll(/^ {2}'([A-Z]+ \/[^']*)':/gm)].map(
    ([, name]) => name,
  )
  assert.deepEqual(
    typed.toSorted(),
    documented.filter((route) => !others.includes(route)).toSorted(),
  )
})
