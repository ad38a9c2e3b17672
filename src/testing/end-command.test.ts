import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { endCommand } from './end-command.ts'

function sleeping(t: TestContext, detached: boolean) {
  const child = spawn('sleep', ['600'], { detached, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  const { pid } = child
  assert.ok(pid !== undefined)
  return { pid, ended: once(child, 'exit') as Promise<[number | null, string | null]> }
}

for (const [what, detached] of [
  ['that has no group of its own yet', false],
  ['with its group', true],
] as const) {
  test(`a command ${what} is ended, and one that is gone is no failure`, async (t) => {
    const { pid, ended } = sleeping(t, detached)
    endCommand(pid)
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    endCommand(pid)
  })
}

test('whoever must not be ended is told', () => {
  assert.throws(() => endCommand(Number.NaN), { code: 'ERR_INVALID_ARG_TYPE' })
})
