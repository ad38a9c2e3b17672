import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frontOf } from './front.ts'
import { parseRunbook } from './parse.ts'

const rest = '# Do it\n\n## Step\n\nask: done?\n'

test('checks at the head of a runbook are commands, and every line below keeps its number', () => {
  const text = `---\ntitle: x\ncheck tests: npm test\ncheck lint:npm run lint\n---\n${rest}`
  const { body, checks, errors } = frontOf(text)
  assert.deepEqual(checks, [
    { kind: 'command', name: 'tests', cmd: 'npm test' },
    { kind: 'command', name: 'lint', cmd: 'npm run lint' },
  ])
  assert.deepEqual(errors, [])
  assert.equal(body, `\n\n\n\n\n${rest}`)
  const parsed = parseRunbook(body)
  assert.equal(parsed.ok && parsed.program.steps[0]?.line, 8)
})

test('a check without a name or a command is told with its line; no head is no check', () => {
  const rows: [text: string, lines: number[], checks: number][] = [
    [`---\ncheck\ncheck tests:\ncheck : x\n---\n${rest}`, [2, 3, 4], 0],
    [`---\nchecks: x\n---\n${rest}`, [], 0],
    [`---\ncheck tests: true\n${rest}`, [], 0],
    [`${rest}---\ncheck tests: true\n---\n`, [], 0],
  ]
  for (const [text, lines, count] of rows) {
    const { errors, checks } = frontOf(text)
    assert.deepEqual([errors.map(({ line }) => line), checks.length], [lines, count], text)
  }
})

test('a runbook that comes as words cannot set checks, and says so', () => {
  const parsed = parseRunbook(`---\ncheck tests: npm test\n---\n${rest}`)
  assert.deepEqual(parsed.ok ? [] : parsed.errors.map(({ code, line }) => [code, line]), [
    ['checks_by_run', 1],
  ])
})
