/**
 * What a history shows by itself: each walk over made-up events, what it finds and what it lets be.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0, World } from '../../testing/world/agent-world.ts'
import type { Event, EventType, StoredEvent } from '../state/event.ts'
import { historyViolations } from './history.ts'
import { limits } from '../limits.ts'
import { callbackEvent, controlPrompt, runtimeFollowup, taskResult } from '../state/provenance.ts'
import { noUse } from '../state/meter.ts'
import { plus } from '../time.ts'
import { noUsage } from '../state/turn.ts'
import { itemCreated } from '../../testing/events.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>
/** Two types that share a shape are not told apart by one of their names. */
type Fields<T extends EventType> = [Of<T>] extends [never] ? { id: string } : Partial<Of<T>>
/** An event with no more fields than the walk looks at; a number: so many ms pass. */
const e = <T extends EventType>(type: T, fields: Fields<T>): Event =>
  ({ type, ...fields }) as unknown as Event

/** What is found in these events, each a commit of its own where time passes between them. */
function found(...given: readonly (Event | number)[]): string[] {
  let at = T0
  const events: StoredEvent[] = []
  for (const one of given) {
    if (typeof one === 'number') {
      at = plus(at, one)
      continue
    }
    const seq = events.length + 1
    const meta = { agent_id: 'main', work_item_id: null, turn_id: null, causation_id: null }
    events.push({ id: `evt_${seq}`, seq, global_seq: seq, v: 1, at, ...meta, event: one })
  }
  return historyViolations(new World().facts, events)
}

const finds = (rows: readonly (readonly [expect: string[], ...Event[]])[]) => {
  for (const [expect, ...events] of rows) {
    assert.deepEqual(found(...events), expect, events.map(({ type }) => type).join(', '))
  }
}

const a = 'work_a'
const b = 'work_b'
const made = (id: 'work_a' | 'work_b' = a) => e('work_item_created', { id })
const picked = (
  id: 'work_a' | 'work_b',
  before: 'work_a' | 'work_b' | null,
  switch_kind: Of<'work_item_picked'>['switch_kind'] = 'explicit_pick',
) =>
  e('work_item_picked', {
    current_work_item_id: id,
    previous_work_item_id: before,
    switch_kind,
  })
const left = (id: 'work_a' | 'work_b') => e('focus_released', { work_item_id: id })
const changed = (given: Of<'work_item_updated'>['changed'], by: 'agent' | 'operator' = 'agent') =>
  e('work_item_updated', { id: a, by, changed: given })
const waits = (fields: Partial<Of<'wait_registered'>> = {}) =>
  e('wait_registered', {
    id: 'wait_a',
    work_item_id: a,
    wake: 'external',
    by: 'agent',
    source: 'ci',
    resource: null,
    since_seq: 0,
    ...fields,
  })
const admits = (id: string, fields: Partial<Of<'message_admitted'>> = {}) =>
  e('message_admitted', {
    id: `msg_${id}` as never,
    provenance: callbackEvent,
    source: 'ci',
    resource: null,
    work_item_id: null,
    wait_id: null,
    consumed_because: null,
    ...fields,
  })
const triggers = (message: string, count = 1) =>
  e('wait_triggered', { id: 'wait_a', message_id: `msg_${message}` as never, count })

test('9: focus moves by its own events, and returns only where nothing is', () => {
  finds([
    [[], picked(a, null), picked(b, a), left(b)],
    [[], picked(a, null, 'wait_resolved')],
    [['9: work_b was picked after work_a by surprise'], picked(a, null), picked(b, null)],
    [['9: focus returned to work_b over work_a'], picked(a, null), picked(b, a, 'wait_resolved')],
    [['9: work_a was released and null was in focus'], left(a)],
    [['9: work_a was released and null was in focus'], picked(a, null), left(a), left(a)],
  ])
})

