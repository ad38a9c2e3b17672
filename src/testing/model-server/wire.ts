/**
 * What the wire formats of the model server have in common: the answer a script gives, what a
 * request looks like to it, and the checks every provider makes. Each format is one `Wire`.
 */
import type { Json, JsonObject } from '../../ports/json.ts'

export type Endpoint = 'chat_completions' | 'responses' | 'messages' | 'google'

export type ServerCall = { name: string; input: Json }

/**
 * One part of an answer. A thought is signed by the server; `hidden` is sent in cipher only. That
 * it is a `summary` only a router says.
 */
export type ServerPart =
  | { text: string }
  | { reasoning: string; hidden?: true; summary?: true }
  | ServerCall

/** One scenario for all formats: the same answer is written as each of them. */
export type ServerAnswer = {
  text?: string
  reasoning?: string
  calls?: readonly ServerCall[]
  /** Instead of the three above, where their order matters. */
  parts?: readonly ServerPart[]
  /** Default: what the content means. Only Google has a word for a call that it cannot read. */
  finish?: 'length' | 'content_filter' | 'unreadable_call'
  usage?: Partial<ServerUsage>
  /** What Chat Completions says in `usage.cost`: dollars of OpenRouter, of others anything. */
  cost?: Json
  /** What OpenRouter says in `prompt_tokens_details.cache_write_tokens`; of others anything. */
  cache_write?: Json
  /** Chat Completions as a router sends it: the thoughts also in `reasoning_details`. */
  routed?: true
  fault?: ServerFault
}

export type ServerUsage = {
  input_tokens: number
  output_tokens: number
  reasoning_tokens: number
  cached_input_tokens: number
}

export type ServerFault =
  /** An error answer; `code` is the provider's own word for it. */
  | {
      kind: 'status'
      status: number
      retry_after?: string
      headers?: Readonly<Record<string, string>>
      message?: string
      code?: string
    }
  /** So many events of the answer, then the connection breaks. */
  | { kind: 'cut'; events: number }
  /** Half of the answer, then silence. */
  | 'hang'
  /** Not even headers. */
  | 'hang_before_answer'
  /** Half of the answer, then a clean end of the connection. */
  | 'truncate'
  /** Half of the answer, then the connection breaks. */
  | 'reset'
  /** Half of the answer, then the provider's own error event: it is overloaded. */
  | 'error_in_stream'
  /** Half of the answer, then a frame that is no JSON. */
  | 'garbage'
  /** The first call's arguments stop in the middle. */
  | 'broken_json'
  /** Every call has the first one's id. */
  | 'duplicate_ids'
  /** Every call's id is empty. */
  | 'missing_ids'
  /** Every call's id is long and has characters that only its maker takes. */
  | 'odd_ids'

export type ToolResultSeen = { id: string; text: string }

export type ImageSeen = { media_type: string; bytes: number }

export type ServerView = {
  endpoint: Endpoint
  body: JsonObject
  /** Requests to this server so far, from 1. */
  n: number
  /** All text of the request in order: system, messages, results. */
  messages_text: string
  tools: readonly string[]
  /** The results after the last answer of the model. */
  last_tool_results: readonly ToolResultSeen[]
  /** All images of the request, in order. */
  images: readonly ImageSeen[]
}

/** What one format reads out of a request. */
export type Reading = Pick<ServerView, 'messages_text' | 'tools' | 'last_tool_results'> & {
  violations: readonly string[]
}

export type WireContext = {
  n: number
  model: string
  answer: ServerAnswer
  usage: ServerUsage
}

/** Requests answered with a thought, and those answers: a format checks what comes back of them. */
export type ReasoningHistory = {
  asked: ReadonlyMap<number, JsonObject>
  answered: ReadonlyMap<number, ServerAnswer>
}

/** Of a server that keeps nothing. */
export const nothingSaid: ReasoningHistory = { asked: new Map(), answered: new Map() }

