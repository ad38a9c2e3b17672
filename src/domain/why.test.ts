import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, say, T0, task, wait, waitOf, World } from '../testing/domain.ts'
import { begin, turn } from '../testing/domain-turn.ts'
import { completeItem } from './complete.ts'
import type { WorkItemId } from './ids.ts'
import { updateItem } from './items.ts'
import { paceAgent } from './pacing.ts'
import { holdAgent } from './park.ts'
import { plus } from './time.ts'
import { why, type Why } from './why.ts'

const minute = 60_000
const clock = (at: string) => at.slice(11, 16)
const ask = (w: World, id: WorkItemId, running = false): Why =>
  why(w.facts, id, w.now, running, clock) ?? assert.fail('not among the facts')
const stop = (w: World) =>
  w.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
const hold = (w: World, cause: 'provider_world' | 'provider_setup' = 'provider_world') =>
  w.do((d) => holdAgent(d, { cause, message: 'The provider answers 503.', until: null }))
const update = (
  w: World,
  id: WorkItemId,
  fields: Omit<Parameters<typeof updateItem>[1], 'work_item_id' | 'by'>,
) => w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', ...fields }))

type Row = [
  name: string,
  prepare: (w: World, id: WorkItemId) => boolean | void,
  state: string,
  sentence: string,
  when: string | null,
]

