/**
 * Recording a model's answer: the round as it came, its calls with our ids, and for every call
 * that may not run its error result, in one commit with the intent of the first that may.
 */
import {
  errorResult,
  evolveCall,
  type Call,
  type CallEvent,
  type ToolResult,
} from '../../domain/state/call.ts'
import { callsOf, openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { CallId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { settle } from '../../domain/budgets/settle.ts'
import { providerServed } from '../../domain/scheduler/park.ts'
import { useUp } from '../../domain/turns/shown.ts'
import type { AssistantPart, Round, RequestSize, Usage } from '../../domain/state/turn.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { ModelRound } from '../../models/model.ts'
import { validateCall } from '../../tools/registry.ts'
import { advance, finishCall, type StepInputs } from './advance.ts'
import { readyIntent } from './calls.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { TurnRun } from './turn-run.ts'
import { planNow } from './plan-now.ts'
import { idMeant, type Meant } from '../short-ids.ts'

/** A call of the answer, judged: it may run, or here is its result. */
type Recorded = CallEvent & { type: 'call_recorded' }
type Judged = { call: Call; event: Recorded; result: ToolResult | null }

export async function recordRound(
  run: TurnRun,
  round: Round,
  answer: ModelRound,
  sent: RequestSize,
): Promise<void> {
  const { env } = run
  const known = knownProviderIds(env)
  const parts: AssistantPart[] = []
  const judged: Judged[] = []
  const seen = new Set<string>()
  for (const part of ownOrPlain(env, answer.parts)) {
    if (part.type !== 'tool_call') {
      parts.push(part)
      continue
    }
    const id = env.store.mint('call')
    const given = part.provider_call_id
    const repeated = given !== '' && seen.has(given)
    const provider_call_id = given === '' || seen.has(given) || known.has(given) ? id : given
    seen.add(given)
    parts.push({ ...part, provider_call_id })
    const call = { ...part, provider_call_id }
    const why = answer.finish === 'content_filter' ? withheld(part.tool_name) : null
    judged.push(await judge(env, round, call, { id, index: judged.length, repeated, why }))
  }
  const blobs: NewBlob[] = []
  const first = judged.find((entry) => entry.result === null)?.call
  const ready = first && round.kind !== 'report' ? await readyIntent(run, first, blobs) : null
  if (ready?.ok) run.begun.add(ready.call_id)
  const plan = judged.length === 0 ? await planNow(env, blobs) : null
  const usage: Usage = { ...answer.usage, usd: env.paidFor(answer) }
  const recorded = { round, answer, sent, parts, judged, usage }
  const decide = (d: Draft) => commitRound(d, recorded, run.stepInputs({ ready, plan }))
  await env.transact(round.id, decide, { blobs })
}

/**
 * Replacing a secret's value in a thought breaks its signature, and the provider would refuse it:
 * such an answer goes on without the provider's own parts.
 */
function ownOrPlain(
  env: AgentPorts,
  parts: readonly ModelRound['parts'][number][],
): readonly ModelRound['parts'][number][] {
  const isChanged = parts.some((part) => part.type === 'reasoning' && env.redacted(part) !== part)
  if (!isChanged) return parts
  return parts.map(({ provider_metadata: _own, ...part }) => part)
}

function commitRound(
  d: Draft,
  recorded: {
    round: Round
    answer: ModelRound
    sent: RequestSize
    parts: readonly AssistantPart[]
    judged: readonly Judged[]
    usage: Usage
  },
  inputs: StepInputs,
): void {
  const { round, answer, sent, parts, judged, usage } = recorded
  d.emit({
    type: 'round_recorded',
    id: round.id,
    parts,
    finish: answer.finish,
    ...(answer.finish_word === undefined ? {} : { finish_word: answer.finish_word }),
    usage,
    model: answer.model,
    sent,
  })
  providerServed(d)
  settle(d, round, usage)
  useUp(d, round)
  for (const { call, event, result } of judged) {
    d.emit(event)
    if (result !== null) finishCall(d, call, result)
  }
  advance(d, inputs)
}

/** `why`: the result of every call of this answer, which then may not run. */
type Place = { id: CallId; index: number; repeated: boolean; why: ToolResult | null }

const withheld = (name: string): ToolResult =>
  errorResult(
    name,
    'not_executed',
    'withheld',
    'The provider ended this answer by its policy; no call of it runs.',
  )

async function judge(
  env: AgentPorts,
  round: Round,
  part: AssistantPart & { type: 'tool_call' },
  { id, index, repeated, why }: Place,
): Promise<Judged> {
  const verdict = await withWholeIds(env, validateCall(part.tool_name, part.input_json))
  const event: Recorded = {
    type: 'call_recorded',
    id,
    turn_id: round.turn_id,
    work_item_id: openTurn(env.facts())?.work_item_id ?? null,
    round: round.n,
    index,
    provider_call_id: part.provider_call_id,
    tool_name: part.tool_name,
    input: verdict.ok ? verdict.input : null,
    effect_class: verdict.ok ? verdict.tool.effect_class : 'pure',
  }
  // The row as it will be: what a tool's intent may look at before the commit.
  const call = evolveCall(null, event, { at: env.now(), agent_id: env.agent_id })
  return { call, event, result: why ?? refusal(round, part, index, repeated, verdict) }
}

type Verdict = ReturnType<typeof validateCall>

/** The arguments with whole ids where a part of one was given; refused where that fits several. */
async function withWholeIds(env: AgentPorts, verdict: Verdict): Promise<Verdict> {
  if (!verdict.ok || verdict.tool.ids === undefined) return verdict
  const { tool } = verdict
  const input = { ...(verdict.input as Record<string, unknown>) }
  for (const field of verdict.tool.ids(verdict.input)) {
    const given = input[field]
    if (typeof given !== 'string') continue
    const meant = await idMeant(env.store.ledger, env.agent_id, given)
    if (!meant.ok) return { ok: false, result: await severalMeant(env, tool.name, given, meant) }
    input[field] = meant.text
  }
  return { ...verdict, input }
}

async function severalMeant(
  env: AgentPorts,
  name: string,
  given: string,
  { among }: Meant & { ok: false },
): Promise<ToolResult> {
  const names = await env.withShort((short) => among.map(({ id }) => short(id)).join(', '))
  const message = `${given} means more than one: ${names}.`
  return errorResult(name, 'rejected', 'ambiguous_id', message, 'Give one of these.')
}

/** Why a call may not run, first that applies. */
function refusal(
  round: Round,
  part: AssistantPart & { type: 'tool_call' },
  index: number,
  repeated: boolean,
  verdict: Verdict,
): ToolResult | null {
  const name = part.tool_name
  if (round.kind === 'report') {
    return errorResult(
      name,
      'not_executed',
      'report_only',
      'Only the text of the report was asked for; no call runs here.',
    )
  }
  const limit = limits.calls_per_round
  if (index >= limit.value) {
    const message = `This was call ${index + 1} of the round; the limit is ${limit.value}.`
    const hint = 'Make it again in a later round.'
    return errorResult(name, 'not_executed', 'over_limit', message, hint)
  }
  if (repeated) {
    const message = 'The same call id came twice in one answer; the second call did not run.'
    const hint = 'Make the call again if it is wanted.'
    return errorResult(name, 'invalid_input', 'call_id_repeated', message, hint)
  }
  return verdict.ok ? null : verdict.result
}

/** Provider ids used earlier in this turn: some servers begin at one again in every answer. */
function knownProviderIds(env: AgentPorts): Set<string> {
  const turn = openTurn(env.facts())
  return new Set(turn ? callsOf(env.facts(), turn).map((call) => call.provider_call_id) : [])
}
