/**
 * What Anthropic insists on for the thoughts of its own answers: each answer's come back all or
 * none, in their places and as they were; and the newest models take them only behind the very
 * request that they answered. Its refusals are in its words.
 */
import type { Json, JsonObject } from '../../ports/json.ts'
import type { ReasoningHistory } from './wire.ts'
import { isObject, objectsIn, textIn } from './wire.ts'

/** Of the thought that is part `at` of answer `n`. */
export const signatureOf = (n: number, at: number): string => `sig_${n}_${at + 1}`

const binding = /claude-(opus-5-5|sonnet-5-5|fable-5-[12])/

export function thoughtViolations(body: JsonObject, said: ReasoningHistory): string[] {
  const { thinking } = body
  const mode = isObject(thinking) ? thinking['type'] : undefined
  const drops = JSON.stringify(thinking ?? null).includes('"drop_block"')
  const turns = objectsIn(body['messages'])
  return turns.flatMap((turn, at) => {
    if (turn['role'] !== 'assistant') return []
    const content = objectsIn(turn['content'])
    const where = `messages.${at}.content`
    const n = content.map(answerOf).find((number) => number !== null)
    if (n === undefined) {
      const calls = content.some(({ type }) => type === 'tool_use')
      const wanted = mode === 'enabled' && calls && !content.slice(0, 1).some(isThought)
      return wanted ? [`${where}.0: Expected \`thinking\`, but found \`tool_use\``] : []
    }
    const asWas = JSON.stringify(shape(content)) === JSON.stringify(shape(sent(n, said)))
    if (!asWas) return [`${where}: \`thinking\` blocks cannot be modified`]
    const bound = binding.test(String(body['model'])) && !drops
    const same = prefixOf(body, at) === prefixOf(said.asked.get(n) ?? {}, null)
    return bound && !same ? [`${where}: The block is bound to a different conversation`] : []
  })
}

/** Whether a block stands between two thoughts. */
export function between(content: readonly JsonObject[], block: JsonObject): boolean {
  const at = content.indexOf(block)
  return content.slice(0, at).some(isThought) && content.slice(at).some(isThought)
}

const isThought = ({ type }: JsonObject): boolean =>
  type === 'thinking' || type === 'redacted_thinking'

function answerOf(block: JsonObject): number | null {
  if (!isThought(block)) return null
  const mark = String(block['signature'] ?? block['data'])
  const n = /^sig_(\d+)_/.exec(mark)?.[1]
  return n === undefined ? null : Number(n)
}

/** The blocks of an answer as the server sent them. */
function sent(n: number, { answered }: ReasoningHistory): JsonObject[] {
  return (answered.get(n)?.parts ?? []).map((part, at): JsonObject => {
    const signature = signatureOf(n, at)
    if ('text' in part) return { type: 'text', text: part.text }
    if (!('reasoning' in part)) return { type: 'tool_use' }
    return part.hidden
      ? { type: 'redacted_thinking', data: signature }
      : { type: 'thinking', thinking: part.reasoning, signature }
  })
}

/** What must not change: the thoughts, and of all else that it stands where it stood. */
function shape(content: readonly JsonObject[]): Json {
  return content.flatMap((block): Json[] => {
    if (isThought(block)) return [block]
    const isBlank = block['type'] === 'text' && textIn(block).trim() === ''
    return isBlank && !between(content, block) ? [] : [String(block['type'])]
  })
}

/** All that stands before a message: null is the whole request. Cache marks do not count. */
function prefixOf(body: JsonObject, at: number | null): string {
  const turns = objectsIn(body['messages'])
  const before = [body['system'], body['tools'], turns.slice(0, at ?? turns.length)]
  return JSON.stringify(before, (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  )
}
