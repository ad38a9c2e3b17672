/**
 * Where a limit of what may be given bites: exactly as much is taken, one more is refused by name.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, prompt, somePlan, T0, waitCommand, World } from '../testing/world/agent-world.ts'
import { every, once, prepared, type Bare } from '../testing/world/operator-inputs.ts'
import { changeWords } from './work/change-words.ts'
import { checksOf, type CheckGiven } from './checks/spec.ts'
import type { Draft } from './facts/facts.ts'
import { pickItem } from './waits/focus.ts'
import { admitPrompt } from './inbox/admit.ts'
import { createItem, updateItem } from './work/create-and-update.ts'
import { limits } from './limits.ts'
import { operate } from './operator/decide.ts'
import { choicesOf, questionOf } from './state/question.ts'
import type { Receipt } from './state/receipt.ts'
import { answeredBy } from './operator/receipts.ts'
import { judgeReport } from './work/report.ts'
import { plus } from './time.ts'
import { isRejection } from './rejection.ts'
import { waitFor } from './waits/wait-for.ts'

type Name = keyof typeof limits
/** Gives as much of it as is said, in a world that has one item. */
type Place = (d: Draft, n: number, w: World) => unknown

const x = (n: number) => 'x'.repeat(n)
const many = <T>(n: number, one: (at: number) => T): T[] =>
  Array.from({ length: n }, (_, at) => one(at))
const id = 'work_0001'

const fresh = { id: 'work_new', by: 'agent', plan_status: 'draft', budget: null } as const
const made = (d: Draft, objective: string, todos: readonly string[]) => {
  const todo_list = todos.map((text) => ({ text, state: 'pending' }) as const)
  return createItem(d, { ...fresh, objective, todo_list, plan: somePlan('work_new') })
}
const changed = (d: Draft, fields: object) =>
  updateItem(d, { work_item_id: id, by: 'agent', ...fields })
const waits = (d: Draft, fields: object) => waitFor(d, waitCommand({ work_item_id: id, ...fields }))
const check = (one: CheckGiven) => checksOf([one], '/w')
const command = { kind: 'command', name: 'a', cmd: 'true' } as const
const file = { kind: 'file', name: 'a', path: 'a' } as const
const url = 'http://a/'
const does = (d: Draft, w: World, act: Bare) => operate(d, prepared(w, act))
const schedule = { do: 'create_schedule', label: 'a', text: 'b', spec: every(5) } as const

const places: readonly (readonly [Name, where: string, Place])[] = [
  ['objective', 'of a new item', (d, n) => made(d, x(n), [])],
  ['objective', 'of an item', (d, n) => changed(d, { objective: x(n) })],
  [
    'todos',
    'of a new item',
    (d, n) =>
      made(
        d,
        'a',
        many(n, () => 'b'),
      ),
  ],
  ['todo_text', 'of a new item', (d, n) => made(d, 'a', ['b', x(n)])],
  ['reason', 'of a blocker', (d, n) => changed(d, { blocked_by: x(n) })],
  ['reason', 'of a pick', (d, n) => pickItem(d, { work_item_id: id, by: 'agent', reason: x(n) })],
  ['reason', 'of a wait', (d, n) => waits(d, { reason: x(n) })],
  ['reason', 'as the resource of a wait', (d, n) => waits(d, { resource: x(n) })],
  ['reason', 'as the source of a wait', (d, n) => waits(d, { source: x(n) })],
  ['reason', 'as the condition of a wait', (d, n) => waits(d, { condition: x(n) })],
  [
    'reason',
    'as a check by a person',
    (_, n) => check({ kind: 'person', name: 'a', question: x(n) }),
  ],
  ['reason', 'looked for in a file', (_, n) => check({ ...file, expect: { contains: x(n) } })],
  ['question', 'of an item', (_, n) => questionOf(x(n), [])],
  ['choices', 'of a question', (_, n) => choicesOf(many(n, (at) => ({ label: `c${at}` })))],
  ['choice', 'of a question', (_, n) => choicesOf([{ label: x(n) }])],
  ['choice_key', 'of a choice', (_, n) => choicesOf([{ label: 'a', key: x(n) }])],
  [
    'checks',
    'of an item',
    (_, n) =>
      checksOf(
        many(n, (at) => ({ ...command, name: `a${at}` })),
        '/w',
      ),
  ],
  ['check_cmd', 'of a check', (_, n) => check({ ...command, cmd: x(n) })],
  ['check_time', 'of a check', (_, n) => check({ ...command, timeout_ms: n })],
  ['path', 'of a check', (_, n) => check({ ...file, path: x(n), expect: { exists: true } })],
  [
    'check_url',
    'of a check',
    (_, n) => check({ kind: 'http', name: 'a', url: url + x(n - 9), status: 200 }),
  ],
  ['operator_text', 'of a message', (d, n) => admitPrompt(d, prompt({ text: x(n) }))],
  ['operator_text', 'of a schedule', (d, n, w) => does(d, w, { ...schedule, text: x(n) })],
  ['label', 'of a schedule', (d, n, w) => does(d, w, { ...schedule, label: x(n) })],
  ['label', 'of a trigger', (d, n, w) => does(d, w, { do: 'create_trigger', label: x(n) })],
  [
    'event_name',
    'as a source',
    (d, n, w) => does(d, w, { do: 'create_trigger', label: 'a', source: x(n) }),
  ],
  [
    'event_name',
    'as a resource',
    (d, n, w) => does(d, w, { do: 'create_trigger', label: 'a', resource: x(n) }),
  ],
]

