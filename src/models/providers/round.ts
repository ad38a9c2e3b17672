/**
 * Folds the provider library's stream parts into one round. It promises that a round is complete
 * (the stream said it finished), in the model's order, with tool arguments verbatim and provider
 * metadata merged; everything else is a typed reason why there is no round.
 */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { modelLimits } from '../limits.ts'
import { countOf, dollarsOf, usageSeen, type PartialUsage } from './usage-seen.ts'
import type { ModelPart } from '../../ports/model-message.ts'
import type { Json } from '../../ports/json.ts'
import type { TokenUsage } from '../model.ts'
import type { CutAnswer, ModelEvent, ModelRound } from '../model.ts'

/** What one stream part means to those who watch: its event, or null when it is no sign of life. */
export type StreamPartResult =
  | { type: 'event'; event: ModelEvent }
  | { type: 'nothing' }
  | { type: 'error'; error: unknown }
  | { type: 'too_much' }

export type Ending = { ok: true; round: ModelRound } | { ok: false; why: string }

type Draft = { part: ModelPart; metadata: SharedV4ProviderMetadata | undefined }

const alive: StreamPartResult = { type: 'event', event: { type: 'alive' } }
const nothing: StreamPartResult = { type: 'nothing' }

/** One round in the making. Not reusable. */
export class RoundBuilder {
  readonly #model: string
  readonly #drafts: Draft[] = []
  readonly #open = new Map<string, Draft>()
  readonly #thinking = new Set<string>()
  readonly #calling = new Set<string>()
  #finish: {
    reason: LanguageModelV4FinishReason
    usage: LanguageModelV4Usage
    detail: readonly string[]
  } | null = null
  #responseId: string | null = null
  #chars = 0
  /** Characters that came as they were written; null: nothing of an answer has come. */
  #heard: number | null = null
  /** Tokens that the provider has counted so far. */
  #seen: PartialUsage = { input_tokens: null, output_tokens: null }
  /** Characters of each call's arguments that came ahead of the call. */
  readonly #streamed = new Map<string, number>()

  constructor(model: string) {
    this.#model = model
  }

  /** Whether a thought or a call is open: the model may be silent for longer. */
  get isOpen(): boolean {
    return this.#thinking.size > 0 || this.#calling.size > 0
  }

  /** What has been heard of the answer so far, for when nothing more comes; null: nothing. */
  get cut(): CutAnswer | null {
    const { input_tokens, output_tokens } = this.#seen
    if (this.#finish !== null) return this.#cutOf(usageOf(this.#finish.usage))
    if (this.#heard === null && input_tokens === null && output_tokens === null) return null
    const cut = this.#cutOf({ ...usageOf(unreported), input_tokens })
    return output_tokens === null ? cut : { ...cut, output_so_far: output_tokens }
  }

  #cutOf(usage: TokenUsage): CutAnswer {
    return { chars: this.#heard ?? 0, usage }
  }

  /** Counts only grow: a later event that has none, or fewer, takes nothing back. */
  #see(event: unknown): void {
    const now = usageSeen(event)
    if (now === null) return
    const { input_tokens, output_tokens } = this.#seen
    this.#seen = {
      input_tokens: most(input_tokens, now.input_tokens),
      output_tokens: most(output_tokens, now.output_tokens),
    }
  }

  take(part: LanguageModelV4StreamPart): StreamPartResult {
    switch (part.type) {
      case 'text-start':
        return this.#start('text', part.id, part.providerMetadata)
      case 'text-delta':
        return this.#delta('text', part.id, part.delta, part.providerMetadata)
      case 'reasoning-start':
        this.#thinking.add(part.id)
        return this.#start('reasoning', part.id, part.providerMetadata)
      case 'reasoning-delta':
        return this.#delta('reasoning', part.id, part.delta, part.providerMetadata)
      case 'text-end':
        return this.#end('text', part.id, part.providerMetadata)
      case 'reasoning-end':
        this.#thinking.delete(part.id)
        return this.#end('reasoning', part.id, part.providerMetadata)
      case 'tool-input-start':
        this.#calling.add(part.id)
        this.#hear(part.toolName.length)
        return { type: 'event', event: { type: 'tool_call_started', tool_name: part.toolName } }
      case 'tool-input-delta':
        this.#hear(part.delta.length)
        this.#streamed.set(part.id, (this.#streamed.get(part.id) ?? 0) + part.delta.length)
        return this.#count(part.delta) ?? alive
      case 'tool-call':
        this.#calling.delete(part.toolCallId)
        return this.#toolCall(part)
      case 'response-metadata':
        this.#responseId = part.id ?? this.#responseId
        return alive
      case 'finish':
        this.#finish = {
          reason: part.finishReason,
          usage: part.usage,
          detail: detailOf(part.providerMetadata),
        }
        return alive
      case 'error':
        return { type: 'error', error: part.error }
      case 'tool-input-end':
        this.#calling.delete(part.id)
        return alive
      case 'tool-result':
      case 'tool-approval-request':
      case 'custom':
      case 'file':
      case 'reasoning-file':
      case 'source':
        // Nothing we asked for; still the model at work.
        return alive
      case 'raw':
        this.#see(part.rawValue)
        return nothing
      case 'stream-start':
      case 'ping':
        // Made here or sent by a proxy: no sign of the model.
        return nothing
    }
  }

  /** Called once, after the stream ended without an error part. */
  end(): Ending {
    if (this.#finish === null) return { ok: false, why: 'the stream ended before its answer did' }
    const { unified, raw } = this.#finish.reason
    const finish = unreadable.test(raw ?? '') ? 'unreadable_call' : finishOf(unified)
    if (finish === null) return { ok: false, why: `the stream ended with ${raw ?? unified}` }
    return {
      ok: true,
      round: {
        parts: settled(this.#drafts),
        finish,
        ...(ordinary.has(finish) || raw === undefined
          ? {}
          : { finish_word: [raw, ...this.#finish.detail].join(': ') }),
        usage: usageOf(this.#finish.usage),
        ...toldBy(this.#finish.usage),
        model: this.#model,
        response_id: this.#responseId,
      },
    }
  }

  #hear(chars: number): void {
    this.#heard = (this.#heard ?? 0) + chars
  }

  #start(
    type: 'text' | 'reasoning',
    id: string,
    metadata?: SharedV4ProviderMetadata,
  ): StreamPartResult {
    this.#hear(0)
    const draft: Draft = { part: { type, text: '' }, metadata }
    this.#drafts.push(draft)
    // An id may come again after its end (Chat Completions has one for all text): the last counts.
    this.#open.set(`${type} ${id}`, draft)
    return this.#count('') ?? alive
  }

  #delta(
    type: 'text' | 'reasoning',
    id: string,
    text: string,
    metadata?: SharedV4ProviderMetadata,
  ): StreamPartResult {
    if (!this.#open.has(`${type} ${id}`)) this.#start(type, id)
    const draft = this.#open.get(`${type} ${id}`)
    if (draft?.part.type !== type) throw new Error(`Stream part ${id} changed its type.`)
    draft.part.text += text
    this.#hear(text.length)
    draft.metadata = merge(draft.metadata, metadata)
    const over = this.#count(text)
    if (over) return over
    if (text === '') return alive
    return { type: 'event', event: { type: `${type}_delta`, text } }
  }

  #end(
    type: 'text' | 'reasoning',
    id: string,
    metadata?: SharedV4ProviderMetadata,
  ): StreamPartResult {
    const draft = this.#open.get(`${type} ${id}`)
    if (draft) draft.metadata = merge(draft.metadata, metadata)
    return alive
  }

  #toolCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): StreamPartResult {
    // We declare no tools that the provider runs; one that comes all the same is not ours to run.
    if (part.providerExecuted === true) return alive
    this.#hear(Math.max(0, part.input.length - (this.#streamed.get(part.toolCallId) ?? 0)))
    this.#drafts.push({
      part: {
        type: 'tool_call',
        provider_call_id: part.toolCallId,
        tool_name: part.toolName,
        input_json: part.input,
      },
      metadata: part.providerMetadata,
    })
    return this.#count('') ?? this.#count(part.input) ?? alive
  }

  /** A part costs memory also when it is empty, and so does what streams in for nothing. */
  #count(text: string): StreamPartResult | null {
    this.#chars += text.length + (text === '' ? modelLimits.part.value : 0)
    return this.#chars > modelLimits.round.value ? { type: 'too_much' } : null
  }
}

