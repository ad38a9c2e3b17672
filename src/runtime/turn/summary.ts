/**
 * Asks the configured model for the summary of a compaction (docs/spec/context.md#compaction):
 * once, within a time limit, under the turn's abort signal, and only where the budget has room;
 * whatever goes wrong is a reason and never a fault of the turn. What it costs is reserved here and
 * settled by the caller, in the commit of the compaction.
 */
import { charTokens } from '../../context/estimate.ts'
import { contextLimits } from '../../context/limits.ts'
import type { RoundView } from '../../context/sections/situation.ts'
import {
  summaryOf,
  summarySource,
  summarySystem,
  type Summary,
} from '../../context/compaction/summary.ts'
import { mustTurn } from '../../domain/facts/facts.ts'
import { limits } from '../../domain/limits.ts'
import {
  leavesRoom,
  reserveSummary,
  type SummaryEstimate,
} from '../../domain/budgets/settle-summary.ts'
import type { Short } from '../../domain/state/short-id.ts'
import type { Round, SummaryUse } from '../../domain/state/turn.ts'
import type { Model, ModelOutcome, ModelRequest } from '../../models/model.ts'
import { charged } from './charged.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { TurnRun } from './turn-run.ts'

/** `paid`: what a request that was made took, for the commit; null where none was made. */
export type SummaryOutcome =
  | { kind: 'done'; summary: Summary; paid: Paid | null }
  /** The turn's own signal ended it: nothing is compacted now. */
  | { kind: 'aborted' }

export type Paid = { use: SummaryUse; estimate: SummaryEstimate }

/** Rounds that go out of a request of `beside` tokens; the text has at most `max_tokens`. */
export type Wanted = {
  rounds: readonly RoundView[]
  max_tokens: number
  fence: string
  beside: number
}

export async function askSummary(
  run: TurnRun,
  id: string,
  round: Round,
  wanted: Wanted,
): Promise<SummaryOutcome> {
  const { env } = run
  const none = (why: string): SummaryOutcome => ({
    kind: 'done',
    summary: { kind: 'none', why },
    paid: null,
  })
  if (round.summary !== undefined) return none('one was asked for this request already')
  const opened = await env.ports.models.open(id)
  if (!opened.ok) return none(opened.message)
  if (opened.model.reads_situation) return none(`${id} writes none`)
  const request = await env.withShort((short) => requestOf(env, id, wanted, short))
  const estimate = estimateOf(env, request, wanted.beside)
  const turn = mustTurn(env.facts())
  if (!leavesRoom(env.facts(), turn, round, estimate, env.now())) {
    return none('the budget has no room for it')
  }
  await env.transact(round.id, (d) => reserveSummary(d, turn, round, estimate))
  const model = charged(env, opened.model, round, tokensOf(request))
  const outcome = await env.effect(`summary ${round.id}`, () => withinTime(run, model, request))
  if (outcome === 'late' || !outcome.ok) {
    if (run.signal.aborted) return { kind: 'aborted' }
    const seconds = limits.summary_time.value / 1_000
    const why = outcome === 'late' ? `none came within ${seconds} s` : outcome.fault.message
    const paid = { use: { model: id, usage: null }, estimate }
    return { kind: 'done', summary: { kind: 'none', why }, paid }
  }
  const answer = env.redacted(outcome.round)
  const usage = { ...answer.usage, usd: env.paidFor({ ...answer, model: id }) }
  const summary = summaryOf(
    { ...answer, model: id },
    {
      tokens: charTokens,
      max_tokens: wanted.max_tokens,
    },
  )
  return { kind: 'done', summary, paid: { use: { model: id, usage }, estimate } }
}

function requestOf(
  env: AgentPorts,
  model: string,
  { rounds, max_tokens, fence }: Wanted,
  short: Short,
): ModelRequest {
  const { context_window, max_output } = env.ports.models.facts(model)
  const output = Math.min(
    contextLimits.summary_output.value,
    Math.floor(context_window / 4),
    max_output ?? Infinity,
  )
  // Half of the window, since the estimate of a foreign tokenizer may be far off.
  const source = Math.min(contextLimits.summary_source.value, Math.floor(context_window / 2))
  const content = summarySource(rounds, { tokens: charTokens, max_tokens: source, fence, short })
  return {
    model,
    system: summarySystem(max_tokens),
    tools: [],
    tool_choice: 'none',
    messages: [{ role: 'user', content }],
    max_output_tokens: output,
    situation: null,
  }
}

function estimateOf(env: AgentPorts, request: ModelRequest, beside: number): SummaryEstimate {
  const input_tokens = tokensOf(request)
  const output_tokens = request.max_output_tokens ?? contextLimits.summary_output.value
  const unknown = { reasoning_tokens: null, cached_input_tokens: null, cache_write_tokens: null }
  const usd = env.ports.models.price(request.model, { input_tokens, output_tokens, ...unknown })
  return { tokens: input_tokens + output_tokens, usd, beside }
}

/** Of a request that is text only, by estimate. */
function tokensOf({ system, messages }: ModelRequest): number {
  const text = messages.map((one) => (one.role === 'user' ? one.content : '')).join('')
  return charTokens(system) + charTokens(text)
}

/** `late`: the limit ended it; the turn's signal ends it as a fault. */
async function withinTime(
  run: TurnRun,
  model: Model,
  request: ModelRequest,
): Promise<ModelOutcome | 'late'> {
  const limit = new AbortController()
  const cancel = run.env.ports.clock.after(limits.summary_time.value, () => limit.abort())
  try {
    const signal = AbortSignal.any([run.signal, limit.signal])
    const outcome = await model.request(request, { signal })
    return !outcome.ok && limit.signal.aborted ? 'late' : outcome
  } finally {
    cancel()
  }
}