test('11: what stops an item releases its focus in the same commit', () => {
  const keeps = '11: work_a keeps focus and cannot run'
  const stops: [string, Event, ...Event[]][] = [
    ['completed', e('work_item_completed', { id: a })],
    ['blocked', changed({ blocked_by: 'x' })],
    ['needs input', changed({ plan_status: 'needs_input' })],
    ['waits', waits()],
  ]
  for (const [what, stop] of stops) {
    assert.deepEqual(found(picked(a, null), stop), [keeps], what)
    const late = found(picked(a, null), stop, 1, e('turn_bound', { work_item_id: a }))
    assert.deepEqual(late, ['11: work_a kept focus after it could not run'], what)
    assert.deepEqual(found(picked(a, null), stop, left(a), 1, made(b)), [], what)
    assert.deepEqual(found(picked(a, null), stop, picked(b, a), 1, made(b)), [], what)
    assert.deepEqual(found(picked(b, null), stop), [], `${what}, not in focus`)
  }
  finds([
    [[], picked(a, null), changed({ blocked_by: null })],
    [[], picked(a, null), changed({ plan_status: 'ready' })],
    [[], picked(a, null), waits({ work_item_id: null })],
    [[keeps], waits(), picked(a, null), e('wait_rearmed', { id: 'wait_a' })],
    [[], waits(), picked(b, null), e('wait_rearmed', { id: 'wait_a' })],
    [[], picked(a, null), e('wait_rearmed', { id: 'wait_x' })],
    [[], picked(a, null), waits(), e('wait_resolved', { id: 'wait_a', by: { kind: 'runtime' } })],
    [
      [keeps],
      waits({ id: 'wait_b', work_item_id: b }),
      picked(a, null),
      waits(),
      e('wait_resolved', { id: 'wait_b', by: { kind: 'runtime' } }),
    ],
  ])
})

test('7: nothing changes an item that is completed but what may still be learnt of it', () => {
  const done = e('work_item_completed', { id: a })
  const after = (type: EventType) => `7: ${type} after the completion of work_a`
  finds([
    [[], made(), changed({ objective: 'x' }), e('plan_changed', { id: a }), done],
    [[after('work_item_updated')], made(), done, changed({ objective: 'x' })],
    [[after('plan_changed')], made(), done, e('plan_changed', { id: a })],
    [[after('work_item_completed')], made(), done, done],
    [[], made(), done, e('work_item_reported', { id: a })],
    [[], made(), done, e('check_owed', { id: a })],
    [[], made(), done, e('check_started', { id: a })],
    [[], made(), done, e('check_finished', { id: a })],
    [[], done, changed({ objective: 'x' })],
  ])
})

test('10, 13, 14: who blocks, what counts as a change, one report and only after the end', () => {
  const report = (id: 'brief_a' | 'brief_b', kind: 'result' | 'progress' = 'result') =>
    e('brief_delivered', { id, kind, work_item_id: a })
  const done = e('work_item_completed', { id: a })
  finds([
    [[], made(), changed({ blocked_by: 'x' }), changed({ blocked_by: null }, 'operator')],
    [
      ['10: the runtime changed blocked_by of work_a'],
      e('work_item_updated', { id: a, by: 'runtime', changed: { blocked_by: null } }),
    ],
    [[], e('work_item_updated', { id: a, by: 'runtime', changed: { objective: 'x' } })],
    [['13: nothing changed in work_a'], changed({})],
    [[], made(), done, report('brief_a')],
    [[], made(), report('brief_a', 'progress'), report('brief_b', 'progress')],
    [['14: brief_a reports work_a, not completed'], made(), report('brief_a')],
    [['14: work_a has two reports'], made(), done, report('brief_a'), report('brief_b')],
    [[], done, report('brief_a'), report('brief_b')],
    [[], made(), e('brief_delivered', { id: 'brief_a', kind: 'result', work_item_id: null })],
  ])
})

