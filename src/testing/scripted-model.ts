/**
 * A model that says what a test scripted. It keeps every request, streams plausible live events,
 * honours the abort signal, and never touches a network or a clock.
 */
import type {
  AssistantPart,
  Json,
  Model,
  ModelEvent,
  ModelFault,
  ModelOutcome,
  ModelRequest,
  ModelRound,
} from '../models/model.ts'

export type Scripted = ModelRound | ModelFault | 'hang'

/** `n` counts requests from 1. */
export type Script = (request: ModelRequest, n: number) => Scripted | Promise<Scripted>

export type ScriptedModel = Model & {
  /** Every request so far, oldest first. */
  readonly requests: readonly ModelRequest[]
}

/** Stands for "the model makes one up": `call_<request>_<position>`. */
const madeUp = '\u0000made up'

const abortedFault: ModelFault = {
  kind: 'aborted',
  code: 'aborted',
  message: 'The request was aborted.',
  status: null,
  retry_after_ms: null,
  retryable: false,
}

export function scriptedModel(script: Script): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    requests,
    async request(request, { signal, on_event }) {
      // The caller may go on appending to its messages: keep what was sent.
      requests.push({ ...request, messages: [...request.messages] })
      const n = requests.length
      const outcome = await Promise.race([answer(script, request, n), untilAborted(signal)])
      if (signal.aborted) return { ok: false, fault: abortedFault }
      if (outcome.ok) for (const event of eventsOf(outcome.round)) on_event?.(event)
      return outcome
    },
  }
}

async function answer(script: Script, request: ModelRequest, n: number): Promise<ModelOutcome> {
  const scripted = await script(request, n)
  if (scripted === 'hang') return new Promise(() => {})
  if ('kind' in scripted) return { ok: false, fault: scripted }
  const parts = scripted.parts.map((part, at) =>
    part.type === 'tool_call' && part.provider_call_id === madeUp
      ? { ...part, provider_call_id: `call_${n}_${at + 1}` }
      : part,
  )
  return { ok: true, round: { ...scripted, model: request.model, parts } }
}

function untilAborted(signal: AbortSignal): Promise<ModelOutcome> {
  return new Promise((resolve) => {
    const stop = () => resolve({ ok: false, fault: abortedFault })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

function eventsOf(round: ModelRound): ModelEvent[] {
  return round.parts.map((part): ModelEvent => {
    switch (part.type) {
      case 'text':
        return { type: 'text_delta', text: part.text }
      case 'reasoning':
        return { type: 'reasoning_delta', text: part.text }
      case 'tool_call':
        return { type: 'tool_call_started', tool_name: part.tool_name }
    }
  })
}

/** A round that is text and nothing else. */
export const says = (text: string, more: Partial<ModelRound> = {}): ModelRound => ({
  parts: text === '' ? [] : [{ type: 'text', text }],
  finish: 'stop',
  usage: {
    input_tokens: 100,
    output_tokens: 20,
    reasoning_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  },
  model: 'scripted/model',
  response_id: null,
  ...more,
})

/**
 * One call to make. `input` is serialised; `input_json` goes out as it is, for malformed
 * arguments. `id` is the provider's call id, made up per request when absent; '' is a missing one.
 */
export type ScriptedCall = { name: string; id?: string } & (
  | { input: Json }
  | { input_json: string }
)

/** A round of calls, with text before them when given as the first argument. */
export function calls(...given: readonly (ScriptedCall | string)[]): ModelRound {
  const parts = given.map((item): AssistantPart => {
    if (typeof item === 'string') return { type: 'text', text: item }
    return {
      type: 'tool_call',
      provider_call_id: item.id ?? madeUp,
      tool_name: item.name,
      input_json: 'input_json' in item ? item.input_json : JSON.stringify(item.input),
    }
  })
  return says('', { parts, finish: 'tool_calls' })
}

/** A fault with everything defaulted but what matters to the test. */
export const fails = (
  fault: Pick<ModelFault, 'kind' | 'code'> & Partial<ModelFault>,
): ModelFault => ({
  message: `The provider failed: ${fault.code}.`,
  status: null,
  retry_after_ms: null,
  retryable: fault.kind === 'world' && fault.code !== 'quota',
  ...fault,
})
