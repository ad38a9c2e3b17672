// Which lines are one command in plain words: of no other is a standing yes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionBody } from '../../testing/action-body.ts'
import { aPush } from '../../testing/world/held.ts'
import type { PolicyDecision } from './decision.ts'
import { plainOnly } from './plain-line.ts'

const command = aPush('v1')
const part = { kind: 'run', command } as const
const asked: PolicyDecision = {
  decide: 'ask',
  because: { by: 'no_part' },
  part,
  why: '',
  revision: 'r',
  lifts: [part],
}
const isPlain = (line: string | null, commands = [command]) =>
  plainOnly(asked, actionBody({ commands }), line).lifts !== null

test('the words of the command, bare or quoted, and a call that has no line', () => {
  for (const line of ['git push origin v1', ` git  push 'origin' "v1"\n`, null]) {
    assert.equal(isPlain(line), true, `${line}`)
  }
})

test('nothing that says more than the command, though its action is the same', () => {
  const lines = [
    'git push origin v1 &',
    '! git push origin v1',
    'export GH_HOST=x; git push origin v1',
    'https_proxy=x; git push origin v1',
    'n=$(<f); ((n)); git push origin v1',
    'while true; do git push origin v1; done',
    'git push origin v1 <<E\nx\nE',
    'git push origin v1 || true',
    'git push origin v1\n: next',
    'git push origin v1 2> x',
    'git push origin v{1,}',
    'git push origin "$x"',
    "git push origin $'v1'",
    'git push origin v1 # so',
    '',
  ]
  for (const line of lines) assert.equal(isPlain(line), false, line)
  assert.equal(isPlain('git push origin v1', [command, command]), false)
  assert.equal(isPlain('git push origin v1', []), false)
})