// The item is `Release 2.4.0.`, made at 09:00, not in focus unless the row says so.
const rows: Row[] = [
  [
    'completed with a report',
    (w, id) =>
      void w.do((d) =>
        completeItem(d, { work_item_id: id, by: 'agent', report: 'Ok.', turn: null }),
      ),
    'completed completed_recent',
    'was completed at 09:00; its report was delivered.',
    null,
  ],
  [
    'completed without a report',
    (w, id) =>
      void w.do((d) =>
        completeItem(d, { work_item_id: id, by: 'agent', report: null, turn: null }),
      ),
    'completed completed_recent',
    'was completed at 09:00 without a report.',
    null,
  ],
  [
    'a question',
    (w, id) =>
      void wait(w, {
        wake: 'operator_input',
        work_item_id: id,
        reason: 'Approve  the\nchangelog?',
      }),
    'waiting_operator waiting_for_operator',
    'waits for you since 09:00: "Approve the changelog?"',
    null,
  ],
  [
    'a question to a stopped agent',
    (w, id) => {
      wait(w, { wake: 'operator_input', work_item_id: id, reason: 'Ship?' })
      stop(w)
    },
    'waiting_operator waiting_for_operator',
    'waits for you since 09:00: "Ship?" Its agent is stopped.',
    null,
  ],
  [
    'needs_input',
    (w, id) => void update(w, id, { plan_status: 'needs_input' }),
    'waiting_operator waiting_for_operator',
    'waits for your input to its plan since 09:00.',
    null,
  ],
  [
    'a task',
    (w, id) => {
      const t = task(w, { work_item_id: id })
      wait(w, { wake: 'task_result', work_item_id: id, resource: t.id, task: t, reason: 'tests' })
    },
    'waiting_task blocked',
    'waits for task_t001 since 09:00: "tests".',
    null,
  ],
  [
    'a task with a recheck',
    (w, id) => {
      const t = task(w, { work_item_id: id })
      wait(w, {
        wake: 'task_result',
        work_item_id: id,
        resource: t.id,
        task: t,
        reason: 'tests',
        recheck_at: plus(T0, 30 * minute),
      })
    },
    'waiting_task blocked',
    'waits for task_t001 since 09:00: "tests".',
    '09:30',
  ],
  [
    'a timer',
    (w, id) =>
      void wait(w, {
        wake: 'timer',
        work_item_id: id,
        wake_at: plus(T0, 30 * minute),
        reason: 'cool',
      }),
    'waiting_timer blocked',
    'waits until 09:30: "cool".',
    '09:30',
  ],
  [
    'an event of anybody',
    (w, id) => void wait(w, { work_item_id: id, reason: 'the review' }),
    'waiting_external blocked',
    'waits for any event since 09:00: "the review".',
    null,
  ],
  [
    'an event that came and was looked at',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', resource: '#12', reason: 'green' })
      deliver(w, { source: 'ci', resource: '#12' })
      turn(w, { rule: 'message' })
    },
    'waiting_external blocked',
    'waits for ci #12 since 09:00: "green". It came once, and was looked at.',
    null,
  ],
  [
    'blocked, with no wait',
    (w, id) => void update(w, id, { blocked_by: 'no key' }),
    'blocked blocked',
    'is blocked since 09:00: "no key". Nothing wakes it; it needs a person.',
    null,
  ],
  [
    'triggered, review next',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      deliver(w, { source: 'ci' })
    },
    'waiting_external triggered_blocked',
    'waits, and ci came 2 times; the agent looks at it next.',
    '09:00',
  ],
  [
    'triggered again within the minute',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      turn(w, { rule: 'review_triggered' })
      deliver(w, { source: 'ci' })
    },
    'waiting_external triggered_blocked',
    'waits, and ci came once; the agent looks at it at 09:01, a minute after the last time.',
    '09:01',
  ],
  [
    'triggered while something else goes first',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      say(w)
    },
    'waiting_external triggered_blocked',
    'waits, and ci came once; first comes this: the operator spoke.',
    null,
  ],
  [
    'triggered while the agent is stopped',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      stop(w)
    },
    'waiting_external triggered_blocked',
    'waits, and ci came once; its agent is stopped.',
    null,
  ],
  [
    'triggered while the agent is held',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      hold(w)
    },
    'waiting_external triggered_blocked',
    'waits, and ci came once; its agent is held until 09:01.',
    '09:01',
  ],
  [
    'triggered while a turn runs',
    (w, id) => {
      wait(w, { work_item_id: id, source: 'ci', delivery_mode: 'wake_hint' })
      deliver(w, { source: 'ci' })
      say(w)
      begin(w)
      return true
    },
    'waiting_external triggered_blocked',
    'waits, and ci came once; a turn runs first.',
    null,
  ],
  [
    'its recheck is due',
    (w, id) => {
      wait(w, { work_item_id: id, recheck_at: plus(T0, minute) })
      w.pass(2 * minute)
    },
    'waiting_external triggered_blocked',
    'waits, and its recheck is due since 09:01; the agent looks at it next.',
    '09:02',
  ],
  [
    'in focus and ready',
    (w, id) => focus(w, id),
    'runnable current_runnable',
    'runs next: the current item is runnable: it never had a turn.',
    '09:00',
  ],
  [
    'in the queue, offered next',
    () => undefined,
    'runnable queued_runnable',
    'is in the queue, which is offered to the agent next.',
    '09:00',
  ],
  [
    'another item is in focus',
    (w) => void item(w, { focus: true }),
    'runnable queued_runnable',
    'can run; work_0002 is in focus and goes first.',
    null,
  ],
  [
    'a message about nothing goes first',
    (w) => void say(w),
    'runnable queued_runnable',
    'can run; a message (the operator spoke) goes first.',
    null,
  ],
  [
    'a message about it',
    (w, id) => void say(w, { work_item_id: id }),
    'runnable queued_runnable',
    'runs next: the operator spoke.',
    '09:00',
  ],
  [
    'a review of another item goes first',
    (w) => {
      wait(w, { work_item_id: item(w), delivery_mode: 'wake_hint' })
      deliver(w)
    },
    'runnable queued_runnable',
    'can run; a wait with something new goes first.',
    null,
  ],
  [
    'its agent is stopped',
    (w) => stop(w),
    'runnable queued_runnable',
    'can run, but its agent is stopped.',
    null,
  ],
  [
    'its agent is held by the world',
    (w) => hold(w),
    'runnable queued_runnable',
    'can run, but its agent is held until 09:01: "The provider answers 503."',
    '09:01',
  ],
  [
    'its agent is held by its setup',
    (w) => hold(w, 'provider_setup'),
    'runnable queued_runnable',
    'can run, but its agent is held until you start it again: "The provider answers 503."',
    null,
  ],
  [
    'back-off in focus',
    (w, id) => {
      focus(w, id)
      turn(w, { rule: 'continue_current' })
    },
    'runnable current_runnable',
    'can run, and rests until 09:01: its last turn made no progress.',
    '09:01',
  ],
  [
    'the bucket is empty',
    (w, id) => {
      focus(w, id)
      w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
    },
    'runnable current_runnable',
    'can run, but its agent used up its turns; one comes back at 09:10.',
    '09:10',
  ],
  [
    'the queue is backed off',
    (w) => void turn(w, { rule: 'queued_available' }),
    'runnable queued_runnable',
    'can run; the queue is offered again at 09:01.',
    '09:01',
  ],
  [
    'the operator was asked about the queue',
    (w) => {
      for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'queued_available' })
    },
    'runnable queued_runnable',
    'can run; the agent took nothing from its queue three times and asked you.',
    null,
  ],
  [
    'a turn about it runs',
    (w, id) => {
      focus(w, id)
      begin(w)
      return true
    },
    'runnable current_runnable',
    'is being worked on in turn_0001 since 09:00.',
    '09:00',
  ],
  [
    'a turn about it was interrupted',
    (w, id) => {
      focus(w, id)
      begin(w)
    },
    'runnable current_runnable',
    'is in turn_0001, which was interrupted and goes on next.',
    '09:00',
  ],
  [
    'a turn about it is held',
    (w, id) => {
      focus(w, id)
      begin(w)
      hold(w)
    },
    'runnable current_runnable',
    'can run, but its agent is held until 09:01: "The provider answers 503."',
    '09:01',
  ],
  [
    'a turn about something else runs',
    (w) => {
      say(w)
      begin(w)
      return true
    },
    'runnable queued_runnable',
    'can run; turn_0001 about the inbox or the queue runs first.',
    null,
  ],
  [
    'a turn about another item was interrupted',
    (w) => {
      item(w, { focus: true })
      begin(w)
    },
    'runnable queued_runnable',
    'can run; turn_0001, which was interrupted, goes first.',
    null,
  ],
  [
    'the runtime parked it',
    (w, id) => {
      focus(w, id)
      for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'continue_current' })
    },
    'waiting_operator waiting_for_operator',
    'waits for you since 09:06: "Three turns in a row made no progress on work_0001: turn_0001, ' +
      'turn_0002, turn_0003. How shall it go on?"',
    null,
  ],
]

