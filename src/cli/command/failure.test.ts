import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  asFailure,
  failureText,
  faultText,
  refused,
  tokenExplained,
  wrongToken,
} from './failure.ts'

const fault = (message: string) =>
  Object.assign(new Error(message), { code: 'read_only', retry: 'never' })

test('a fault is told as what and what to do, with the system’s words beside the what', () => {
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

test('a program part that no descriptor was left to load is a failure in words, no bug', () => {
  const said = 'EMFILE: too many open files, open "/x/app.ts"'
  const error = Object.assign(new Error(said), { code: 'EMFILE', syscall: 'open' })
  const failure = asFailure(error)
  assert.equal(
    failure === null ? null : failureText(failure),
    `holon: the system is out of memory or open files (${said}); raise the limit or close something`,
  )
  assert.equal(asFailure(Object.assign(new Error('x'), { code: 'EBADF', syscall: 'read' })), null)
})

test('a refusal names the command that helps', () => {
  const { problem, exit } = refused({ code: 'trigger_no_match', message: 'No.', hint: 'other' })
  const hint = 'holon waits shows what each waits for; holon answer answers a question'
  assert.deepEqual([problem.hint, exit], [hint, 2])
})

test('a refusal of words is usage, of what does not go now a failure, by its status', () => {
  const exitOf = (code: string) => refused({ code, message: 'No.', hint: 'Do.' }).exit
  const codes = ['schedule_invalid', 'wait_not_found', 'agent_stopped', 'queue_full', 'no_model']
  assert.deepEqual(codes.map(exitOf), [2, 2, 1, 1, 1])
})

test('what to do about a stopped agent names it, where it is known', () => {
  const stopped = { code: 'agent_stopped', message: 'docs is stopped.', hint: 'Start it.' }
  const hint = 'holon agents start docs, or send it with --start'
  assert.equal(refused(stopped, 'docs').problem.hint, hint)
})

test('a wrong token is explained by where it comes from; other failures stay as they are', () => {
  const hintOf = (from_environment: boolean) =>
    tokenExplained(wrongToken(), from_environment).problem.hint
  assert.match(hintOf(true) ?? '', /^unset HOLON_CONTROL_TOKEN/)
  assert.match(hintOf(false) ?? '', /^it was started with HOLON_CONTROL_TOKEN/)
  const other = refused({ code: 'queue_full', message: 'No.', hint: 'Wait.' })
  assert.equal(tokenExplained(other, true), other)
})
