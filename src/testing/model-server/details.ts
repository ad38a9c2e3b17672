/**
 * `reasoning_details` as a router gives them in a stream of Chat Completions, and what it insists
 * on when they come back: those of each answer whole, unchanged, and in the order of the answers.
 */
import type { JsonObject } from '../../ports/json.ts'
import { signatureOf } from './thoughts.ts'
import type { ReasoningHistory, ServerAnswer } from './wire.ts'
import { halves, inParts } from './wire.ts'

/** The thoughts of answer `n`, whole. */
export function detailsOf(n: number, answer: ServerAnswer): JsonObject[] {
  if (answer.routed !== true) return []
  const thoughts = inParts(answer).parts.flatMap((part, at) =>
    'reasoning' in part ? { ...part, signature: signatureOf(n, at) } : [],
  )
  return thoughts.map(({ reasoning, hidden, summary, signature }, index): JsonObject => {
    const common = { format: 'anthropic-claude-v1', index }
    if (hidden) return { type: 'reasoning.encrypted', data: signature, id: `rs_${n}`, ...common }
    if (summary) return { type: 'reasoning.summary', summary: reasoning, ...common }
    return { type: 'reasoning.text', text: reasoning, signature, ...common }
  })
}

/** One detail as it is streamed: its content in two pieces, what says of it whole, at the end. */
export function piecesOf(detail: JsonObject): JsonObject[] {
  const key = ['text', 'summary', 'data'].find((name) => name in detail) ?? 'text'
  const [first = '', ...rest] = halves(String(detail[key]))
  const { type, index } = detail
  const unsigned = 'signature' in detail ? { signature: null } : {}
  const begun = { ...detail, [key]: first, ...unsigned }
  const more = rest.map((piece) => ({ type, [key]: piece, index }) as JsonObject)
  const signed = { type, signature: detail['signature'], index } as JsonObject
  return [begun, ...more, ...('signature' in detail ? [signed] : [])]
}

export function detailViolations(
  messages: readonly JsonObject[],
  said: ReasoningHistory,
): string[] {
  const given = [...said.answered].map(([n, answer]) => JSON.stringify(detailsOf(n, answer)))
  let from = 0
  return messages.flatMap(({ role, reasoning_details }, at) => {
    if (role !== 'assistant' || reasoning_details === undefined) return []
    const where = `messages.${at}.reasoning_details`
    const found = given.indexOf(JSON.stringify(reasoning_details), from)
    if (found === -1) return [`${where}: Invalid signature: changed, or not in order`]
    from = found + 1
    return []
  })
}