const focus = (w: World, id: WorkItemId) =>
  w.do((d) =>
    d.emit({
      type: 'work_item_picked',
      id: 'main',
      previous_work_item_id: null,
      current_work_item_id: id,
      reason: null,
      previous_readiness: null,
      current_readiness: 'runnable',
      switch_kind: 'explicit_pick',
      reason_required: false,
      reason_missing: false,
      wait_id: null,
    }),
  )

for (const [name, prepare, state, sentence, when] of rows) {
  test(`§5 why says one true sentence: ${name}`, () => {
    const w = new World()
    const id = item(w, { objective: 'Release 2.4.0.' })
    const running = prepare(w, id) === true
    const told = ask(w, id, running)
    assert.deepEqual(
      [`${told.state} ${told.candidate_class}`, told.sentence, told.when && clock(told.when)],
      [state, `Release 2.4.0 ${sentence}`, when],
    )
  })
}

test('§5 why is computed by the scheduler from present facts, and writes nothing', () => {
  const w = new World()
  const [a, b] = [item(w, { focus: true }), item(w, { objective: 'Other' })]
  const before = w.events.length
  const told = ask(w, b)
  assert.deepEqual(told.decision, {
    do: 'start_turn(continue_current)',
    because: 'the current item is runnable: it never had a turn',
  })
  assert.deepEqual(told.considered, [
    { work_item_id: a, candidate_class: 'current_runnable', verdict: 'chosen' },
    {
      work_item_id: b,
      candidate_class: 'queued_runnable',
      verdict: `rule 6 goes before rule 9: ${a} is in focus and ready`,
    },
  ])
  assert.equal(told.why, `rule 6 goes before rule 9: ${a} is in focus and ready`)
  assert.equal(w.events.length, before)
})

