/**
 * A provider library's `LanguageModelV4` as our `Model`, through `doStream`. It promises one
 * outcome per request whatever the library does: the caller's abort wins, silence ends in
 * `stream_hung`, an answer that breaks off is a fault and never a round.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { FaultContext } from '../fault.ts'
import { aborted, faultOf, outOfPatience, streamBroken, tooMuchOutput } from '../fault.ts'
import { bytesOf } from '../transport/fetch.ts'
import { modelLimits } from '../limits.ts'
import type {
  Effort,
  Model,
  ModelClock,
  ModelFault,
  ModelOptions,
  ModelOutcome,
  ModelRequest,
} from '../model.ts'
import { Patience, usualPatience, type PatienceLimits } from '../patience.ts'
import { promptOf, toolOf, type IdForm } from './prompt.ts'
import { RoundBuilder } from './round.ts'

/** What one adapter adds to the common path. */
export type Adapted = {
  /** The provider's id, for messages. */
  provider: string
  language_model: LanguageModelV4
  /** Values never quoted in a fault. */
  secrets: readonly string[]
  /** What this provider wants beside the common fields. Must be pure. */
  provider_options?: (
    request: ModelRequest,
  ) => NonNullable<LanguageModelV4CallOptions['providerOptions']>
  /** What call ids it takes back; default `plain`. */
  ids?: IdForm
  /** The effort to ask for, where it is not what the request says. Must be pure. */
  effort?: (request: ModelRequest) => Effort | undefined
  /** Tokens of an answer, where it is not what the request says. Must be pure. */
  max_output?: (request: ModelRequest) => number | null
  /** Last touch on the prompt, such as cache marks. Must be pure. */
  last_touch?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /**
   * Makes the first touch on each part of one answer, which then comes with its raw chunks: what
   * the provider sent, each ahead of the parts that the library makes of it. May make several of
   * one.
   */
  first_touch?: () => FirstTouch
}

type FirstTouch = (part: LanguageModelV4StreamPart) => readonly LanguageModelV4StreamPart[]

export type AdapterPorts = {
  clock: ModelClock
  /** Where it is not the usual one. */
  patience?: Partial<PatienceLimits>
}

export function adaptedModel(adapted: Adapted, ports: AdapterPorts): Model {
  return {
    async request(request, options) {
      const call = callOf(adapted, request)
      if (options.signal.aborted) return { ok: false, fault: aborted() }
      return new Exchange(adapted, ports, request, options).run(call)
    },
  }
}

function callOf(adapted: Adapted, request: ModelRequest): LanguageModelV4CallOptions {
  const prompt = promptOf(request, adapted.ids)
  const tools = request.tools.map(toolOf)
  const effort = request.plain ? undefined : (adapted.effort ?? ((it) => it.effort))(request)
  const maxOutputTokens = (adapted.max_output ?? ((it) => it.max_output_tokens))(request)
  return {
    prompt: adapted.last_touch ? adapted.last_touch(prompt) : prompt,
    ...(tools.length > 0 && { tools, toolChoice: { type: request.tool_choice } }),
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(effort !== undefined && { reasoning: effort }),
    // For what the provider counts before the end, which no other part has.
    includeRawChunks: true,
    ...(adapted.provider_options && { providerOptions: adapted.provider_options(request) }),
  }
}

/** Cancelling a stream that already failed reports that failure again. */
const ignored = (): void => {}

/** One request on the wire, from the first byte out to the outcome. */
class Exchange {
  readonly #adapted: Adapted
  readonly #ports: AdapterPorts
  readonly #options: ModelOptions
  readonly #round: RoundBuilder
  readonly #touch: FirstTouch
  readonly #wire = new AbortController()
  #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null
  #over = false
  readonly #patience: Patience
  #stopTimer: () => void = () => {}

