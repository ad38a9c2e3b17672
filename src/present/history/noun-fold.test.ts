import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredEvent } from '../../protocol/records/records.ts'
import { roundRecorded } from '../../testing/events.ts'
import { eventsOf } from '../../testing/screens/scenes.ts'
import { withEvent, type Group } from './noun-fold.ts'

const place = { id: 'turn_1', noun: 'turn' } as const
const [base] = eventsOf('asked-for-patience')

/** The event as one of the item, or of none, at that place in the order. */
const at = (seq: number, work_item_id: string | null): StoredEvent => {
  assert.ok(base)
  return { ...base, seq, work_item_id: work_item_id as StoredEvent['work_item_id'] }
}

function group(...events: readonly StoredEvent[]): Group {
  let made: Group | undefined
  for (const one of events) made = withEvent(made, place, one)
  assert.ok(made)
  return made
}

test('a group is of the item that its newest event names, in whatever order events come', () => {
  const [none, one, other, later] = [at(1, null), at(2, 'work_a'), at(3, 'work_b'), at(4, null)]
  for (const events of [
    [none, one, other, later],
    [later, other, one, none],
    [other, later, none, one],
    [one, none, later, other],
  ]) {
    assert.equal(group(...events).work_item_id, 'work_b')
  }
  assert.equal(group(one, later).work_item_id, 'work_a', 'an event of no item takes none away')
  assert.equal(group(none, later).work_item_id, null)
})

test('a group begins with its first event and ends with its last', () => {
  const { seq, last_seq, at: from } = group(at(5, null), at(9, null), at(2, null))
  assert.deepEqual([seq, last_seq, from], [2, 9, base?.at])
})

/** Rounds that used so much: tokens in, tokens out, US dollars. */
const used: readonly [what: string, rounds: (number | null)[][], sum: (number | null)[]][] = [
  ['one round', [[900, 20, 0.5]], [900, 20, 0.5]],
  [
    'two rounds',
    [
      [900, 20, 0.5],
      [1_000, 30, 0.25],
    ],
    [1_900, 50, 0.75],
  ],
  [
    'a round without tokens or price',
    [
      [900, 20, 0.5],
      [0, 0, 0],
    ],
    [900, 20, 0.5],
  ],
  [
    'nothing but such rounds',
    [
      [0, 0, 0],
      [0, 0, 0],
    ],
    [0, 0, 0],
  ],
  [
    'a round of unknown tokens',
    [
      [900, 20, 0.5],
      [null, 30, 0.25],
    ],
    [null, 50, 0.75],
  ],
  [
    'a round of unknown price',
    [
      [900, 20, null],
      [1_000, 30, 0.25],
    ],
    [1_900, 50, null],
  ],
]
for (const [what, rounds, sum] of used) {
  test(`a turn has used what its rounds did: ${what}, in either order`, () => {
    const events = rounds.map(([input_tokens, output_tokens, usd], n) => {
      assert.ok(base)
      const { usage, ...event } = roundRecorded(`turn_1:${n + 1}`)
      const counted = { ...usage, input_tokens, output_tokens, usd }
      return { ...base, seq: n + 1, event: { ...event, usage: counted } } as StoredEvent
    })
    const [input_tokens, output_tokens, usd] = sum
    for (const order of [events, events.toReversed()]) {
      assert.deepEqual(group(...order).used, { input_tokens, output_tokens, usd })
    }
  })
}
