/**
 * Spans of model requests: `chat <model>`, from the commit that recorded the request to the one
 * that recorded its answer. A request that another model takes over, that is held, or that its turn
 * leaves ends as an error; repetitions of the same request are events on it.
 */
import type { TurnId } from '../domain/ids.ts'
import type { Clock } from '../exec/ports.ts'
import { BoundedMap } from './bounded-map.ts'
import type { EventTable } from './events.ts'
import { genai, operations, outputMessages, providerName } from './genai-names.ts'
import { providerOf } from './label.ts'
import { SPAN_EVENTS, SPANS_REMEMBERED } from './limits.ts'
import { childOf, type Attributes, type Recorded, type Span } from './span.ts'

type OpenRequest = {
  round_id: string
  n: number
  /** Which attempt at the round this is: each is a span of its own. */
  attempt: number
  model: string
  start: number
  first_sign: number | null
  events: Span['events'][number][]
}

export class RequestSpans {
  readonly #open = new BoundedMap<TurnId, OpenRequest>(SPANS_REMEMBERED)
  /** Held ones, as the attempt that comes: the ledger does not say when that one is sent. */
  readonly #held = new BoundedMap<TurnId, OpenRequest>(SPANS_REMEMBERED)
  readonly #clock: Pick<Clock, 'now'>
  readonly #ended: (span: Span) => void
  readonly #recorded: Recorded

  constructor(clock: Pick<Clock, 'now'>, ended: (span: Span) => void, recorded: Recorded) {
    this.#clock = clock
    this.#ended = ended
    this.#recorded = recorded
  }

  readonly events: EventTable<void> = {
    request_sent: ({ id, turn_id, n, model }, { meta }) => {
      const start = Date.parse(meta.at)
      this.#held.take(turn_id)
      this.#open.set(turn_id, begun({ round_id: id, n, attempt: 1, model, start }))
    },
    round_recorded: (event, { agent_id, meta }) => {
      const { turn_id } = meta
      if (turn_id === null) return
      const { id, model, finish, usage, parts } = event
      const at = Date.parse(meta.at)
      const n = Number(id.slice(id.lastIndexOf(':') + 1))
      const unseen = begun({ round_id: id, n, attempt: 1, model, start: at })
      const resumed = this.#held.take(turn_id) ?? unseen
      this.#end(turn_id, this.#open.take(turn_id) ?? { ...resumed, start: at }, at, null, {
        [genai.response_model]: modelName(model),
        [genai.finish_reasons]: [finish],
        [genai.input_tokens]: usage.input_tokens,
        [genai.output_tokens]: usage.output_tokens,
        [genai.reasoning_tokens]: usage.reasoning_tokens,
        [genai.cache_read_tokens]: usage.cached_input_tokens,
        [genai.cache_write_tokens]: usage.cache_write_tokens,
        [genai.agent_name]: agent_id,
        [genai.output_messages]: this.#recorded(() => outputMessages(parts, finish)),
        'holon.cost.usd': usage.usd,
      })
    },
    model_fell_back: ({ id, model }, { meta }) => {
      const at = Date.parse(meta.at)
      const before = this.#fail(id, at, 'fell_back')
      const held = this.#held.get(id)
      if (before) this.#open.set(id, again(before, model, at))
      else if (held) this.#held.set(id, { ...held, model })
    },
    wait_registered: ({ runtime_cause }, { meta }) => {
      const isHold = runtime_cause === 'provider_world' || runtime_cause === 'provider_setup'
      if (!isHold || meta.turn_id === null) return
      const at = Date.parse(meta.at)
      const before = this.#fail(meta.turn_id, at, runtime_cause)
      if (before) this.#held.set(meta.turn_id, again(before, before.model, at))
    },
    turn_ended: ({ id, outcome }, { meta }) => {
      this.#fail(id, Date.parse(meta.at), outcome)
      this.#held.take(id)
    },
  }

  /** The answer begins to come. */
  alive(turn_id: TurnId): void {
    const now = this.#clock.now()
    const held = this.#held.take(turn_id)
    if (held) this.#open.set(turn_id, { ...held, start: now })
    const request = this.#open.get(turn_id)
    if (request) request.first_sign ??= Math.max(now, request.start)
  }

  /** The attempt failed and is made again after a pause. */
  repeated(turn_id: TurnId, attempt: number, delay_ms: number): void {
    const request = this.#open.get(turn_id)
    if (request === undefined || request.events.length >= SPAN_EVENTS) return
    const attributes = { 'holon.attempt': attempt, 'holon.delay_ms': delay_ms }
    request.events.push({ name: 'repeated', at: this.#clock.now(), attributes })
  }

  #fail(turn_id: TurnId, at: number, error: string): OpenRequest | undefined {
    const request = this.#open.take(turn_id)
    if (request) this.#end(turn_id, request, at, error, {})
    return request
  }

  #end(
    turn_id: TurnId,
    request: OpenRequest,
    at: number,
    error: string | null,
    more: Attributes,
  ): void {
    const { round_id, n, attempt, model, start, first_sign, events } = request
    this.#ended({
      ...childOf(turn_id, attempt === 1 ? round_id : `${round_id}/${attempt}`),
      name: `${operations.chat} ${modelName(model)}`,
      kind: 'client',
      start,
      end: at,
      attributes: {
        [genai.operation]: operations.chat,
        [genai.provider]: providerName(providerOf(model)),
        [genai.request_model]: modelName(model),
        [genai.first_chunk_seconds]: first_sign === null ? null : (first_sign - start) / 1_000,
        [genai.error_type]: error,
        'holon.turn.id': turn_id,
        'holon.round': n,
        ...more,
      },
      links: [],
      events,
      error,
    })
  }
}

const begun = (request: Omit<OpenRequest, 'first_sign' | 'events'>): OpenRequest => ({
  ...request,
  first_sign: null,
  events: [],
})

const again = ({ round_id, n, attempt }: OpenRequest, model: string, start: number): OpenRequest =>
  begun({ round_id, n, attempt: attempt + 1, model, start })

/** `provider/model` without the provider. */
const modelName = (model: string): string => model.slice(model.indexOf('/') + 1)