test('13: the row of an item has one revision for its making and one for each change', () => {
  const w = new World()
  w.do((d) => d.emit(itemCreated({ id: a })))
  assert.deepEqual(historyViolations(w.facts, w.events), [])
  const more: Event[] = [
    changed({ objective: 'y' }),
    e('plan_changed', { id: a }),
    e('work_item_completed', { id: a }),
    e('work_item_reported', { id: a }),
    e('check_owed', { id: a }),
    e('check_started', { id: a }),
    e('check_finished', { id: a }),
  ]
  const [first] = w.events
  assert.ok(first)
  for (const [n] of more.entries()) {
    const events = more.slice(0, n + 1).map((event) => ({ ...first, event }))
    const told = historyViolations(w.facts, [...w.events, ...events])
    assert.deepEqual(told, [`13: work_a has revision 1 after ${n + 2} changes`])
  }
})

const ends = [
  'message_interjected',
  'message_coalesced',
  'message_consumed',
  'message_aborted',
  'message_failed',
  'message_dropped',
  'message_dead',
  'message_taken_back',
] as const
const moves = ['message_shown', 'message_requeued', ...ends] as const

test('5: a message ends once, and after its end nothing happens to it', () => {
  const because = 'nobody reads it'
  for (const end of ends) {
    const ended = [admits('x'), e(end, { id: 'msg_x', because })]
    assert.deepEqual(found(...ended), [], end)
    for (const move of moves) {
      const told = found(...ended, e(move, { id: 'msg_x', because }))
      assert.deepEqual(told, [`5: ${move} after msg_x was ${end}`], `${end}, ${move}`)
    }
  }
  const read = admits('x', { consumed_because: 'nobody reads it' })
  finds([
    [[], admits('x'), e('message_shown', { id: 'msg_x' }), e('message_requeued', { id: 'msg_x' })],
    [
      [],
      admits('x'),
      e('message_consumed', { id: 'msg_y', because: 'read' }),
      e('message_shown', { id: 'msg_x' }),
    ],
    [['5: message_shown after msg_x was consumed'], read, e('message_shown', { id: 'msg_x' })],
    [['24: msg_x was admitted twice'], admits('x'), admits('x')],
  ])
})

test('44: what an answer took, whole or cut, is told to the meters that had reserved for it', () => {
  const usage = { ...noUsage, input_tokens: 100, output_tokens: 20 }
  const id = 'turn_a:1'
  const meter = (type: 'meter_reserved' | 'meter_settled', of: string, tokens: number) =>
    e(type, { id: of, round_id: id, use: { ...noUse, tokens } })
  const reserved = meter('meter_reserved', 'work_a', 500)
  for (const type of ['answer_cut', 'round_recorded'] as const) {
    const took = e(type, { id, usage })
    const untold = '44: turn_a:1 took 120 tokens and work_a was not told'
    finds([
      [[untold], reserved, took],
      [[], reserved, took, meter('meter_settled', 'work_a', 120)],
      [[untold], reserved, took, meter('meter_settled', 'work_b', 120)],
      [
        ['44: turn_a:1 took 120 tokens and work_a was told 119'],
        ...[reserved, took, meter('meter_settled', 'work_a', 119)],
      ],
      [[], reserved, e('meter_released', { id: 'work_a', round_id: id }), took],
      [[], took],
    ])
  }
})

test('5: what was taken back was claimed by no turn, and no request shows it', () => {
  const back = e('message_taken_back', { id: 'msg_x', surface: 'tui' })
  const shows = e('request_sent', { id: 'turn_a:1', message_ids: ['msg_x', 'msg_y'] })
  const claims = e('message_claimed', { id: 'msg_x', turn_id: 'turn_a' })
  const open = [admits('x'), starts('a'), claims]
  finds([
    [['5: msg_x was taken back from the turn that had claimed it'], ...open, back],
    [[], ...open, e('message_requeued', { id: 'msg_x' }), back],
    [['5: turn_a:1 shows msg_x, which was taken back'], admits('x'), back, starts('a'), shows],
    [[], ...open, shows],
  ])
})