  constructor(adapted: Adapted, ports: AdapterPorts, request: ModelRequest, options: ModelOptions) {
    this.#adapted = adapted
    this.#ports = ports
    this.#options = options
    this.#round = new RoundBuilder(request.model)
    this.#touch = adapted.first_touch?.() ?? ((part) => [part])
    const given = request.time_limit_ms
    const total = given === undefined ? {} : { total_ms: given }
    const limits = { ...usualPatience, ...ports.patience, ...total }
    this.#patience = new Patience(limits, ports.clock.now())
    bytesOf.set(this.#wire.signal, () => this.#patience.bytes(ports.clock.now()))
  }

  async run(call: LanguageModelV4CallOptions): Promise<ModelOutcome> {
    const { signal } = this.#options
    const halt = Promise.withResolvers<ModelOutcome>()
    const onAbort = () => halt.resolve({ ok: false, fault: aborted() })
    signal.addEventListener('abort', onAbort, { once: true })
    this.#watch((fault) => halt.resolve({ ok: false, fault }))

    // The library may not notice an abort for a while, and a hung stream notices nothing: the
    // outcome does not wait for it.
    const outcome = await Promise.race([halt.promise, this.#exchange(call)]).finally(() => {
      this.#over = true
      this.#stopTimer()
      signal.removeEventListener('abort', onAbort)
    })
    if (outcome.ok) return outcome
    this.#wire.abort()
    this.#reader?.cancel().catch(ignored)
    const { cut } = this.#round
    return cut === null ? outcome : { ...outcome, cut }
  }

  async #exchange(call: LanguageModelV4CallOptions): Promise<ModelOutcome> {
    try {
      const { language_model } = this.#adapted
      const { stream } = await language_model.doStream({ ...call, abortSignal: this.#wire.signal })
      this.#reader = stream.getReader()
    } catch (error) {
      return this.#failed(error)
    }
    for (;;) {
      // Too late: the outcome is decided, and nobody may see another event.
      if (this.#over) return { ok: false, fault: aborted() }
      const read = await this.#reader.read().catch((error: unknown) => ({ error }))
      if ('error' in read) return this.#failed(read.error)
      if (read.done) break
      const fault = this.#over ? null : this.#take(read.value)
      if (fault !== null) return { ok: false, fault }
    }
    const ending = this.#round.end()
    if (ending.ok) return ending
    return { ok: false, fault: streamBroken(ending.why, this.#context()) }
  }

  /** The signal first: an abort surfaces as an ordinary error of the library. */
  #failed(error: unknown): ModelOutcome {
    if (this.#options.signal.aborted) return { ok: false, fault: aborted() }
    return { ok: false, fault: faultOf(error, this.#context()) }
  }

  #take(part: LanguageModelV4StreamPart): ModelFault | null {
    for (const touched of this.#touch(part)) {
      const fault = this.#takeTouched(touched)
      if (fault !== null) return fault
    }
    return null
  }

  #takeTouched(part: LanguageModelV4StreamPart): ModelFault | null {
    const step = this.#round.take(part)
    // That the answer is announced says nothing of when it begins.
    if (step.type === 'event' && part.type !== 'response-metadata') {
      const written = 'delta' in part ? part.delta.length : 0
      this.#patience.part(this.#ports.clock.now(), written, this.#round.isOpen)
    }
    switch (step.type) {
      case 'nothing':
        return null
      case 'event':
        this.#options.on_event?.(step.event)
        return null
      case 'error':
        return faultOf(step.error, this.#context())
      case 'too_much':
        return tooMuchOutput(modelLimits.round.value, this.#context())
    }
  }

  /** One timer that looks how long it is patient, instead of a new timer per event. */
  #watch(over: (fault: ModelFault) => void): void {
    const { clock } = this.#ports
    const look = () => {
      const seen = this.#patience.look(clock.now(), this.#round.isOpen)
      if (seen.is !== 'patient') return over(outOfPatience(seen, this.#context()))
      // A thought that ends makes it less patient than it was.
      this.#stopTimer = clock.after(Math.min(seen.left_ms, modelLimits.stream_idle.value), look)
    }
    look()
  }

  #context(): FaultContext {
    const { provider, secrets } = this.#adapted
    return { provider, secrets, now: this.#ports.clock.now() }
  }
}
