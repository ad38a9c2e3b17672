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
import type { FaultContext } from './fault.ts'
import { aborted, faultOf, streamBroken, streamHung, tooMuchOutput } from './fault.ts'
import { modelLimits } from './limits.ts'
import type {
  Model,
  ModelClock,
  ModelFault,
  ModelOptions,
  ModelOutcome,
  ModelRequest,
} from './model.ts'
import { promptOf, toolOf } from './prompt.ts'
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
  /** Last touch on the prompt, such as cache marks. Must be pure. */
  last_touch?: (prompt: LanguageModelV4Prompt) => LanguageModelV4Prompt
  /**
   * Makes the first touch on each part of one answer, which then comes with its raw chunks: what
   * the provider sent, each ahead of the parts that the library makes of it.
   */
  first_touch?: () => (part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart
}

export type AdapterPorts = {
  clock: ModelClock
  /** Milliseconds; default `modelLimits.stream_idle`. */
  idle_ms?: number
  /** Milliseconds; default `modelLimits.thinking_idle`. */
  thinking_idle_ms?: number
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
  const prompt = promptOf(request)
  const tools = request.tools.map(toolOf)
  return {
    prompt: adapted.last_touch ? adapted.last_touch(prompt) : prompt,
    ...(tools.length > 0 && { tools, toolChoice: { type: request.tool_choice } }),
    ...(request.max_output_tokens !== null && { maxOutputTokens: request.max_output_tokens }),
    ...(adapted.first_touch && { includeRawChunks: true }),
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
  readonly #touch: ((part: LanguageModelV4StreamPart) => LanguageModelV4StreamPart) | undefined
  readonly #wire = new AbortController()
  #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart> | null = null
  #over = false
  #lastSign: number
  #stopTimer: () => void = () => {}

  constructor(adapted: Adapted, ports: AdapterPorts, request: ModelRequest, options: ModelOptions) {
    this.#adapted = adapted
    this.#ports = ports
    this.#options = options
    this.#round = new RoundBuilder(request.model)
    this.#touch = adapted.first_touch?.()
    this.#lastSign = ports.clock.now()
  }

  async run(call: LanguageModelV4CallOptions): Promise<ModelOutcome> {
    const { signal } = this.#options
    const halt = Promise.withResolvers<ModelOutcome>()
    const onAbort = () => halt.resolve({ ok: false, fault: aborted() })
    signal.addEventListener('abort', onAbort, { once: true })
    this.#watch((idleMs) => {
      halt.resolve({ ok: false, fault: streamHung(idleMs, this.#context()) })
    })

    // The library may not notice an abort for a while, and a hung stream notices nothing: the
    // outcome does not wait for it.
    const outcome = await Promise.race([halt.promise, this.#exchange(call)]).finally(() => {
      this.#over = true
      this.#stopTimer()
      signal.removeEventListener('abort', onAbort)
    })
    if (!outcome.ok) {
      this.#wire.abort()
      this.#reader?.cancel().catch(ignored)
    }
    return outcome
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
    const step = this.#round.take(this.#touch?.(part) ?? part)
    switch (step.type) {
      case 'nothing':
        return null
      case 'event':
        this.#lastSign = this.#ports.clock.now()
        this.#options.on_event?.(step.event)
        return null
      case 'error':
        return faultOf(step.error, this.#context())
      case 'too_much':
        return tooMuchOutput(modelLimits.round.value, this.#context())
    }
  }

  /** One timer that looks when the last sign was, instead of a new timer per event. */
  #watch(hung: (idleMs: number) => void): void {
    const {
      clock,
      idle_ms = modelLimits.stream_idle.value,
      thinking_idle_ms = modelLimits.thinking_idle.value,
    } = this.#ports
    const look = () => {
      const allowed = this.#round.thinking ? Math.max(idle_ms, thinking_idle_ms) : idle_ms
      const left = this.#lastSign + allowed - clock.now()
      if (left <= 0) hung(allowed)
      else this.#stopTimer = clock.after(Math.min(left, idle_ms), look)
    }
    this.#stopTimer = clock.after(idle_ms, look)
  }

  #context(): FaultContext {
    const { provider, secrets } = this.#adapted
    return { provider, secrets, now: this.#ports.clock.now() }
  }
}
