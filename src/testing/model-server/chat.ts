/**
 * Chat Completions, as the model server reads and writes it.
 */
import type { Json, JsonObject } from '../../ports/json.ts'
import type { Reading, ReasoningHistory, ToolResultSeen, Wire, WireContext } from './wire.ts'
import { detailsOf, detailViolations, piecesOf } from './details.ts'
import {
  callArguments,
  callIds,
  checkTools,
  frame,
  halves,
  inParts,
  isObject,
  objectsIn,
  Pairing,
  plainName,
  textIn,
} from './wire.ts'

export const chatCompletions: Wire = {
  endpoint: 'chat_completions',
  path: /\/chat\/completions$/,
  key: ({ authorization }) => /^Bearer (.+)$/.exec(String(authorization))?.[1] ?? null,
  read,
  frames,
  error_frame: () =>
    frame({ error: { message: 'Overloaded', type: 'overloaded_error', code: 529 } }),
  error_body: (_status, message, code) => ({
    error: { message, type: code ?? 'error', param: null, code: code ?? null },
  }),
}

const last = 'data: [DONE]\n\n'

/** The words of the answer that a frame carries; most carry none. */
export function textOfFrame(frame: string): string {
  if (frame === last) return ''
  const chunk = JSON.parse(frame.replace(/^data: /, '')) as JsonObject
  const delta = objectsIn(chunk['choices'])[0]?.['delta']
  return isObject(delta) ? textIn(delta['content'] ?? '') : ''
}

function read(body: JsonObject, said: ReasoningHistory): Reading {
  const pairing = new Pairing()
  const { violations } = pairing
  const messages = objectsIn(body['messages'])
  let before = ''
  let results: ToolResultSeen[] = []
  for (const message of messages) {
    const role = String(message['role'])
    if (role !== 'tool') pairing.settled(`the next ${role} message`)
    if (role === 'system' && before !== '') violations.push('a system message inside')
    if (role === 'assistant') {
      if (before === 'assistant') violations.push('two assistant messages in a row')
      results = []
      for (const call of objectsIn(message['tool_calls'])) checkCall(call, pairing)
    }
    if (role === 'tool') {
      pairing.result(String(message['tool_call_id']))
      results.push({ id: String(message['tool_call_id']), text: textIn(message['content']) })
    }
    before = role
  }
  pairing.settled('the answer')
  if (before !== 'user' && before !== 'tool') violations.push(`the last message is of ${before}`)

  const declared = objectsIn(body['tools']).map(({ function: it }) => (isObject(it) ? it : {}))
  const tools = checkTools(declared.map((it) => ({ name: it['name'], schema: it['parameters'] })))
  return {
    messages_text: messages.map((message) => textIn(message['content'])).join('\n'),
    tools: tools.names,
    last_tool_results: results,
    violations: [...violations, ...tools.violations, ...detailViolations(messages, said)],
  }
}

function checkCall(call: JsonObject, pairing: Pairing): void {
  pairing.call(String(call['id']))
  const it = call['function']
  const name = isObject(it) ? String(it['name']) : ''
  if (!plainName.test(name)) pairing.violations.push(`${name} has other characters`)
  try {
    const input: unknown = JSON.parse(isObject(it) ? String(it['arguments']) : '')
    if (!isObject(input)) pairing.violations.push(`the arguments of ${call['id']} are no object`)
  } catch {
    pairing.violations.push(`the arguments of ${call['id']} are no JSON`)
  }
}

function frames(writing: WireContext): string[] {
  const { n, model, usage } = writing
  const answer = inParts(writing.answer)
  const chunk = (choices: Json, more: JsonObject = {}) =>
    frame({
      id: `chatcmpl_${n}`,
      object: 'chat.completion.chunk',
      created: 1_760_000_000,
      model,
      choices,
      ...more,
    })
  const delta = (it: JsonObject) => chunk([{ index: 0, delta: it, finish_reason: null }])

  const out = [delta({ role: 'assistant', content: '' })]
  const pieces = detailsOf(n, answer).flatMap(piecesOf)
  // Some models sign a thought only when the answer stands: half of the pieces come behind it.
  const early = Math.ceil(pieces.length / 2)
  const detailed = (piece: JsonObject) => delta({ reasoning_details: [piece] })
  out.push(...pieces.slice(0, early).map(detailed))
  for (const part of answer.parts) {
    if ('reasoning' in part && part.hidden !== true) {
      for (const text of halves(part.reasoning)) out.push(delta({ reasoning_content: text }))
    } else if ('text' in part) {
      for (const text of halves(part.text)) out.push(delta({ content: text }))
    }
  }
  out.push(...pieces.slice(early).map(detailed))
  const ids = callIds(writing, 'call')
  callArguments(writing).forEach((text, index) => {
    const name = answer.calls?.[index]?.name ?? ''
    const start = { index, id: ids[index] ?? '', type: 'function' }
    out.push(delta({ tool_calls: [{ ...start, function: { name, arguments: '' } }] }))
    for (const piece of halves(text)) {
      out.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
    }
  })
  const { cost, cache_write } = answer
  const told = answer.finish === 'unreadable_call' ? undefined : answer.finish
  const finish = told ?? (ids.length > 0 ? 'tool_calls' : 'stop')
  out.push(chunk([{ index: 0, delta: {}, finish_reason: finish }]))
  out.push(
    chunk([], {
      usage: {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        total_tokens: usage.input_tokens + usage.output_tokens,
        prompt_tokens_details: {
          cached_tokens: usage.cached_input_tokens,
          ...(cache_write === undefined ? {} : { cache_write_tokens: cache_write }),
        },
        completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
        ...(cost === undefined ? {} : { cost }),
      },
    }),
  )
  return [...out, last]
}