for (const [name, where, place] of places) {
  test(`${name} ${where} is taken up to its limit, and one more is refused`, () => {
    const limit = limits[name]
    const said = (n: number) => {
      const w = new World()
      assert.equal(item(w), id)
      const asked = w.try((d) => place(d, n, w))
      return isRejection(asked) ? asked.message : null
    }
    assert.equal(said(limit.value), null)
    const refused = said(limit.value + 1)
    assert.equal(
      refused,
      `${limit.name} is ${limit.value + 1} ${limit.unit}; the limit is ${limit.value}.`,
    )
  })
}

/** What may lie ahead, by the way in which it is asked for. */
const aheads: readonly (readonly ['wait_max' | 'schedule_ahead', string, Place])[] = [
  ['wait_max', 'of a timer', (d, n) => waits(d, { wake: 'timer', wake_at: plus(T0, n) })],
  ['wait_max', 'of a recheck', (d, n) => waits(d, { recheck_at: plus(T0, n) })],
  [
    'schedule_ahead',
    'of a schedule',
    (d, n, w) => does(d, w, { ...schedule, spec: once(plus(T0, n)) }),
  ],
]
for (const [name, where, place] of aheads) {
  test(`a time ${where} may lie as far ahead as ${name} says, and no further`, () => {
    const code = (n: number) => {
      const w = new World()
      item(w)
      const asked = w.try((d) => place(d, n, w))
      return isRejection(asked) ? asked.code : null
    }
    const { value } = limits[name]
    assert.deepEqual([code(value), code(value + 1)], [null, 'time_too_far'])
  })
}

test('a key is remembered for its time, and at its end another request may have it', () => {
  const w = new World()
  const receipt: Receipt = {
    id: 'rcpt_1',
    agent_id: 'main',
    request_sha256: 'a',
    reply: w.do((d) => does(d, w, { do: 'create_trigger', label: 'a' })),
    created_at: T0,
  }
  const code = (ms: number) => {
    const answer = answeredBy(receipt, { id: 'rcpt_1', request_sha256: 'b' }, plus(T0, ms))
    return isRejection(answer) ? answer.code : answer
  }
  const { value } = limits.idempotency
  assert.deepEqual([code(value - 1), code(value)], ['idempotency_mismatch', null])
})

test('a change is told whole up to its limit; a longer one is named', () => {
  const w = new World()
  item(w)
  const most = limits.told_change.value - 'blocked_by: ""'.length
  const told = (n: number) => w.try((d) => changeWords(d, id, { blocked_by: x(n) }))
  assert.deepEqual(told(most), [`blocked_by: "${x(most)}"`])
  assert.deepEqual(told(most + 1), ['blocked_by, to be read with GetWorkItem'])
})

test('one sentence is short below its limit', () => {
  const { value } = limits.short_report
  assert.deepEqual([judgeReport(x(value - 1)), judgeReport(x(value))], ['short', 'whole'])
})
