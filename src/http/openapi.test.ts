import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { problemCatalogue, problemOf } from '../protocol/problem.ts'
import { problemMeanings } from '../protocol/problem-meaning.ts'
import { eventTypes } from '../protocol/events/event-catalogue.ts'
import { fakeHome } from '../testing/http/http-home.ts'

type Operation = {
  operationId: string
  summary?: string
  security?: object[]
  parameters?: { $ref?: string; name?: string; in?: string }[]
  responses: Record<string, object>
}
type Document = {
  info: object
  openapi: string
  security: object[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<
      string,
      { type?: unknown; properties?: { type?: { const?: string; enum?: string[] } } }
    >
  }
}

const fake = fakeHome()
const document = (await (await fake.ask('/openapi.json')).json()) as Document
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
)

function refsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref] : []
  return [...own, ...Object.values(value).flatMap(refsIn)]
}

describe('the OpenAPI document', () => {
  test('is 3.1, and every reference in it leads somewhere', () => {
    const lost = [...new Set(refsIn(document))].filter((ref) => {
      let at: unknown = document
      for (const step of ref.slice(2).split('/')) at = (at as Record<string, unknown>)[step]
      return at === undefined
    })
    assert.deepEqual([document.openapi, lost], ['3.1.0', []])
  })

  test('is the one that is published: each field, parameter, summary and description', () => {
    const published = new URL('../../docs/reference/openapi.json', import.meta.url)
    const { info, ...rest } = JSON.parse(readFileSync(published, 'utf8')) as Document
    assert.deepEqual({ ...document, info }, { info, ...rest }, 'after a change: npm run generate')
  })

  test('says where a record may be null, and only there', () => {
    const { schemas } = document.components
    const nullable = Object.entries(schemas).filter(([, schema]) =>
      JSON.stringify(schema.type ?? '').includes('null'),
    )
    const ofItem: object = schemas['WorkItem']?.properties ?? {}
    assert.deepEqual(nullable, [])
    assert.deepEqual('wait' in ofItem && ofItem.wait, {
      anyOf: [{ $ref: '#/components/schemas/WaitOfItem' }, { type: 'null' }],
    })
  })

  test('has every route but the internal one, and no other', () => {
    const routes = fake.app.app.routes
      .filter(({ method, path }) => method !== 'ALL' && path !== '/operator')
      .map(({ method, path }) => `${method} ${path.replaceAll(/:([^/]+)/g, '{$1}')}`)
    const named = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    assert.deepEqual(named.toSorted(), [...new Set(routes)].toSorted())
  })

  test('names each operation once, and says what it is for', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.includes('postAgentsByAgentMessages'))
    const mute = operations.filter(({ operation }) => !operation.summary)
    assert.deepEqual(
      mute.map(({ path }) => path),
      [],
    )
  })

  test('asks for the token everywhere but at probes, callbacks and webhooks', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0)
    assert.deepEqual(
      open.map(({ path }) => path),
      ['/healthz', '/readyz', '/callbacks/{token}', '/webhooks/{agent}/{source}'],
    )
    assert.deepEqual(document.security, [{ control_token: [] }])
  })

  test('declares each parameter of a path', () => {
    const missing = operations.filter(({ path, operation }) => {
      const wanted = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
      const given = (operation.parameters ?? []).filter((p) => p.in === 'path').map((p) => p.name)
      return wanted.join() !== given.join()
    })
    assert.deepEqual(
      missing.map(({ path }) => path),
      [],
    )
  })

  test('offers Idempotency-Key where something is made, and nowhere else', () => {
    const offered = operations
      .filter(({ operation }) => operation.parameters?.some(({ $ref }) => $ref?.endsWith('Key')))
      .map(({ method, path }) => `${method} ${path}`)
    for (const route of ['post /agents', 'post /agents/{agent}/messages']) {
      assert.ok(offered.includes(route), route)
    }
    assert.deepEqual(
      offered.filter((route) => !route.startsWith('post ')),
      [],
    )
  })

  test('has a schema for each type of event, by its name', () => {
    const { schemas } = document.components
    const found = Object.entries(schemas).flatMap(([name, { properties }]) => {
      if (!name.endsWith('Event')) return []
      return properties?.type?.const ?? properties?.type?.enum ?? []
    })
    assert.deepEqual(found.toSorted(), eventTypes.toSorted())
  })
})

describe('problems', () => {
  test('each code has a status, something to do, and a meaning', () => {
    assert.deepEqual(
      Object.keys(problemMeanings).toSorted(),
      Object.keys(problemCatalogue).toSorted(),
    )
    const bare = Object.entries(problemCatalogue).filter(([code, { status, hint }]) => {
      const meaning = problemMeanings[code as keyof typeof problemMeanings]
      return status < 400 || status > 599 || hint.length < 5 || !meaning.endsWith('.')
    })
    assert.deepEqual(bare, [])
  })

  test('each code has a page that says its status, its meaning and what to do', () => {
    for (const code of Object.keys(problemMeanings) as (keyof typeof problemMeanings)[]) {
      const { type, status, hint, title } = problemOf(code, '')
      const page = new URL(`../../docs/reference/problems/${code}.md`, import.meta.url)
      assert.deepEqual(
        readFileSync(page, 'utf8').split('\n\n').slice(0, 4),
        [
          `# ${title}`,
          `\`${type}\`, status ${status}.`,
          problemMeanings[code],
          `**What to do.** ${hint}`,
        ],
        'after a change: npm run generate',
      )
    }
  })
})