const starts = (id: string, fields: Partial<Of<'turn_started'>> = {}) =>
  e('turn_started', {
    id: `turn_${id}`,
    work_item_id: a,
    cause: { kind: 'continue_current', work_item_id: a },
    started_by: 'itself',
    ...fields,
  })
const over = (id: string, fields: Partial<Of<'turn_ended'>> = {}) =>
  e('turn_ended', { id: `turn_${id}`, progress: false, reason: null, ...fields })

test('5, 16: one turn is open at a time, and messages are claimed by it', () => {
  const claimed = e('message_claimed', { id: 'msg_x', turn_id: 'turn_1' })
  const dead = e('message_dead', { id: 'msg_x' })
  finds([
    [[], starts('1'), admits('x'), claimed, over('1'), starts('2'), over('2')],
    [['16: turn_2 started while turn_1 was open'], starts('1'), starts('2')],
    [['16: turn_1 ended and was not open'], over('1')],
    [['16: turn_2 ended and was not open'], starts('1'), over('2')],
    [['16: turn_1 ended and was not open'], starts('1'), over('1'), over('1')],
    [['5: msg_x was claimed by turn_1, which is not open'], admits('x'), claimed],
    [
      ['5: msg_x was claimed by turn_1, which is not open'],
      starts('1'),
      over('1'),
      admits('x'),
      claimed,
    ],
    [
      [
        '5: message_claimed after msg_x was message_dead',
        '5: msg_x was claimed by turn_1, which is not open',
      ],
      admits('x'),
      dead,
      claimed,
    ],
  ])
})

const stalledTurn = (id: string, fields: Partial<Of<'turn_started'>> = {}): Event[] => [
  starts(id, fields),
  over(id),
]
const stalled = (count: number) =>
  `23: work_a had ${count} self-started turns in a row without progress`
const three = [...stalledTurn('1'), ...stalledTurn('2'), ...stalledTurn('3')]

test('23: a fourth self-started turn in a row without progress is one too many', () => {
  assert.equal(limits.no_progress_turns.value, 3)
  const queued = { kind: 'queued_available', work_item_ids: [] } as const
  const reviewed = { kind: 'review_triggered', work_item_id: a, wait_ids: [] } as const
  finds([
    [[], ...three],
    [[stalled(4)], ...three, ...stalledTurn('4')],
    [[stalled(4), stalled(5)], ...three, ...stalledTurn('4'), ...stalledTurn('5')],
    [[], ...three, starts('4'), over('4', { progress: true }), ...stalledTurn('5')],
    [[], ...three, starts('4', { started_by: 'input' }), over('4')],
    [[stalled(4)], ...three, ...stalledTurn('4', { started_by: 'input' }), ...stalledTurn('5')],
    [[], ...three, starts('4'), over('4', { reason: 'no_request' })],
    [[], ...three, ...stalledTurn('4', { cause: queued })],
    [[], ...three, ...stalledTurn('4', { cause: reviewed })],
    [[], ...three, ...stalledTurn('4', { work_item_id: null })],
    [[], ...three, ...stalledTurn('4', { work_item_id: b })],
    [[], ...three, starts('4'), e('turn_bound', { id: 'turn_4', work_item_id: b }), over('4')],
    [
      [stalled(4)],
      ...three,
      starts('4', { work_item_id: b }),
      e('turn_bound', { id: 'turn_4', work_item_id: a }),
      over('4'),
    ],
  ])
})

const resolved = (by: Of<'wait_resolved'>['by']) => e('wait_resolved', { id: 'wait_a', by })
const anyWait = waits({ source: null, wake: 'timer' })

