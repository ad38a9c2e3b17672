/** Answers whose frames are cut, lost, doubled, swapped or foreign, frame by frame. */
import type { Endpoint, ServerAnswer } from '../../src/testing/model-server/server.ts'
import { defaultUsage } from '../../src/testing/model-server/wire.ts'
import type { Case } from './cases.ts'
import { wireOf } from './served.ts'

/** A command that leaves a file behind: the proof that it ran. */
export const touch = (name: string) => ({ name: 'ExecCommand', input: { cmd: `touch ${name}` } })

const answer: ServerAnswer = { text: 'Grüße an 世界 🌍.', calls: [touch('ran')] }

export const framesOf = (endpoint: Endpoint, of: ServerAnswer = answer): string[] =>
  wireOf(endpoint).frames({ n: 1, model: 'm', answer: of, usage: defaultUsage })

/** Of how many frames at the end the answer can be said to be complete without. */
function spare(endpoint: Endpoint): number {
  switch (endpoint) {
    // After the frame with the reason come the usage and [DONE].
    case 'chat_completions':
      return 2
    // After `message_delta`, which has the reason, comes `message_stop`.
    case 'messages':
      return 1
    case 'responses':
    case 'google':
      return 0
  }
}

const foreign: readonly [string, string][] = [
  ['no JSON', 'data: {"no json\n\n'],
  ['a NUL', 'data: \u0000\n\n'],
  ['null', 'data: null\n\n'],
  ['a list', 'data: []\n\n'],
  ['a number', 'data: 7\n\n'],
  ['a text', 'data: "x"\n\n'],
  ['an empty object', 'data: {}\n\n'],
  ['an empty frame', 'data:\n\n'],
  ['an unknown event', 'event: surprise\ndata: {"type":"surprise"}\n\n'],
  ['choices that are null', 'data: {"choices":null}\n\n'],
  ['choices of null', 'data: {"choices":[null]}\n\n'],
  ['calls that are no list', 'data: {"choices":[{"delta":{"tool_calls":{}}}]}\n\n'],
  ['a call of index -1', 'data: {"choices":[{"delta":{"tool_calls":[{"index":-1}]}}]}\n\n'],
  ['candidates of null', 'data: {"candidates":[null]}\n\n'],
  ['parts that are text', 'data: {"candidates":[{"content":{"parts":"x"}}]}\n\n'],
  ['a delta of no block', delta('content_block_delta', { index: 99 })],
  ['a stop of no block', delta('content_block_stop', { index: 99 })],
  ['a block without a kind', delta('content_block_start', { index: 0 })],
  ['arguments of no item', delta('response.function_call_arguments.delta', { output_index: 99 })],
  ['an item of null', delta('response.output_item.done', { output_index: 0, item: null })],
]

function delta(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}

/** Frames of the stream itself: nothing of them is of the answer. */
const harmless: readonly [string, string][] = [
  ['a comment', ': still here\n\n'],
  ['a retry field', 'retry: 10\n\n'],
  ['an id field', 'id: 7\n\n'],
  ['empty lines', '\n\n\n\n'],
]

export function frameCases(endpoint: Endpoint): Case[] {
  const frames = framesOf(endpoint)
  const runs = ['ran']
  const cases: Case[] = []
  const last = frames.length - spare(endpoint)
  for (const k of frames.keys()) {
    const fate = k < last ? 'broken' : 'any'
    const before = frames.slice(0, k)
    const half = [...before, (frames[k] ?? '').slice(0, (frames[k] ?? '').length / 2)]
    cases.push(
      { says: `ends before frame ${k}`, fate, runs, served: { body: before } },
      { says: `ends in frame ${k}`, fate, runs, served: { body: half } },
      { says: `breaks in frame ${k}`, fate, runs, served: { body: half, ends: 'reset' } },
      { says: `is silent in frame ${k}`, fate, runs, served: { body: half, ends: 'silent' } },
    )
    if (k > 0) {
      const error = [...before, wireOf(endpoint).error_frame()]
      cases.push({ says: `an error before frame ${k}`, fate, runs, served: { body: error } })
    }
    const lost = frames.toSpliced(k, 1)
    cases.push({ says: `frame ${k} is lost`, fate: 'any', runs, served: { body: lost } })
    const twice = frames.toSpliced(k, 0, frames[k] ?? '')
    cases.push({ says: `frame ${k} comes twice`, fate: 'any', runs, served: { body: twice } })
  }
  const middle = Math.floor(frames.length / 2)
  for (const [what, one] of foreign) {
    const body = frames.toSpliced(middle, 0, one)
    cases.push({ says: `${what} in the middle`, fate: 'any', runs, served: { body } })
  }
  for (const [what, one] of harmless) {
    const body = frames.flatMap((frame) => [one, frame])
    cases.push({ says: `${what} between frames`, fate: 'whole', runs, served: { body } })
  }
  const turned = (says: string, body: string[]): Case => ({
    says,
    fate: 'any',
    runs,
    served: { body },
  })
  const text = frames.join('')
  return [
    ...cases,
    turned('frames backwards', frames.toReversed()),
    turned(
      'every frame twice',
      frames.flatMap((frame) => [frame, frame]),
    ),
    turned('the whole answer twice', [...frames, ...frames]),
    turned('no blank line at the end', [text.trimEnd()]),
    turned('lines that end in CR', [text.replaceAll('\n', '\r')]),
    {
      says: 'lines that end in CRLF',
      fate: 'whole',
      runs,
      served: { body: [text.replaceAll('\n', '\r\n')] },
    },
    { says: 'a mark of byte order', fate: 'whole', runs, served: { body: [`\uFEFF${text}`] } },
    {
      says: 'frames and then silence',
      fate: 'any',
      runs,
      served: { body: frames, ends: 'silent' },
    },
    { says: 'nothing at all', fate: 'broken', served: { body: [] } },
    { says: 'silence at once', fate: 'broken', served: { body: [], ends: 'silent' } },
  ]
}
