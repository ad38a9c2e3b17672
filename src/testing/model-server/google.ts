/**
 * Google's `streamGenerateContent`, as the model server reads and writes it: enough to hold our
 * fourth adapter to the same scenarios. Results are paired by id, or by name where there is none.
 */
import type { Json, JsonObject } from '../../ports/json.ts'
import type { Reading, ServerAnswer, ToolResultSeen, Wire, WireContext } from './wire.ts'
import {
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

export const google: Wire = {
  endpoint: 'google',
  path: /:streamGenerateContent$/,
  key: (headers) =>
    headers['x-goog-api-key'] === undefined ? null : String(headers['x-goog-api-key']),
  read,
  frames,
  error_frame: () => frame({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }),
  error_body: (status, message, code) => ({
    error: { code: status, message, status: code ?? 'UNKNOWN' },
  }),
}

function read(body: JsonObject): Reading {
  const pairing = new Pairing()
  const contents = objectsIn(body['contents'])
  let before = ''
  let results: ToolResultSeen[] = []
  for (const content of contents) {
    const role = String(content['role'])
    if (role === 'model' && before === 'model') pairing.violations.push('two answers in a row')
    if (role === 'model') results = []
    for (const part of objectsIn(content['parts'])) {
      const { functionCall: call, functionResponse: result } = part
      if (isObject(call)) {
        pairing.call(String(call['id'] ?? call['name']))
        const name = String(call['name'])
        if (!plainName.test(name)) pairing.violations.push(`${name} has other characters`)
      }
      if ('text' in part && part['text'] === '' && part['thoughtSignature'] === undefined) {
        pairing.violations.push('an empty part')
      }
      if (isObject(result)) {
        const id = String(result['id'] ?? result['name'])
        pairing.result(id)
        results.push({ id, text: resultText(result['response']) })
      }
    }
    if (role === 'user') pairing.settled('the next message')
    before = role
  }
  pairing.settled('the answer')
  if (before !== 'user') pairing.violations.push('the last message is not of the user')

  const declared = objectsIn(body['tools']).flatMap((it) => objectsIn(it['functionDeclarations']))
  const tools = checkTools(
    declared.map((it) => ({
      name: it['name'],
      schema: it['parametersJsonSchema'] ?? it['parameters'],
    })),
  )
  const system = body['systemInstruction']
  return {
    messages_text: [system, ...contents].map((it) => partsText(it)).join('\n'),
    tools: tools.names,
    last_tool_results: results,
    violations: [...pairing.violations, ...tools.violations],
  }
}

const partsText = (content: Json | undefined): string =>
  isObject(content) ? textIn(content['parts']) : ''

const resultText = (response: Json | undefined): string =>
  isObject(response) ? String(response['content'] ?? response['error'] ?? '') : ''

function frames(writing: WireContext): string[] {
  const { n, model, usage } = writing
  const answer = inParts(writing.answer)
  const chunk = (parts: Json, more: JsonObject = {}, usageMetadata: JsonObject = {}) =>
    frame({
      candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
      modelVersion: model,
      responseId: `resp_${n}`,
      usageMetadata,
    })
  const out = answer.parts.flatMap((part) => {
    if ('reasoning' in part) {
      return halves(part.reasoning).map((text) => chunk([{ text, thought: true }]))
    }
    return 'text' in part ? halves(part.text).map((text) => chunk([{ text }])) : []
  })
  const reasoned = answer.parts.some((part) => 'reasoning' in part)
  const ids = callIds(writing, 'call')
  const calls = (answer.calls ?? []).map(({ name, input }, at) => ({
    functionCall: { id: ids[at] ?? '', name, args: input },
    // The signature of a thought rides on the first call after it.
    ...(reasoned && at === 0 && { thoughtSignature: `sig_${n}` }),
  }))
  if (calls.length > 0) out.push(chunk(calls))
  const finishReason = reason(answer.finish)
  const spent = {
    promptTokenCount: usage.input_tokens,
    cachedContentTokenCount: usage.cached_input_tokens,
    candidatesTokenCount: usage.output_tokens - usage.reasoning_tokens,
    thoughtsTokenCount: usage.reasoning_tokens,
    totalTokenCount: usage.input_tokens + usage.output_tokens,
  }
  return [...out, chunk([], { finishReason }, spent)]
}

function reason(finish: ServerAnswer['finish']): string {
  if (finish === 'unreadable_call') return 'UNEXPECTED_TOOL_CALL'
  if (finish === 'length') return 'MAX_TOKENS'
  return finish === 'content_filter' ? 'SAFETY' : 'STOP'
}