test('23: the count begins again with what came from outside, and with nothing else', () => {
  const paced = (no_progress: number, self_started: number) =>
    e('item_paced', { id: a, pacing: { no_progress, self_started } as never })
  const rows: [resets: boolean, what: string, ...(Event | number)[]][] = [
    [true, 'words of the operator', admits('x', { provenance: controlPrompt, work_item_id: a })],
    [false, 'the end of a task', admits('x', { provenance: taskResult, work_item_id: a })],
    [false, 'the runtime', admits('x', { provenance: runtimeFollowup, work_item_id: a })],
    [false, 'words about nothing', admits('x', { provenance: controlPrompt })],
    [false, 'words about another', admits('x', { provenance: controlPrompt, work_item_id: b })],
    [true, 'the operator changed it', changed({ objective: 'x' }, 'operator')],
    [false, 'the agent changed it', changed({ objective: 'x' })],
    [true, 'the operator cancels its wait', e('wait_cancelled', { id: 'wait_a', by: 'operator' })],
    [false, 'the agent cancels its wait', e('wait_cancelled', { id: 'wait_a', by: 'agent' })],
    [true, 'the operator picks it', picked(a, null, 'operator_pick')],
    [false, 'the agent picks it', picked(a, null)],
    [true, 'the runtime asks', waits({ id: 'wait_b', wake: 'operator_input', by: 'runtime' })],
    [false, 'the agent waits', waits({ id: 'wait_b', wake: 'operator_input' })],
    [true, 'both counts are zero', paced(0, 0)],
    [false, 'one count is zero', paced(0, 1)],
    [false, 'the other count is zero', paced(1, 0)],
    [true, 'its wait is triggered', triggers('x')],
    [true, 'an operator answers', resolved({ kind: 'operator', message_id: 'msg_x' })],
    [true, 'the runtime resolves it', resolved({ kind: 'runtime' })],
    [false, 'a timer goes off soon', resolved({ kind: 'timer', late_by_ms: 0 })],
    [
      true,
      'a timer goes off after long',
      limits.outside_input.value,
      resolved({ kind: 'timer', late_by_ms: 0 }),
    ],
    [
      false,
      'a timer goes off just before',
      limits.outside_input.value - 1,
      resolved({ kind: 'timer', late_by_ms: 0 }),
    ],
    [false, 'a task it waits for ends soon', resolved({ kind: 'task', task_id: 'task_a' })],
    [false, 'its task ends soon', e('task_ended', { id: 'task_a' })],
    [
      true,
      'its task ends after long',
      limits.outside_input.value,
      e('task_ended', { id: 'task_a' }),
    ],
    [
      false,
      'another task ends after long',
      limits.outside_input.value,
      e('task_ended', { id: 'task_b' }),
    ],
    [
      false,
      'a task that never started ends after long',
      limits.outside_input.value,
      e('task_ended', { id: 'task_c' }),
    ],
  ]
  for (const [resets, what, ...events] of rows) {
    const told = found(
      anyWait,
      e('task_queued', { id: 'task_a', work_item_id: a }),
      e('task_queued', { id: 'task_c', work_item_id: a }),
      e('task_started', { id: 'task_a', started_at: T0 }),
      ...three,
      ...events,
      ...stalledTurn('4'),
    )
    const counts = told.filter((one) => one.startsWith('23'))
    assert.deepEqual(counts, resets ? [] : [stalled(4)], what)
  }
})

test('23: a wait for a task that ran long starts the count again, however short the wait was', () => {
  const told = (id: 'task_a' | 'task_b') =>
    found(
      e('task_queued', { id: 'task_a', work_item_id: b }),
      e('task_started', { id: 'task_a', started_at: T0 }),
      e('task_queued', { id: 'task_b', work_item_id: b }),
      ...three,
      limits.outside_input.value,
      waits({ wake: 'task_result' }),
      resolved({ kind: 'task', task_id: id }),
      ...stalledTurn('4'),
    )
  assert.deepEqual(told('task_a'), [])
  assert.deepEqual(told('task_b'), [stalled(4)])
})

