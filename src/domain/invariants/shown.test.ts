import assert from 'node:assert/strict'
import { test } from 'node:test'
import { T0 } from '../../testing/world/agent-world.ts'
import type { Event, EventType, StoredEvent } from '../state/event.ts'
import { shownHistory } from './shown.ts'
import { callbackEvent, taskResult, type Provenance } from '../state/provenance.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

/** Only the fields that are looked at. */
const e = <T extends EventType>(type: T, fields: Partial<Of<T>>): Event =>
  ({ type, ...fields }) as unknown as Event
const admits = (id: string, provenance: Provenance = callbackEvent) =>
  e('message_admitted', { id: `msg_${id}` as never, provenance })

const finds = (rows: readonly (readonly [expect: string[], ...Event[]])[]) => {
  for (const [expect, ...given] of rows) {
    const events = given.map((event, n): StoredEvent => {
      const meta = { agent_id: 'main', work_item_id: null, turn_id: null, causation_id: null }
      return { id: `evt_${n}`, seq: n, global_seq: n, v: 1, at: T0, ...meta, event }
    })
    assert.deepEqual(shownHistory(events), expect, given.map(({ type }) => type).join(', '))
  }
}

test('43: what a request carried is used up by its answer and not before', () => {
  const answered = (id: string) => e('round_recorded', { id: id as Of<'round_recorded'>['id'] })
  const shown = (id: string, turn_id: string, round: number) =>
    e('message_shown', { id: `msg_${id}`, turn_id: `turn_${turn_id}`, round } as const)
  const two = [admits('x'), admits('y')]
  for (const end of ['message_interjected', 'message_coalesced', 'message_consumed'] as const) {
    const used = (id: string) => e(end, { id: `msg_${id}`, because: 'shown in request 1' })
    const early = (id: string, round: string) =>
      `43: msg_${id} is used up, and ${round} has no answer`
    finds([
      [[early('x', 'turn_a:1')], ...two, shown('x', 'a', 1), used('x')],
      [[], ...two, shown('x', 'a', 1), answered('turn_a:1'), used('x')],
      [[], ...two, shown('x', 'a', 1), answered('turn_a:2'), used('x')],
      [[early('x', 'turn_a:1')], ...two, shown('x', 'a', 1), answered('turn_b:1'), used('x')],
      [
        [early('y', 'turn_a:2')],
        ...[...two, shown('x', 'a', 1), shown('y', 'a', 2)],
        ...[answered('turn_a:1'), used('x'), used('y')],
      ],
      [[], ...two, shown('x', 'a', 1), e('message_requeued', { id: 'msg_x' }), used('x')],
    ])
  }
  const before = e('message_consumed', { id: 'msg_x', because: 'the turn ended completed' })
  finds([[[], ...two, shown('x', 'a', 1), before]])
})

test('43: the end of a task is used up by a request, or because the agent stopped it', () => {
  const used = (because: string) => e('message_consumed', { id: 'msg_x', because } as never)
  const shown = e('message_shown', { id: 'msg_x', turn_id: 'turn_a', round: 2 })
  const answered = e('round_recorded', { id: 'turn_a:2' })
  const result = admits('x', taskResult)
  const unseen = ['43: msg_x is used up and was in no request']
  finds([
    [unseen, result, used('its turn has read it')],
    [unseen, result, shown, e('message_requeued', { id: 'msg_x' }), used('shown in request 2')],
    [[], result, shown, answered, used('shown in request 2')],
    [[], result, used('the agent stopped it')],
    [[], result, used('the result was read')],
    [[], admits('x'), used('the question is over')],
  ])
})
