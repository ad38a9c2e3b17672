/**
 * The deterministic model: a Markdown runbook carried out through the same tools as any model,
 * with no key, no network and no tokens. The object holds nothing; a round is a function of the
 * request's situation (decide.ts), so a run survives any crash.
 */
import type { ModelPart } from '../../ports/model-message.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { Model, ModelOutcome, ModelRequest } from '../model.ts'
import { decideRound, type DecidedRound } from './decide.ts'
import { written } from './memo.ts'
import { asSituation } from './situation.ts'

/** What a request costs: nothing, and that is known. */
const noTokens = {
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
} as const

const aborted: ModelOutcome = {
  ok: false,
  fault: {
    kind: 'aborted',
    code: 'aborted',
    message: 'The request was aborted.',
    status: null,
    retry_after_ms: null,
    retryable: false,
  },
}

/** Rejects only when `request.situation` is no situation. Never answers with a fault of its own. */
export function runbookModel(): Model {
  return {
    reads_situation: true,
    async request(request, { signal, on_event }) {
      if (signal.aborted) return aborted
      const situation = asSituation(request.situation)
      const decided = decideRound(situation, request.tool_choice)
      const parts = partsOf(decided, situation.turn.id)
      for (const part of parts) {
        if (part.type === 'text') on_event?.({ type: 'text_delta', text: part.text })
        if (part.type === 'tool_call') {
          on_event?.({ type: 'tool_call_started', tool_name: part.tool_name })
        }
      }
      return { ok: true, round: roundOf(request, parts, decided) }
    },
  }
}

const roundOf = (request: ModelRequest, parts: readonly ModelPart[], decided: DecidedRound) => ({
  parts,
  finish: decided.calls.length > 0 ? ('tool_calls' as const) : ('stop' as const),
  usage: noTokens,
  model: request.model,
  response_id: null,
})

/** The text, then the calls; the first part carries the memory. */
function partsOf(decided: DecidedRound, turn: string): ModelPart[] {
  const { text, calls, memo, before, round } = decided
  const parts: ModelPart[] = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ tool_name, input }, index) => ({
      type: 'tool_call' as const,
      provider_call_id: `${turn}-${round}-${index + 1}`,
      tool_name,
      input_json: JSON.stringify(input),
    })),
  ]
  const mayEndTurn = !calls.some(({ tool_name }) => tool_name === 'ExecCommand')
  const provider_metadata: JsonObject = written(memo, before, round, mayEndTurn)
  return parts.map((part, index) => (index === 0 ? { ...part, provider_metadata } : part))
}
