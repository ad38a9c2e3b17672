import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseRunbook } from './parse.ts'

/** The kinds of the steps of an example, `?` behind an optional one; or its errors. */
function kindsOf(path: string): unknown {
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const parsed = parseRunbook(text)
  if (!parsed.ok) return parsed.errors
  return parsed.program.steps.map(({ action, optional }) => `${action.kind}${optional ? '?' : ''}`)
}

const examples: [path: string, kinds: string[]][] = [
  ['examples/health.md', ['sh', 'sh', 'sh', 'sh', 'sh', 'sh']],
  ['examples/tour.md', ['sh', 'wait', 'sh', 'sh?', 'sh', 'ask', 'sh']],
]
for (const [path, kinds] of examples) {
  test(`${path} is a runbook`, () => assert.deepEqual(kindsOf(path), kinds))
}

test('the runbook that the documentation shows is one', () => {
  const doc = readFileSync(new URL('../../../docs/concepts/runbook.md', import.meta.url), 'utf8')
  const shown = /````markdown\n(.*?)````/s.exec(doc)?.[1] ?? ''
  const parsed = parseRunbook(shown)
  const kinds = parsed.ok ? parsed.program.steps.map(({ action }) => action.kind) : parsed.errors
  assert.deepEqual(kinds, ['sh', 'wait', 'ask', 'callback', 'sh'])
})
