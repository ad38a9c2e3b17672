import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { providerIds } from './repeated-ids.ts'

type Piece = {
  index?: number
  id?: string | null
  function?: { name?: string; arguments?: string }
}

const raw = (...tool_calls: Piece[]): LanguageModelV4StreamPart => ({
  type: 'raw',
  rawValue: { choices: [{ delta: { tool_calls } }] },
})
const start = (id: string): LanguageModelV4StreamPart => ({
  type: 'tool-input-start',
  id,
  toolName: 'Look',
})
const call = (toolCallId: string): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'Look',
  input: '{}',
})
const look = { name: 'Look' }

/** The ids of the calls, as they leave. */
const idsOf = (parts: readonly LanguageModelV4StreamPart[]): string[] => {
  const touch = providerIds()
  const touched = parts.map(touch)
  return touched.flatMap((part) => (part.type === 'tool-call' ? part.toolCallId : []))
}

const answers: [says: string, parts: LanguageModelV4StreamPart[], ids: string[]][] = [
  [
    'a call whose id is its own keeps it',
    [
      raw({ index: 0, id: 'a', function: look }),
      start('a'),
      raw({ index: 1, id: 'b', function: look }),
      start('b'),
      call('a'),
      call('b'),
    ],
    ['a', 'b'],
  ],
  [
    'a call with the id of an earlier one is named by it again',
    [
      raw({ index: 0, id: 'a', function: look }),
      start('a'),
      call('a'),
      raw({ index: 1, id: 'a', function: look }),
      start('made'),
      call('made'),
    ],
    ['a', 'a'],
  ],
  [
    'both in one chunk',
    [
      raw({ index: 0, id: 'a', function: look }, { index: 1, id: 'a', function: look }),
      start('a'),
      start('made'),
      call('a'),
      call('made'),
    ],
    ['a', 'a'],
  ],
  [
    'the id of a call may come ahead of its name',
    [
      raw({ index: 0, id: 'a', function: look }),
      start('a'),
      raw({ index: 1, id: 'a' }),
      raw({ index: 1, function: look }),
      start('made'),
      call('a'),
      call('made'),
    ],
    ['a', 'a'],
  ],
  [
    'a call without an id keeps the one it was given, also beside another piece',
    [
      raw({ index: 0, id: 'a', function: look }),
      start('a'),
      raw({ index: 0, id: 'a', function: { arguments: '{}' } }, { index: 1, function: look }),
      start('made'),
      raw({ index: 2, id: ' ', function: look }),
      start('other'),
      call('a'),
      call('made'),
      call('other'),
    ],
    ['a', 'made', 'other'],
  ],
]

for (const [says, parts, ids] of answers) {
  test(`ids of Chat Completions: ${says}`, () => assert.deepEqual(idsOf(parts), ids))
}

test('a chunk of another shape names no call', () => {
  const touch = providerIds()
  for (const rawValue of [
    null,
    'x',
    {},
    { choices: [null] },
    { choices: [{ delta: { tool_calls: [7] } }] },
  ]) {
    touch({ type: 'raw', rawValue })
    assert.deepEqual(touch(start('a')), start('a'))
  }
})