export type Wire = {
  endpoint: Endpoint
  path: RegExp
  /** The key a request presented, or null. */
  key(headers: Readonly<Record<string, string | string[] | undefined>>): string | null
  read(body: JsonObject, said: ReasoningHistory): Reading
  /** The whole answer as frames of an event stream. */
  frames(writing: WireContext): string[]
  error_frame(): string
  error_body(status: number, message: string, code: string | undefined): JsonObject
}

export const defaultUsage: ServerUsage = {
  input_tokens: 100,
  output_tokens: 20,
  reasoning_tokens: 5,
  cached_input_tokens: 40,
}

/** The answer with its parts in order and by kind: every format writes from this. */
export function inParts(answer: ServerAnswer): ServerAnswer & { parts: readonly ServerPart[] } {
  if (answer.parts !== undefined) {
    const calls = answer.parts.filter((part) => 'name' in part)
    return { ...answer, parts: answer.parts, ...(calls.length > 0 && { calls }) }
  }
  const { text, reasoning, calls = [] } = answer
  const parts = [
    ...(reasoning === undefined ? [] : [{ reasoning }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls,
  ]
  return { ...answer, parts }
}

/** Ids of the calls of one answer, after its faults. */
export function callIds({ n, answer }: WireContext, prefix: string): string[] {
  return (inParts(answer).calls ?? []).map((_, at) => {
    if (answer.fault === 'missing_ids') return ''
    if (answer.fault === 'odd_ids') return `${prefix}_${n}/functions.${'x'.repeat(60)}:${at}`
    return `${prefix}_${n}_${answer.fault === 'duplicate_ids' ? 1 : at + 1}`
  })
}

/** Arguments of the calls as text, after its faults. */
export function callArguments({ answer }: WireContext): string[] {
  return (inParts(answer).calls ?? []).map(({ input }, at) => {
    const text = JSON.stringify(input)
    return answer.fault === 'broken_json' && at === 0 ? text.slice(0, -2) : text
  })
}

/** Two pieces, cut anywhere: deltas never come in one. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '')
}

export const frame = (data: Json, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectsIn = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : []

export const textIn = (value: Json | undefined): string => {
  if (typeof value === 'string') return value
  if (Array.isArray(value))
    return value
      .map(textIn)
      .filter((text) => text !== '')
      .join('\n')
  if (!isObject(value)) return ''
  return textIn(value['text'] ?? value['content'] ?? value['output'])
}

/** What names and ids may be made of, in declarations and in the history. */
export const plainName = /^[a-zA-Z0-9_-]{1,64}$/

/** Tool declarations every provider accepts: a good name, used once, an object at the root. */
export function checkTools(tools: readonly { name: Json | undefined; schema: Json | undefined }[]) {
  const violations: string[] = []
  const names = tools.map(({ name }) => String(name))
  for (const { name, schema } of tools) {
    if (!plainName.test(String(name))) violations.push(`bad tool name ${name}`)
    const union = isObject(schema) && ['anyOf', 'oneOf', 'allOf'].some((key) => key in schema)
    if (!isObject(schema) || schema['type'] !== 'object' || union) {
      violations.push(`the schema of ${name} is no object`)
    }
  }
  if (new Set(names).size !== names.length) violations.push('two tools of one name')
  return { names, violations }
}

/** Each call answered exactly once before the model speaks again. */
export class Pairing {
  readonly violations: string[] = []
  readonly #open = new Set<string>()

  call(id: string): void {
    if (this.#open.has(id)) this.violations.push(`two calls with the id ${id}`)
    this.#open.add(id)
  }

  result(id: string): void {
    if (!this.#open.delete(id)) this.violations.push(`a result for ${id}, which is not open`)
  }

  /** At every point where no call may be left open. */
  settled(where: string): void {
    for (const id of this.#open) this.violations.push(`no result for ${id} before ${where}`)
    this.#open.clear()
  }
}
