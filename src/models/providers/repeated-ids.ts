/**
 * Chat Completions: the call ids as the provider sent them. The library gives a call whose id came
 * before in the same answer an id of its own, and nobody could tell that it was repeated (
 * docs/spec/turn.md). It promises that such a call is named as the provider named it; one without
 * id stays as the library named it.
 *
 * It looks at the raw chunks, each of which the library hands on ahead of what it makes of it.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { fieldOf, listIn } from './raw-chunk.ts'

type Delta = { index: unknown; id: string; named: boolean }

/** Of one answer. Not reusable. */
export function providerIds(): (part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart {
  /** Ids whose call has begun. */
  const used = new Set<string>()
  /** Ids that came ahead of the name of their call, by its number. */
  const ahead = new Map<unknown, string>()
  /** The library's id of each call that had the id of another: what the provider sent. */
  const sent = new Map<string, string>()
  /** Ids under which a call may begin in the chunk that came last. */
  let begins: string[] = []
  return (part) => {
    if (part.type === 'raw') {
      begins = deltasOf(part.rawValue).flatMap(({ index, id, named }) => {
        const known = id === '' ? (ahead.get(index) ?? '') : id
        if (!named && known !== '') ahead.set(index, known)
        return named && known !== '' ? known : []
      })
    }
    if (part.type === 'tool-input-start') {
      const again = begins.includes(part.id) ? undefined : begins.find((id) => used.has(id))
      if (again !== undefined) sent.set(part.id, again)
      used.add(part.id)
    }
    if (part.type !== 'tool-call') return part
    const toolCallId = sent.get(part.toolCallId)
    return toolCallId === undefined ? part : { ...part, toolCallId }
  }
}

/** The pieces of calls in a chunk; what has another shape is the library's to refuse. */
function deltasOf(chunk: unknown): Delta[] {
  return listIn(chunk, 'tool_calls').map((call) => {
    const id = fieldOf(call, 'id')
    const name = fieldOf(fieldOf(call, 'function'), 'name')
    return {
      index: fieldOf(call, 'index'),
      id: typeof id === 'string' ? id.trim() && id : '',
      named: typeof name === 'string' && name.trim() !== '',
    }
  })
}