/**
 * Empty parts are left out, but for a text between two thoughts of the provider's own: it refuses
 * them when what stood between them is gone.
 */
function settled(drafts: readonly Draft[]): ModelPart[] {
  const isOwn = ({ part, metadata }: Draft) => part.type === 'reasoning' && metadata !== undefined
  const [first, last] = [drafts.findIndex(isOwn), drafts.findLastIndex(isOwn)]
  return drafts.flatMap(({ part, metadata }, at): ModelPart[] => {
    if (metadata !== undefined) return [{ ...part, provider_metadata: metadata as Json }]
    const isEmpty = part.type !== 'tool_call' && part.text === ''
    const separates = part.type === 'text' && first < at && at < last
    return isEmpty && !separates ? [] : [part]
  })
}

/** Later values win, provider by provider: OpenAI sends the encrypted thought at the end only. */
function merge(
  a: SharedV4ProviderMetadata | undefined,
  b: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (a === undefined || b === undefined) return b ?? a
  const merged = { ...a }
  for (const [provider, values] of Object.entries(b)) {
    merged[provider] = { ...merged[provider], ...values }
  }
  return merged
}

const ordinary: ReadonlySet<ModelRound['finish']> = new Set(['stop', 'tool_calls', 'length'])

/** Google's words for a call that it could not make anything of. */
const unreadable =
  /^(MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE)$/