test('24: a wait ends once, is not triggered after it, and counts each message once', () => {
  const seen = [waits(), admits('x'), triggers('x')]
  const cancelled = e('wait_cancelled', { id: 'wait_a', by: 'agent' })
  finds([
    [[], ...seen, admits('y'), triggers('y', 2), cancelled],
    [['24: msg_x triggered wait_a twice'], ...seen, triggers('x')],
    [['24: wait_a counts 3 of 1 triggers'], waits(), admits('x'), triggers('x', 3)],
    [['24: wait_a was triggered after its end'], waits(), admits('x'), cancelled, triggers('x')],
    [
      ['24: wait_a was triggered after its end'],
      waits(),
      admits('x'),
      resolved({ kind: 'runtime' }),
      triggers('x'),
    ],
    [['24: wait_cancelled after the end of wait_a'], ...seen, cancelled, cancelled],
    [
      ['24: wait_resolved after the end of wait_a'],
      ...seen,
      cancelled,
      resolved({ kind: 'runtime' }),
    ],
    [[], cancelled, cancelled],
  ])
})

test('28: an event triggers the waits it is about, and those alone that were looking', () => {
  const missed = '28: msg_x is about wait_a and did not trigger it'
  const cancelled = e('wait_cancelled', { id: 'wait_a', by: 'agent' })
  const early = '28: msg_x came before wait_a was registered and was missed'
  finds([
    [[missed], waits(), admits('x')],
    [[], waits(), admits('x', { provenance: controlPrompt })],
    [[], waits(), admits('x', { source: 'other' })],
    [[], waits({ wake: 'timer' }), admits('x')],
    [[], waits(), cancelled, admits('x')],
    [
      ['28: msg_x is older than wait_a and triggered it'],
      admits('x'),
      waits({ since_seq: 1 }),
      triggers('x'),
    ],
    [[early], admits('y'), admits('x'), waits({ since_seq: 1 })],
    [[], admits('x'), waits({ since_seq: 1 })],
    [[], admits('y'), admits('x'), waits({ since_seq: 1 }), triggers('x')],
    [[], admits('y'), admits('x', { source: 'other' }), waits({ since_seq: 1 })],
    [[], admits('y'), admits('x'), waits({ since_seq: 1, wake: 'timer' })],
  ])
})

test('28: one that was fired by hand at a wait reaches that wait alone', () => {
  const other = waits({ id: 'wait_b', work_item_id: b })
  const reaches = (id: 'wait_a' | 'wait_b', n = 1) =>
    e('wait_triggered', { id, message_id: 'msg_x', count: n })
  finds([
    [[], waits(), other, admits('x', { wait_id: 'wait_b' }), reaches('wait_b')],
    [
      ['28: msg_x is about wait_b and did not trigger it'],
      waits(),
      other,
      admits('x', { wait_id: 'wait_b' }),
      reaches('wait_a'),
    ],
    [[], waits(), admits('x', { wait_id: 'wait_a' }), reaches('wait_a')],
    [
      ['28: msg_x is about wait_b and did not trigger it'],
      waits(),
      other,
      admits('x'),
      reaches('wait_a'),
    ],
  ])
})

test('30: nothing happens to a task after its one end', () => {
  const queued = e('task_queued', { id: 'task_a', work_item_id: a })
  const ended = e('task_ended', { id: 'task_a' })
  const on = [
    'task_started',
    'task_promoted',
    'task_readopted',
    'task_cancelling',
    'task_ended',
  ] as const
  for (const type of on) {
    const next = e(type, { id: 'task_a' })
    assert.deepEqual(found(queued, next), [], type)
    assert.deepEqual(found(queued, ended, next), [`30: ${type} after the end of task_a`], type)
    assert.deepEqual(found(ended, next), [], `${type} of a task from before`)
  }
})
