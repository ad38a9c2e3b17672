/** Requests that do not simply get their answer, and ends of what nobody saw begin. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../domain/state/event.ts'
import type { TurnId } from '../domain/ids.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { SPANS_REMEMBERED } from './limits.ts'
import { mintedAt, rootOf, traceIdOf, type Span } from './span.ts'
import { spanNotices } from './spans.ts'
import {
  messageAdmitted,
  requestSent,
  roundRecorded,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../testing/events.ts'

const turn_id: TurnId = 'turn_019b8d2c-5a00-7abc-8def-0123456789ab'
const at = (second: number) => new Date(Date.UTC(2026, 0, 5, 9, 0, second)).toISOString()

function observer() {
  const spans: Span[] = []
  const tell = spanNotices({
    clock: virtualClock(),
    redact: (text) => text,
    content: false,
    ended: (span) => void spans.push(span),
  })
  let second = 0
  const commit = (...events: Event[]) => {
    second += 1
    const meta = { seq: 1, at: at(second), work_item_id: null, turn_id, causation_id: null }
    tell({ kind: 'committed', agent_id: 'main', events: events.map((event) => ({ event, meta })) })
  }
  const told = () =>
    spans.map(({ name, start, end, error }) => [
      name,
      (start - Date.parse(at(0))) / 1_000,
      (end - Date.parse(at(0))) / 1_000,
      error,
    ])
  return { spans, commit, told, tell }
}

const started = turnStarted({ id: turn_id, model: 'acme/first' })
const sent = requestSent(turn_id, 1, { model: 'acme/first' })
const held = waitRegistered({ wake: 'system', by: 'runtime', runtime_cause: 'provider_world' })

const endings: readonly [string, Event[], unknown[]][] = [
  ['answered', [sent, roundRecorded(`${turn_id}:1`)], [['chat first', 1, 2, null]]],
  [
    'taken over by another model',
    [
      sent,
      { type: 'model_fell_back', id: turn_id, model: 'acme/second', cause: 'x' },
      roundRecorded(`${turn_id}:1`),
    ],
    [
      ['chat first', 1, 2, 'fell_back'],
      ['chat second', 2, 3, null],
    ],
  ],
  [
    'held, and answered after the hold',
    [sent, held, roundRecorded(`${turn_id}:1`)],
    [
      ['chat first', 1, 2, 'provider_world'],
      ['chat first', 3, 3, null],
    ],
  ],
]
for (const [what, events, expected] of endings) {
  test(`a request that is ${what} has a span for each attempt`, () => {
    const { commit, told, spans } = observer()
    for (const event of events) commit(event)
    assert.deepEqual(told(), expected)
    assert.equal(new Set(spans.map(({ span_id }) => span_id)).size, spans.length)
  })
}

test('a turn that fails ends its open request with it, and both say so', () => {
  const { commit, told } = observer()
  commit(started)
  commit(sent)
  commit({ ...turnEnded(turn_id), outcome: 'failed' })
  assert.deepEqual(told(), [
    ['invoke_agent main', 1, 3, 'failed'],
    ['chat first', 2, 3, 'failed'],
  ])
})

test('what began in another process begins when its id was minted', () => {
  const { commit, spans } = observer()
  commit(turnEnded(turn_id))
  assert.deepEqual(
    spans.map(({ start, trace_id }) => [start, trace_id]),
    [[mintedAt(turn_id), traceIdOf(turn_id)]],
  )
  assert.equal(mintedAt(turn_id), 0x019b8d2c5a00)
  assert.equal(traceIdOf(turn_id), '019b8d2c5a007abc8def0123456789ab')
  assert.equal(mintedAt('msg_something'), null)
  assert.match(traceIdOf('msg_something'), /^[0-9a-f]{32}$/)
})

test('a delivery is a span until a turn shows it, and the turn that it woke links to it', () => {
  const { commit, spans, told } = observer()
  const admitted = messageAdmitted({
    provenance: {
      kind: 'callback_event',
      origin: 'callback',
      delivery_surface: 'http_callback',
      admission_context: 'trigger_capability',
      authority_class: 'integration_signal',
    },
  })
  const wait = waitRegistered()
  commit(admitted, {
    type: 'wait_triggered',
    id: wait.id,
    message_id: admitted.id,
    count: 1,
    by: 'outside',
    turn_count: 0,
  })
  commit(
    turnStarted({
      id: turn_id,
      cause: { kind: 'review_triggered', work_item_id: null, wait_ids: [wait.id] },
    }),
  )
  commit({ type: 'message_shown', id: admitted.id, turn_id, round: 1 })
  commit(turnEnded(turn_id))
  assert.deepEqual(told(), [
    ['deliver callback_event', 1, 3, null],
    ['invoke_agent main', 2, 4, null],
  ])
  assert.deepEqual(spans[1]?.links, [rootOf(admitted.id)])
})

test('messages without end are forgotten in order: memory stays bounded, and each still gets a span', () => {
  const { commit, spans } = observer()
  const messages = Array.from({ length: SPANS_REMEMBERED + 10 }, () => messageAdmitted())
  commit(...messages)
  for (const { id } of messages) commit({ type: 'message_shown', id, turn_id, round: 1 })
  const known = spans.filter(({ name }) => name === 'deliver operator_prompt')
  assert.deepEqual([spans.length, known.length], [SPANS_REMEMBERED + 10, SPANS_REMEMBERED])
})