/** What Anthropic says beside a refusal: what it is about. */
function detailOf(metadata: SharedV4ProviderMetadata | undefined): string[] {
  const details = metadata?.['anthropic']?.['stopDetails']
  if (typeof details !== 'object' || details === null || !('category' in details)) return []
  return typeof details.category === 'string' ? [details.category] : []
}

function finishOf(unified: LanguageModelV4FinishReason['unified']): ModelRound['finish'] | null {
  switch (unified) {
    case 'stop':
    case 'length':
    case 'other':
      return unified
    case 'tool-calls':
      return 'tool_calls'
    case 'content-filter':
      return 'content_filter'
    case 'error':
    case 'interrupted':
      return null
  }
}

/** OpenRouter says in `usage.cost` what it took; what is no sum of dollars says nothing. */
function toldBy({ raw }: LanguageModelV4Usage): { told_usd?: number } {
  const told_usd = dollarsOf(raw?.['cost'])
  return told_usd === null ? {} : { told_usd }
}

const unreported: LanguageModelV4Usage = {
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

const most = (one: number | null, other: number | null): number | null =>
  one === null ? other : Math.max(one, other ?? 0)

/** What OpenRouter wrote to a cache, which the library of its dialect leaves in the raw counts. */
function writtenIn(raw: LanguageModelV4Usage['raw']): unknown {
  const details = raw?.['prompt_tokens_details']
  if (typeof details !== 'object' || details === null) return undefined
  return 'cache_write_tokens' in details ? details.cache_write_tokens : undefined
}

/** No request is empty: a provider that says it read nothing does not count. */
function usageOf({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): TokenUsage {
  return {
    input_tokens: countOf(inputTokens.total, 1),
    output_tokens: countOf(outputTokens.total),
    reasoning_tokens: countOf(outputTokens.reasoning),
    cached_input_tokens: countOf(inputTokens.cacheRead),
    cache_write_tokens: countOf(inputTokens.cacheWrite ?? writtenIn(raw)),
  }
}
