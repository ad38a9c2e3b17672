import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rows } from './records.ts'
import { contextsOf, manifestIn, type ContextSection, type Openings } from './context-record.ts'

type Round = Rows['rounds']

const T = '2026-03-02T09:00:00.000Z'
const ids = { agent_id: 'main', work_item_id: null } as const
const sent = (given: Partial<NonNullable<Round['sent']>> = {}): NonNullable<Round['sent']> => ({
  estimated: 100,
  factor: 1,
  window: 1_000,
  rounds: { from: 1, to: 1, tokens: 40 },
  notes: 7,
  tools: { tokens: 30, hash: 'tools' },
  prefix_hash: 'none',
  hash: 'h',
  ...given,
})
const round = (turn: string, n: number, given: Partial<Round> = {}): Round =>
  ({
    id: `${turn}:${n}`,
    turn_id: turn,
    ...ids,
    n,
    kind: 'work',
    state: 'recorded',
    model: 'a/b',
    opening_sha256: null,
    notes: [],
    message_ids: [],
    parts: [],
    finish: 'stop',
    usage: null,
    requested_at: T,
    recorded_at: T,
    ...given,
  }) as Round
const section = (name: string, hash: string | null): ContextSection => ({
  section: name,
  tokens: 5,
  form: 'full',
  why: 'always',
  hash,
})
const openings: Openings = new Map([
  ['o1', [section('system', 's1'), section('plan', 'p1'), section('todo', 't1')]],
  ['o2', [section('system', 's1'), section('plan', 'p2'), section('todo', 't2')]],
  ['o1 again', [section('system', 's1'), section('plan', 'p1'), section('todo', 't1')]],
])
/** The last line of each, of a turn. */
const broke = (before: Round | null, ...rounds: Round[]) =>
  contextsOf(rounds, openings, before).at(-1)?.broke

test('a request is made of its tools, its opening, the rounds before it and its notes', () => {
  const [first, second, third] = contextsOf(
    [
      round('t1', 1, {
        opening_sha256: 'o1',
        sent: sent({ rounds: { from: 1, to: 0, tokens: 9 } }),
      }),
      round('t1', 2, { sent: sent(), notes: ['a task has ended'] }),
      round('t1', 3, { opening_sha256: 'o2', recapped: 1, notes: ['and another'] }),
    ],
    openings,
    null,
  )
  const tools = {
    section: 'tools',
    tokens: 30,
    form: 'full',
    why: 'what the agent can do',
    hash: 'tools',
  }
  const tail = (tokens: number | null, why: string, form = 'full') => ({
    section: 'rounds',
    tokens,
    form,
    why,
    hash: null,
  })
  const notes = (tokens: number | null, form: string, why: string) => ({
    section: 'notes before this request',
    tokens,
    form,
    why,
    hash: null,
  })
  const quiet = notes(0, 'omitted', 'there was nothing to say')
  const said = 'what happened since the last answer'
  assert.deepEqual(first, {
    request_id: 't1:1',
    turn_id: 't1',
    n: 1,
    model: 'a/b',
    recapped: 0,
    sections: [
      tools,
      ...(openings.get('o1') ?? []),
      tail(0, 'there is none yet', 'omitted'),
      quiet,
    ],
    sent: sent({ rounds: { from: 1, to: 0, tokens: 9 } }),
    usage: null,
    broke: null,
  })
  assert.deepEqual(second?.sections, [
    tools,
    ...(openings.get('o1') ?? []),
    tail(40, 'rounds 1 to 1 of the turn, exact'),
    notes(7, 'full', said),
  ])
  // Not measured yet: the rounds are counted from the recap on, their tokens are not known.
  assert.deepEqual(third?.sections, [
    ...(openings.get('o2') ?? []),
    tail(null, 'rounds 2 to 2 of the turn, exact'),
    notes(null, 'full', said),
  ])
  assert.deepEqual([third?.recapped, third?.sent], [1, null])
})

test('what takes no room is measured at nothing, which is not the same as not measured', () => {
  const nothing = sent({ rounds: { from: 1, to: 1, tokens: 0 }, notes: 0 })
  const made = contextsOf([round('t1', 2, { sent: nothing, notes: [''] })], openings, null)
  assert.deepEqual(
    made[0]?.sections.map(({ tokens, form }) => [tokens, form]),
    [
      [30, 'full'],
      [0, 'full'],
      [0, 'full'],
    ],
  )
})

test('of a turn whose opening is gone, and before the first answer, nothing is made up', () => {
  const gone = contextsOf([round('t1', 1, { opening_sha256: 'gone' })], openings, null)
  assert.deepEqual(
    gone[0]?.sections.map(({ section: name, form, tokens }) => [name, form, tokens]),
    [
      ['rounds', 'omitted', 0],
      ['notes before this request', 'omitted', 0],
    ],
  )
  assert.deepEqual(manifestIn(null), [])
  const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  assert.deepEqual(manifestIn(bytes({ sections: [section('a', null)] })), [section('a', null)])
  assert.deepEqual(manifestIn(bytes({ text: 'of an earlier version' })), [])
})

test('where a request left what the one before it had is named by the first thing that differs', () => {
  const at = (hash: string, more: Partial<NonNullable<Round['sent']>> = {}) =>
    sent({ hash, ...more })
  const one = round('t1', 1, { opening_sha256: 'o1', sent: at('a') })
  const changed = at('b', { prefix_hash: 'a', tools: { tokens: 30, hash: 'others' } })
  const other = { section: 'tools', why: 'the tools are not what they were' }
  const rebuilt = { section: 'rounds', why: 'the rounds were put together in another way' }
  const rows: [name: string, found: unknown, expected: unknown][] = [
    ['the first of all', broke(null, one), null],
    ['it goes on', broke(null, one, round('t1', 2, { sent: at('b', { prefix_hash: 'a' }) })), null],
    ['other rounds', broke(null, one, round('t1', 2, { sent: at('b') })), rebuilt],
    ['not measured', broke(null, one, round('t1', 2)), null],
    [
      'not measured before',
      broke(null, round('t1', 1, { opening_sha256: 'o1' }), round('t1', 2, { sent: at('b') })),
      null,
    ],
    ['other tools', broke(null, one, round('t1', 2, { sent: changed })), other],
    [
      'another model, before all else',
      broke(null, one, round('t1', 2, { sent: changed, model: 'c/d' })),
      { section: 'model', why: 'a/b was asked before' },
    ],
    [
      'a recap',
      broke(null, one, round('t1', 2, { opening_sha256: 'o2', recapped: 1, sent: at('b') })),
      { section: 'plan', why: 'rounds 1 to 1 were recapped' },
    ],
    [
      'a new turn',
      broke(one, round('t2', 1, { opening_sha256: 'o2', sent: at('b') })),
      { section: 'plan', why: 'a new turn begins' },
    ],
    [
      'a new turn that begins alike',
      broke(one, round('t2', 1, { opening_sha256: 'o1 again', sent: at('b') })),
      { section: 'rounds', why: 'a new turn begins' },
    ],
    [
      'a new turn after one whose opening is not known',
      broke(round('t1', 3, { sent: at('a') }), round('t2', 1, { opening_sha256: 'o1' })),
      { section: 'system', why: 'a new turn begins' },
    ],
    [
      'a new turn without a manifest',
      broke(one, round('t2', 1, { sent: at('b') })),
      { section: 'rounds', why: 'a new turn begins' },
    ],
  ]
  for (const [name, found, expected] of rows) assert.deepEqual(found, expected, name)
})