test('§5 why names the first rule that keeps the item from running', () => {
  const rows: [string, (w: World, id: WorkItemId) => boolean | void][] = [
    ['rule 1: the agent is stopped', (w) => stop(w)],
    ['rule 2: a turn is running', (w) => (say(w), begin(w), true)],
    [`rule 3: the agent is held until ${plus(T0, minute)}`, (w) => hold(w)],
    ['rule 3: the agent is held until it is started', (w) => hold(w, 'provider_setup')],
    ['rule 4: an open turn goes on first', (w) => void (say(w), begin(w))],
    ['a message goes first: msg_0001', (w) => void say(w)],
    [
      'rule 6 goes before rule 9: work_0002 is in focus and ready',
      (w) => void item(w, { focus: true }),
    ],
    [
      'rule 8 goes before rule 9: wait_0001 wants a review',
      (w) => {
        wait(w, { work_item_id: item(w), delivery_mode: 'wake_hint' })
        deliver(w)
      },
    ],
    ['rule 9: it is offered next', () => undefined],
    [
      `rule 9: the queue is backed off until ${plus(T0, minute)}`,
      (w) => void turn(w, { rule: 'queued_available' }),
    ],
    [
      'rule 9: the bucket of self-started turns is empty',
      (w) => w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now })),
    ],
    ['rule 6: it runs next', (w, id) => focus(w, id)],
    [
      'rule 6: the bucket of turns is empty',
      (w, id) => {
        focus(w, id)
        w.do((d) => paceAgent(d, { bucket: 0, bucket_at: d.now }))
      },
    ],
    [
      `rule 6: 1 turns without progress; back-off until ${plus(T0, minute)}`,
      (w, id) => {
        focus(w, id)
        turn(w, { rule: 'continue_current' })
      },
    ],
    ['wait_0001 (external) is active', (w, id) => void wait(w, { work_item_id: id })],
    ['plan_status is needs_input', (w, id) => update(w, id, { plan_status: 'needs_input' })],
  ]
  for (const [expect, prepare] of rows) {
    const w = new World()
    const id = item(w)
    const running = prepare(w, id) === true
    const told = ask(w, id, running)
    assert.equal(told.why, expect)
  }
})

test('§5 what an item costs: nothing since its last turn, or since it was made', () => {
  const w = new World()
  const id = item(w)
  assert.equal(ask(w.pass(minute), id).cost_since, T0)
  say(w, { work_item_id: id })
  begin(w)
  assert.equal(ask(w, id, true).cost_since, null)
  const x = new World()
  const other = item(x, { focus: true })
  turn(x.pass(minute))
  assert.equal(ask(x.pass(minute), other).cost_since, plus(T0, minute))
})

test('why says what to do: the command that answers, the command that unblocks', () => {
  const w = new World()
  const [a, b] = [item(w), item(w)]
  wait(w, { work_item_id: a, wake: 'operator_input', reason: 'Ship?' })
  update(w, b, { blocked_by: 'no key' })
  assert.equal(
    ask(w, a).next,
    `your answer resumes it at once: holon send --wait ${waitOf(w, a).id} "…"`,
  )
  assert.equal(ask(w, b).next, `it goes on when its blocker is cleared: holon work unblock ${b}`)
})

test('why of an item that is not among the facts is null; times are timestamps by default', () => {
  const w = new World()
  const id = item(w)
  assert.equal(why(w.facts, 'work_none', w.now, false), null)
  update(w, id, { plan_status: 'needs_input' })
  assert.equal(
    why(w.facts, id, w.now, false)?.sentence,
    `Objective of ${id} waits for your input to its plan since ${T0}.`,
  )
})
