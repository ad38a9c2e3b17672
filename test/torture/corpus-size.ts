/** Answers without measure. Each is made as it goes out, so that what is held is what we hold. */
import { modelLimits } from '../../src/models/limits.ts'
import type { Endpoint } from '../../src/testing/model-server/server.ts'
import type { Case } from './cases.ts'
import { framesOf, touch } from './corpus-frames.ts'

const mega = 1_048_576
/** More than anybody may send in one frame. */
const endless = 400

function* times(count: number, part: string): Generator<string> {
  for (let i = 0; i < count; i += 1) yield part
}

/** The frames of an answer with the one that has `mark` repeated, and nothing after it. */
function repeated(endpoint: Endpoint, count: number): Iterable<string> {
  const mark = 'X'.repeat(60_000)
  const frames = framesOf(endpoint, { text: mark + mark, calls: [touch('ran')] })
  const at = frames.findIndex((frame) => frame.includes(mark))
  const rest = frames.slice(at + 1)
  return (function* () {
    yield* frames.slice(0, at)
    yield* times(count, frames[at] ?? '')
    yield* rest
  })()
}

export function sizeCases(endpoint: Endpoint): Case[] {
  const over = Math.ceil(modelLimits.round.value / 60_000) + 20
  const line = 'y'.repeat(mega)
  const huge: Case['served'] = {
    status: 500,
    headers: { 'content-type': 'application/json' },
    body: times(64, line),
  }
  const open = framesOf(endpoint, { text: 'Begun.' }).slice(0, 2)
  const unending = (say: string, first: string, part: string): Case => ({
    says: say,
    fate: 'broken',
    served: {
      body: (function* () {
        yield* open
        yield first
        yield* times(endless, part)
      })(),
    },
  })
  return [
    {
      says: 'more text than a round may have',
      fate: 'broken',
      served: { body: repeated(endpoint, over) },
    },
    unending('a frame that does not end', 'data: {"x":"', line),
    unending('a frame of lines that does not end', 'data: {\n', `data: ${line}\n`),
    unending('a comment that does not end', ': ', line),
    { says: 'an error of 64 MiB', fate: 'broken', served: huge },
    {
      says: 'a page of 400 MiB',
      fate: 'broken',
      served: { headers: { 'content-type': 'text/html' }, body: times(endless, line) },
    },
    {
      says: 'a hundred thousand comments',
      fate: 'whole',
      served: {
        body: (function* () {
          yield* times(100, ': ping\n\n'.repeat(1_000))
          yield* framesOf(endpoint, { text: 'At last.' })
        })(),
      },
    },
    {
      says: 'four hundred calls',
      fate: 'whole',
      served: {
        body: framesOf(endpoint, {
          calls: Array.from({ length: 400 }, () => ({ name: 'ListTasks', input: {} })),
        }),
      },
    },
    {
      says: 'arguments of a million characters',
      fate: 'any',
      served: {
        body: framesOf(endpoint, {
          calls: [{ name: 'ExecCommand', input: { cmd: `true ${'z'.repeat(mega)}` } }],
        }),
      },
    },
  ]
}
