import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asFailure, failureText, faultText, refused } from './failure.ts'

const fault = (message: string) =>
  Object.assign(new Error(message), { code: 'read_only', retry: 'never' })

test('§14 a fault is told as what and what to do, with the system’s words beside the what', () => {
  const table: [string, string][] = [
    [
      'Opening the home /h: it cannot be written: mount it (EROFS: read-only, access "/h")',
      'holon: opening the home /h: it cannot be written (EROFS: read-only, access "/h"); mount it',
    ],
    ['The home is owned: stop it', 'holon: the home is owned; stop it'],
    ['It broke', 'holon: it broke'],
  ]
  for (const [message, says] of table) {
    const failure = asFailure(fault(message))
    assert.equal(failure === null ? null : failureText(failure), says)
    assert.equal(faultText(message), says)
  }
})

test('§14 a refusal names the command that helps', () => {
  const { problem, exit } = refused({ code: 'trigger_no_match', message: 'No.', hint: 'other' })
  const hint = 'holon waits shows what each waits for; holon answer answers a question'
  assert.deepEqual([problem.hint, exit], [hint, 1])
})
