import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { signalled } from './signalled.ts'

const began = async () => {
  const child = spawn('/bin/sh', ['-c', 'echo; read line'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return { child, pid: child.pid ?? assert.fail('it has no pid') }
}

for (const [whom, sign] of [
  ['a process', 1],
  ['a group', -1],
] as const) {
  test(`A signal to ${whom} is sent, and to one that is gone it is not`, async () => {
    const { child, pid } = await began()
    assert.equal(signalled(sign * pid, 'SIGKILL'), true)
    const [code, signal] = await once(child, 'close')
    assert.deepEqual({ code, signal }, { code: null, signal: 'SIGKILL' })
    assert.equal(signalled(sign * pid, 'SIGKILL'), false)
  })
}

test('That a signal could not be sent for another reason is no sign of an end', async () => {
  const { child, pid } = await began()
  const unknown = 'SIGNONE' as NodeJS.Signals
  assert.throws(() => signalled(-pid, unknown), { code: 'ERR_UNKNOWN_SIGNAL' })
  signalled(-pid, 'SIGKILL')
  await once(child, 'close')
})
