/**
 * A model that says what a test scripted. It keeps every request, streams plausible live events,
 * honours the abort signal, and never touches a network or a clock.
 */
import type { ModelPart } from '../ports/model-message.ts'
import type { Json } from '../ports/json.ts'
import type {
  CutAnswer,
  Model,
  ModelEvent,
  ModelFault,
  ModelOutcome,
  ModelRequest,
  ModelRound,
} from '../models/model.ts'

/** `cut`: what broke off had come to so much. A hang with one is cut when it is aborted. */
export type Scripted = ModelRound | (ModelFault & { cut?: CutAnswer }) | 'hang' | Hanging

export type Hanging = { hangs_after: CutAnswer }

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

const abortedOutcome = { ok: false, fault: abortedFault } as const

export function scriptedModel(script: Script): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    requests,
    async request(request, { signal, on_event }) {
      // The caller may go on appending to its messages: keep what was sent.
      requests.push({ ...request, messages: [...request.messages] })
      const n = requests.length
      const stop = untilAborted(signal)
      const scripted = await Promise.race([script(request, n), stop])
      const outcome = scripted === null ? abortedOutcome : await answer(scripted, request, n, stop)
      if (signal.aborted) return outcome.ok ? abortedOutcome : { ...outcome, fault: abortedFault }
      if (outcome.ok) for (const event of eventsOf(outcome.round)) on_event?.(event)
      return outcome
    },
  }
}

async function answer(
  scripted: Scripted,
  request: ModelRequest,
  n: number,
  stop: Promise<null>,
): Promise<ModelOutcome> {
  if (scripted === 'hang') {
    await stop
    return abortedOutcome
  }
  if ('hangs_after' in scripted) {
    await stop
    return { ...abortedOutcome, cut: scripted.hangs_after }
  }
  if ('kind' in scripted) {
    const { cut, ...fault } = scripted
    return { ok: false, fault, ...(cut === undefined ? {} : { cut }) }
  }
  const parts = scripted.parts.map((part, at) =>
    part.type === 'tool_call' && part.provider_call_id === madeUp
      ? { ...part, provider_call_id: `call_${n}_${at + 1}` }
      : part,
  )
  return { ok: true, round: { ...scripted, model: request.model, parts } }
}

/** Resolves with null when the caller gives up. */
function untilAborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    else signal.addEventListener('abort', () => resolve(null), { once: true })
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
  const parts = given.map((item): ModelPart => {
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

/** What had come of an answer that broke off, of which the provider has reported nothing. */
export const cutAfter = (chars: number): CutAnswer => ({
  chars,
  usage: {
    input_tokens: null,
    output_tokens: null,
    reasoning_tokens: null,
    cached_input_tokens: null,
    cache_write_tokens: null,
  },
})

/** A fault with everything defaulted but what matters to the test. */
export const fails = (
  fault: Pick<ModelFault, 'kind' | 'code'> & Partial<ModelFault & { cut: CutAnswer }>,
): ModelFault & { cut?: CutAnswer } => ({
  message: `The provider failed: ${fault.code}.`,
  status: null,
  retry_after_ms: null,
  retryable: fault.kind === 'world' && fault.code !== 'quota',
  ...fault,
})
