/**
 * The one contract between the runtime and whatever thinks: a request goes in, live events come
 * out while it runs, and one outcome ends it. A round is whole or it is a fault: nobody above this
 * file ever sees half an answer. Adapters, the scripted test model and the runbook implement it.
 * Types only.
 */
import type { Usage } from '../domain/state/turn.ts'
import type { JsonObject } from '../ports/json.ts'
import type { ModelMessage, ModelPart } from '../ports/model-message.ts'

/** From no thought to all that the model has; each provider's own words are mapped to it. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** The root of `input_schema` is `type: 'object'` without a union: some providers refuse others. */
export type ToolSpec = { name: string; description: string; input_schema: JsonObject }

export type ModelRequest = {
  /** `provider/model`. */
  model: string
  system: string
  tools: readonly ToolSpec[]
  tool_choice: 'auto' | 'none'
  messages: readonly ModelMessage[]
  /** Bytes of the images in the messages, by their hash; absent: there are none. */
  images?: ReadonlyMap<string, Uint8Array>
  /** Tokens; null leaves it to the provider's own maximum. */
  max_output_tokens: number | null
  /** Milliseconds for the whole of it; absent is the usual limit. */
  time_limit_ms?: number
  /** How much the model thinks; absent leaves it to the model. The same throughout a turn. */
  effort?: Effort
  /**
   * After the provider refused what it said itself (`thinking_refused`): the messages are without
   * provider-own parts, and the request goes without what is set about thinking.
   */
  plain?: true
  /**
   * The same for every request that begins alike, and nobody else's: providers that route by such
   * a key find the beginning in their cache. It says nothing of whom it is for.
   */
  cache_key?: string
  /** Structured facts for the deterministic models; adapters ignore it. */
  situation: unknown
  /** For an agent of another maker (`acp/…`), which needs it; adapters of providers ignore it. */
  agent_session?: AgentSession
}

/**
 * Where an agent of another maker works, and what is new for it. It has its own instructions and
 * remembers its session, so it is not told the opening unless it lost that.
 */
export type AgentSession = {
  /** The round's id: a request with the same one is followed, never asked again. */
  request_id: string
  /** The supervising task, whose folder has the session. */
  task_id: string
  /** Absolute path of the workspace. */
  workdir: string
  /** The words of this turn's messages, oldest first, and nothing else; may be empty. */
  input: string
  /**
   * When this turn began with the operator's answer to a wait whose source is `permission`: its
   * words, and the wait's `resource`. Only this can allow anything.
   */
  answer: { permission_id: string; text: string } | null
}

/** Live signs, shown and never stored. Only the outcome counts. */
export type ModelEvent =
  | { type: 'text_delta'; text: string }
  | { type: 'reasoning_delta'; text: string }
  | { type: 'tool_call_started'; tool_name: string }
  /** A meaningful sign of life without content. */
  | { type: 'alive' }

export type ModelRound = {
  parts: readonly ModelPart[]
  /** `unreadable_call`: the provider could not read a call of the model, and sent none. */
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'unreadable_call' | 'other'
  /** The provider's own word for an end that is none of the ordinary ones. */
  finish_word?: string
  usage: TokenUsage
  /** US dollars that the provider says it took for this answer; absent: it does not say. */
  told_usd?: number
  /** `provider/model`, as asked for. */
  model: string
  response_id: string | null
}

/**
 * Tokens as the provider counted them; null is unknown, never zero. `input_tokens` includes the
 * cached and cache-written ones, `output_tokens` includes reasoning.
 */
export type TokenUsage = Omit<Usage, 'usd'>

/**
 * - `world`: the network or the provider; the same request may succeed later.
 * - `setup`: nothing changes until someone changes the key, the model or the address.
 * - `refused`: the provider read this request and will not answer it.
 * - `aborted`: the caller's signal.
 */
export type ModelFault = {
  kind: 'world' | 'setup' | 'refused' | 'aborted'
  code: ModelFaultCode
  /** One sentence without secrets. */
  message: string
  /** HTTP status, when there was one. */
  status: number | null
  /** Milliseconds from the answer until the provider takes requests again, when it said so. */
  retry_after_ms: number | null
  /** Whether sending the same request again soon makes sense. */
  retryable: boolean
}

export type ModelFaultCode =
  // world
  | 'network'
  | 'timeout'
  | 'conflict'
  | 'rate_limited'
  | 'overloaded'
  | 'server_error'
  | 'quota'
  | 'stream_broken'
  | 'stream_hung'
  /** Past the limit of a whole request; the second time it is `setup`. */
  | 'too_slow'
  | 'too_much_output'
  // setup
  | 'no_key'
  | 'unauthorized'
  | 'unknown_model'
  /** Not for this account, place or model, or not with a value that is set. */
  | 'not_available'
  | 'redirected'
  /** It refuses us, or its address is none. */
  | 'proxy'
  | 'secret_unreadable'
  // refused
  | 'bad_request'
  | 'context_length'
  /** The thoughts or signatures that went back, or what was set about thinking. */
  | 'thinking_refused'
  | 'policy'
  // aborted
  | 'aborted'

export type ModelOutcome =
  | { ok: true; round: ModelRound }
  | { ok: false; fault: ModelFault; cut?: CutAnswer }

/**
 * An answer that broke off after something of it had come: it is no round, and it is paid for.
 * `usage` is what the provider had reported by then for good; null: nothing, so it is estimated.
 */
export type CutAnswer = {
  /** Characters of text, thought and arguments that had come. */
  chars: number
  usage: TokenUsage
  /** Tokens of the answer that the provider had counted on the way; more may have come since. */
  output_so_far?: number
}

export type ModelOptions = { signal: AbortSignal; on_event?: (event: ModelEvent) => void }

/**
 * *Contract.* `request` resolves exactly once and never rejects for what the world does: failures
 * are outcomes. It rejects only for a bug of the caller (a tool schema whose root is no object).
 * The caller cancels through `signal`; the outcome is then `aborted`, promptly, whatever the
 * provider does. `on_event` is called synchronously, in order, zero or more times, never after the
 * outcome; it must not throw. Several requests may run at once on one model. It holds no state
 * between requests, and it sends each request at most once (`withRetry` repeats).
 */
export interface Model {
  /** A deterministic model: it works from `ModelRequest.situation`, which others do not get. */
  readonly reads_situation?: true
  request(request: ModelRequest, options: ModelOptions): Promise<ModelOutcome>
}

/**
 * *Contract.* `now` is milliseconds since the epoch. `after` calls `fn` once, no earlier than `ms`
 * milliseconds from now, unless the returned function was called first; that function may be
 * called at any time and any number of times.
 */
export interface ModelClock {
  now(): number
  after(ms: number, fn: () => void): () => void
}
