/**
 * Anthropic Messages, as the model server reads and writes it. It insists on what the provider
 * insists on: alternating roles, results first, and thoughts that come back as they were said.
 */
import type { JsonObject } from '../../ports/json.ts'
import { between, signatureOf, thoughtViolations } from './thoughts.ts'
import type {
  Reading,
  ReasoningHistory,
  ServerAnswer,
  ToolResultSeen,
  Wire,
  WireContext,
} from './wire.ts'
import {
  callArguments,
  callIds,
  checkTools,
  frame,
  halves,
  inParts,
  objectsIn,
  Pairing,
  plainName,
  textIn,
} from './wire.ts'

export const messages: Wire = {
  endpoint: 'messages',
  path: /\/messages$/,
  key: (headers) => (headers['x-api-key'] === undefined ? null : String(headers['x-api-key'])),
  read,
  frames,
  error_frame: () => event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
  error_body: (status, message, code) => ({
    type: 'error',
    error: { type: code ?? errorType(status), message },
  }),
}

function read(body: JsonObject, said: ReasoningHistory): Reading {
  const pairing = new Pairing()
  const { violations } = pairing
  const turns = objectsIn(body['messages'])
  violations.push(...thoughtViolations(body, said))
  let before = 'assistant'
  let results: ToolResultSeen[] = []
  for (const turn of turns) {
    const role = String(turn['role'])
    const content = objectsIn(turn['content'])
    if (role === before) violations.push(`two ${role} messages in a row`)
    if (content.length === 0) violations.push(`an empty ${role} message`)
    for (const block of content) {
      // One that keeps two thoughts apart is taken, unless it is empty.
      const words = block['type'] === 'text' ? textIn(block) : 'x'
      const separates = said.answered.size > 0 && words !== '' && between(content, block)
      if (words.trim() === '' && !separates) violations.push('a blank text')
    }
    if (role === 'assistant') {
      results = []
      readAnswer(content, pairing)
    } else {
      results = readInput(content, pairing)
      pairing.settled('the next message')
    }
    before = role
  }
  pairing.settled('the answer')
  if (before !== 'user') violations.push('the last message is not of the user')
  const marks = JSON.stringify(body).split('"cache_control"').length - 1
  if (marks > 4) violations.push(`${marks} cache marks`)

  const declared = objectsIn(body['tools'])
  const tools = checkTools(declared.map((it) => ({ name: it['name'], schema: it['input_schema'] })))
  return {
    messages_text: [body['system'], ...turns].map(textIn).join('\n'),
    tools: tools.names,
    last_tool_results: results,
    violations: [...violations, ...tools.violations],
  }
}

function readAnswer(content: readonly JsonObject[], pairing: Pairing): void {
  for (const block of content) {
    if (block['type'] !== 'tool_use') continue
    const id = String(block['id'])
    pairing.call(id)
    for (const name of [id, String(block['name'])]) {
      if (!plainName.test(name)) pairing.violations.push(`${name} has other characters`)
    }
  }
}

function readInput(content: readonly JsonObject[], pairing: Pairing): ToolResultSeen[] {
  const results: ToolResultSeen[] = []
  content.forEach((block, at) => {
    if (block['type'] !== 'tool_result') return
    if (at !== results.length) pairing.violations.push('a result after other content')
    const id = String(block['tool_use_id'])
    pairing.result(id)
    results.push({ id, text: textIn(block['content']) })
  })
  return results
}

function frames(writing: WireContext): string[] {
  const { n, model, usage } = writing
  const answer = inParts(writing.answer)
  const input = {
    input_tokens: usage.input_tokens - usage.cached_input_tokens,
    cache_read_input_tokens: usage.cached_input_tokens,
    cache_creation_input_tokens: 0,
  }
  const empty = { role: 'assistant', content: [], stop_reason: null, stop_sequence: null }
  const message = { id: `msg_${n}`, type: 'message', model, ...empty }
  const started = { ...message, usage: { ...input, output_tokens: 1 } }
  const out = [event('message_start', { message: started }), event('ping', {})]

  let index = 0
  const block = (start: JsonObject, deltas: readonly JsonObject[]) => {
    out.push(event('content_block_start', { index, content_block: start }))
    for (const delta of deltas) out.push(event('content_block_delta', { index, delta }))
    out.push(event('content_block_stop', { index }))
    index += 1
  }
  const ids = callIds(writing, 'toolu')
  const inputs = callArguments(writing)
  let calls = 0
  answer.parts.forEach((part, at) => {
    if ('reasoning' in part) return block(...thoughtDeltas(part, n, at))
    if ('text' in part) {
      const pieces = halves(part.text).map((text) => ({ type: 'text_delta', text }))
      return block({ type: 'text', text: '' }, pieces)
    }
    const start = { type: 'tool_use', id: ids[calls] ?? '', name: part.name, input: {} }
    const pieces = halves(inputs[calls] ?? '')
    calls += 1
    return block(
      start,
      pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  })
  const stop_reason = stopReason(answer.finish, ids.length > 0)
  const stop_details = { type: 'refusal', category: 'cyber', explanation: null }
  const detail = stop_reason === 'refusal' ? { stop_details } : {}
  const delta = { stop_reason, stop_sequence: null, ...detail }
  out.push(
    event('message_delta', { delta, usage: { ...input, output_tokens: usage.output_tokens } }),
  )
  return [...out, event('message_stop', {})]
}

function thoughtDeltas(
  { reasoning, hidden }: { reasoning: string; hidden?: true },
  n: number,
  at: number,
): [JsonObject, JsonObject[]] {
  const signature = signatureOf(n, at)
  if (hidden) return [{ type: 'redacted_thinking', data: signature }, []]
  const deltas = halves(reasoning).map((thinking) => ({ type: 'thinking_delta', thinking }))
  const signed = { type: 'signature_delta', signature }
  return [{ type: 'thinking', thinking: '', signature: '' }, [...deltas, signed]]
}

const event = (type: string, data: JsonObject): string => frame({ type, ...data }, type)

function stopReason(finish: ServerAnswer['finish'], calls: boolean): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'content_filter') return 'refusal'
  return calls ? 'tool_use' : 'end_turn'
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 404) return 'not_found_error'
  if (status === 413) return 'request_too_large'
  if (status === 429) return 'rate_limit_error'
  if (status === 529) return 'overloaded_error'
  return status >= 500 ? 'api_error' : 'invalid_request_error'
}
