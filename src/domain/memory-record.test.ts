/** What of a row can be found again, and how a long text is handed out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsOfText } from './memory.ts'
import { nothingBeside, recordsOf, refsOf } from './memory-record.ts'
import { noUsage, type AssistantPart, type Round } from './turn.ts'

const T = '2026-03-02T09:00:00.000Z'
const later = '2026-03-02T09:00:05.000Z'

const round = (given: Partial<Round> = {}): Round => ({
  id: 'turn_1:2',
  turn_id: 'turn_1',
  work_item_id: 'work_1',
  agent_id: 'main',
  n: 2,
  kind: 'work',
  model: 'test/model',
  opening_sha256: null,
  notes: [],
  message_ids: [],
  state: 'recorded',
  parts: [{ type: 'text', text: 'What I found.' }],
  finish: 'stop',
  usage: noUsage,
  requested_at: T,
  recorded_at: later,
  ...given,
})

const call: AssistantPart = {
  type: 'tool_call',
  provider_call_id: 'c',
  tool_name: 'ListTasks',
  input_json: '{}',
}

test('§10 a round is a record of its own words, once it was recorded and said any', () => {
  const found = {
    ref: 'turn_1/2',
    kind: 'round',
    agent_id: 'main',
    work_item_id: 'work_1',
    at: later,
    text: 'What I found.',
    provenance: null,
    words: 'own',
    path: null,
  }
  const table: [given: Partial<Round>, records: unknown[]][] = [
    [{}, [found]],
    [{ recorded_at: null }, [{ ...found, at: T }]],
    [{ state: 'requested' }, []],
    [{ parts: [] }, []],
    [{ parts: [call] }, []],
    [
      { parts: [call, { type: 'text', text: 'One.' }, { type: 'text', text: 'Two.' }] },
      [{ ...found, text: 'One.\n\nTwo.' }],
    ],
  ]
  assert.deepEqual(
    table.map(([given]) => [given, recordsOf('rounds', round(given), nothingBeside)]),
    table,
  )
  assert.deepEqual(refsOf('rounds', round()), ['turn_1/2'])
})

test('§10 a text is handed out whole, or by its ends around what is said of the rest', () => {
  const shown = (text: string, head: number, tail: number) =>
    endsOfText(text, head, tail, (left) => `(${left} left out)`)
  const table: [text: string, head: number, tail: number, shown: string][] = [
    ['', 0, 0, ''],
    ['abcdef', 4, 2, 'abcdef'],
    ['abcdef', 6, 0, 'abcdef'],
    ['abcdefg', 4, 2, 'abcd\n(1 left out)\nfg'],
    ['abcdefg', 5, 0, 'abcde\n(2 left out)\n'],
    ['abcdefg', 0, 3, '\n(4 left out)\nefg'],
    ['a😀b😀c', 2, 2, 'a\ufffd\n(3 left out)\n\ufffdc'],
  ]
  assert.deepEqual(
    table.map(([text, head, tail]) => [text, head, tail, shown(text, head, tail)]),
    table,
  )
})
