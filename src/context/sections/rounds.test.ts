import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AssistantPart } from '../../domain/state/turn.ts'
import { renderRounds, toMessages } from '../../testing/whole-request.ts'
import { resultTokens, type RoundsView } from './rounds.ts'
import type { RoundView } from './situation.ts'
import { aCall, aRound, succeededWith } from '../../testing/rows.ts'

const view: RoundsView = {
  model: 'scripted/one',
  full_path: (call) => `/holon/outputs/${call.id}.txt`,
  items: new Map(),
}
const opening = { system: 'system', user: 'opening', items: {} }

const ran = aCall('ExecCommand', { cmd: 'ls' }, succeededWith('ExecCommand', 'Exit status 0'), {
  suffix: '0000beef',
})

/** A round as a provider gave it: reasoning with a signature, words, a call with its item id. */
const signed: readonly AssistantPart[] = [
  { type: 'reasoning', text: 'hm', provider_metadata: { own: { signature: 's1' } } },
  { type: 'text', text: 'Listing.' },
  {
    type: 'tool_call',
    provider_call_id: 'toolu_0000beef',
    tool_name: 'ExecCommand',
    input_json: '{"cmd":"ls"}',
    provider_metadata: { own: { item: 'i1' } },
  },
]
const results = (provider_call_id: string) => ({
  role: 'tool',
  results: [
    {
      call_id: 'call_0000beef',
      provider_call_id,
      tool_name: 'ExecCommand',
      text: 'ExecCommand: Exit status 0',
      is_error: false,
    },
  ],
})

test('a request: opening, then notes, answer and results of each round, then its own notes', () => {
  const round = aRound(1, '', [ran], { parts: signed, notes: ['Runtime note: a', 'b'] })
  assert.deepEqual(toMessages(opening, [round], ['Runtime note: c'], view), [
    { role: 'user', content: 'opening' },
    { role: 'user', content: 'Runtime note: a\n\nb' },
    { role: 'assistant', parts: signed },
    results('toolu_0000beef'),
    { role: 'user', content: 'Runtime note: c' },
  ])
})

test('after a change of model rounds go without provider-own parts, under our own call ids', () => {
  const round = aRound(1, '', [ran], { parts: signed })
  assert.deepEqual(renderRounds([round], { ...view, model: 'other/two' }), [
    {
      role: 'assistant',
      parts: [
        { type: 'text', text: 'Listing.' },
        {
          type: 'tool_call',
          provider_call_id: 'call_0000beef',
          tool_name: 'ExecCommand',
          input_json: '{"cmd":"ls"}',
        },
      ],
    },
    results('call_0000beef'),
  ])
})

test('a repeated provider id is paired by position, under the id its row was given', () => {
  const twice = aCall('ExecCommand', { cmd: 'ls' }, succeededWith('ExecCommand', 'again'), {
    suffix: '0000cafe',
    provider_call_id: 'call_0000cafe',
    index: 1,
  })
  const call = signed[2] as AssistantPart
  const [assistant, tool] = renderRounds(
    [aRound(1, '', [ran, twice], { parts: [call, call] })],
    view,
  )
  assert.ok(assistant?.role === 'assistant' && tool?.role === 'tool')
  const wire = ['toolu_0000beef', 'call_0000cafe']
  assert.deepEqual(
    assistant.parts.map((p) => p.type === 'tool_call' && p.provider_call_id),
    wire,
  )
  assert.deepEqual(
    tool.results.map((r) => r.provider_call_id),
    wire,
  )
})

test('what a round shows when it is only requested, empty, or bare reasoning', () => {
  const notes = ['Runtime note: n']
  const shown = (round: RoundView) => renderRounds([round], view)
  const user = { role: 'user', content: 'Runtime note: n' }
  assert.deepEqual(
    {
      requested: shown(aRound(1, '', [], { state: 'requested', notes })),
      empty: shown(aRound(1, '', [], { notes })),
      reasoning: shown(aRound(1, '', [], { notes, parts: [{ type: 'reasoning', text: 'hm' }] })),
      words: shown(aRound(1, 'Done.', [])),
    },
    {
      requested: [user],
      empty: [user],
      reasoning: [user],
      words: [{ role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] }],
    },
  )
})

test('a recorded call without a result is a bug, not a request', () => {
  const open = { ...ran, result: null, state: 'started' as const }
  assert.throws(() => renderRounds([aRound(1, '', [open])], view), /no result for call_0000beef/)
  const lost = { ...aRound(1, '', [ran]), calls: [] }
  assert.throws(() => renderRounds([lost], view), /no row for call 0/)
})

const anyRound = fc
  .record({
    text: fc.string(),
    notes: fc.array(fc.string({ minLength: 1 }), { maxLength: 2 }),
    outputs: fc.array(fc.string({ maxLength: 400 }), { maxLength: 3 }),
    model: fc.constantFrom('scripted/one', 'other/two'),
    suffix: fc.integer({ min: 0x10000000, max: 0x7fffffff }),
  })
  .map(({ text, notes, outputs, model, suffix }) => {
    const calls = outputs.map((stdout, i) =>
      aCall('ExecCommand', {}, succeededWith('ExecCommand', 'ok', { stdout }), {
        suffix: (suffix + i).toString(16),
      }),
    )
    return aRound(1, text, calls, { notes, model })
  })

test('the messages of k rounds are exactly the first messages of k + 1', () => {
  fc.assert(
    fc.property(fc.array(anyRound, { minLength: 1, maxLength: 8 }), (rounds) => {
      for (let k = 0; k < rounds.length; k++) {
        const next = rounds[k]
        const request = toMessages(opening, rounds.slice(0, k), next?.round.notes ?? [], view)
        const after = toMessages(opening, rounds.slice(0, k + 1), [], view)
        assert.deepEqual(after.slice(0, request.length), request)
      }
    }),
    { numRuns: 200 },
  )
})

test('a result may take 8,000 tokens, or what its call asks for within bounds', () => {
  const asked = (input: unknown) => resultTokens({ input })
  assert.deepEqual(
    [{}, null, 'x', { max_output_tokens: 500 }, { max_output_tokens: 1 }].map(asked),
    [8_000, 8_000, 8_000, 500, 200],
  )
  assert.equal(asked({ max_output_tokens: 1e9 }), 32_000)
  assert.equal(asked({ max_output_tokens: Number.NaN }), 8_000)
})
