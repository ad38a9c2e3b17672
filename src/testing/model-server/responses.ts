/**
 * OpenAI Responses, as the model server reads and writes it. It insists on a stateless use:
 * nothing stored, no references, and thoughts coming back encrypted.
 */
import type { JsonObject } from '../../ports/json.ts'
import type { Reading, ToolResultSeen, Wire, WireContext } from './wire.ts'
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

export const responses: Wire = {
  endpoint: 'responses',
  path: /\/responses$/,
  key: ({ authorization }) => /^Bearer (.+)$/.exec(String(authorization))?.[1] ?? null,
  read,
  frames,
  error_frame: () => {
    const error = {
      type: 'overloaded_error',
      code: 'overloaded',
      message: 'Overloaded',
      param: null,
    }
    return frame({ type: 'error', sequence_number: 99, error })
  },
  error_body: (_status, message, code) => ({
    error: { message, type: code ?? 'error', param: null, code: code ?? null },
  }),
}

function read(body: JsonObject): Reading {
  const pairing = new Pairing()
  const { violations } = pairing
  const items = objectsIn(body['input'])
  let results: ToolResultSeen[] = []
  /** Items of one answer follow each other in any order: only what was said before is over. */
  let answering = false
  for (const [at, item] of items.entries()) {
    const type = String(item['type'] ?? `${item['role']} message`)
    switch (type) {
      case 'reasoning':
        if (typeof item['encrypted_content'] !== 'string') violations.push('a thought in clear')
        if (!follows(items[at + 1])) violations.push('a thought without what followed it')
        if (!answering) pairing.settled('the next answer')
        answering = true
        results = []
        break
      case 'function_call': {
        const id = String(item['call_id'])
        pairing.call(id)
        for (const name of [id, String(item['name'])]) {
          if (!plainName.test(name)) violations.push(`${name} has other characters`)
        }
        answering = true
        results = []
        break
      }
      case 'function_call_output':
        answering = false
        pairing.result(String(item['call_id']))
        results.push({ id: String(item['call_id']), text: textIn(item['output']) })
        break
      case 'assistant message':
        if (!answering) pairing.settled('the next answer')
        answering = true
        results = []
        break
      case 'user message':
      case 'system message':
      case 'developer message':
        answering = false
        pairing.settled(`the next ${type}`)
        break
      default:
        violations.push(`an unexpected ${type}`)
    }
  }
  pairing.settled('the answer')
  if (body['store'] !== false) violations.push('the answer would be stored')

  const declared = objectsIn(body['tools'])
  const tools = checkTools(declared.map((it) => ({ name: it['name'], schema: it['parameters'] })))
  return {
    messages_text: items.map(textIn).join('\n'),
    tools: tools.names,
    last_tool_results: results,
    violations: [...violations, ...tools.violations],
  }
}

/** A thought is refused when nothing of its answer comes behind it. */
const follows = (item: JsonObject | undefined): boolean =>
  item !== undefined &&
  (item['type'] === 'reasoning' || item['type'] === 'function_call' || item['role'] === 'assistant')

/** Numbers the events and keeps the items of one answer. */
class Output {
  readonly frames: string[] = []
  readonly items: JsonObject[] = []
  #sequence = 0

  event(type: string, data: JsonObject): void {
    this.frames.push(frame({ type, sequence_number: this.#sequence, ...data }, type))
    this.#sequence += 1
  }

  /** One item: announced, filled by `fill`, done. */
  item(start: JsonObject, done: JsonObject, fill: (at: JsonObject) => void): void {
    const output_index = this.items.length
    this.event('response.output_item.added', { output_index, item: start })
    fill({ item_id: start['id'] ?? null, output_index })
    this.event('response.output_item.done', { output_index, item: done })
    this.items.push(done)
  }
}

function frames(writing: WireContext): string[] {
  const { n, model, usage } = writing
  const answer = inParts(writing.answer)
  const out = new Output()
  const response = (status: string, more: JsonObject = {}) => ({
    response: {
      id: `resp_${n}`,
      object: 'response',
      created_at: 1_760_000_000,
      model,
      status,
      ...more,
    },
  })
  out.event('response.created', response('in_progress'))
  out.event('response.in_progress', response('in_progress'))
  answer.parts.forEach((part, at) => {
    if ('reasoning' in part) writeThought(out, `${n}_${at + 1}`, part.reasoning)
    else if ('text' in part) writeText(out, `${n}_${at + 1}`, part.text)
  })
  writeCalls(out, writing)

  const spent = {
    input_tokens: usage.input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    total_tokens: usage.input_tokens + usage.output_tokens,
  }
  const told = answer.finish === 'unreadable_call' ? undefined : answer.finish
  const cut = told === 'length' ? 'max_output_tokens' : told
  const status = cut === undefined ? 'completed' : 'incomplete'
  const incomplete_details = cut === undefined ? null : { reason: cut }
  const ended = { output: out.items, usage: spent, incomplete_details }
  out.event(`response.${status}`, response(status, ended))
  return out.frames
}

function writeThought(out: Output, n: string, thought: string): void {
  const id = `rs_${n}`
  const done = { type: 'reasoning', id, encrypted_content: `enc_${n}` }
  const summary = [{ type: 'summary_text', text: thought }]
  out.item({ type: 'reasoning', id, summary: [] }, { ...done, summary }, (at) => {
    const part = { ...at, summary_index: 0 }
    const empty = { type: 'summary_text', text: '' }
    out.event('response.reasoning_summary_part.added', { ...part, part: empty })
    for (const delta of halves(thought)) {
      out.event('response.reasoning_summary_text.delta', { ...part, delta })
    }
    out.event('response.reasoning_summary_part.done', { ...part, part: summary[0] ?? null })
  })
}

function writeText(out: Output, n: string, text: string): void {
  const message = { type: 'message', id: `msg_${n}`, role: 'assistant' }
  const content = [{ type: 'output_text', text, annotations: [] }]
  const start = { ...message, status: 'in_progress', content: [] }
  out.item(start, { ...message, status: 'completed', content }, (at) => {
    const part = { ...at, content_index: 0 }
    for (const delta of halves(text)) out.event('response.output_text.delta', { ...part, delta })
    out.event('response.output_text.done', { ...part, text })
  })
}

function writeCalls(out: Output, writing: WireContext): void {
  const ids = callIds(writing, 'call')
  callArguments(writing).forEach((text, at) => {
    const name = inParts(writing.answer).calls?.[at]?.name ?? ''
    const id = `fc_${writing.n}_${at + 1}`
    const call = { type: 'function_call', id, call_id: ids[at] ?? '', name }
    const start = { ...call, arguments: '', status: 'in_progress' }
    out.item(start, { ...call, arguments: text, status: 'completed' }, (where) => {
      for (const delta of halves(text)) {
        out.event('response.function_call_arguments.delta', { ...where, delta })
      }
      out.event('response.function_call_arguments.done', { ...where, arguments: text })
    })
  })
}
