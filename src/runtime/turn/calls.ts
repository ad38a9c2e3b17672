/**
 * Running the calls of a round: each has its intent in the ledger before it begins and exactly one
 * result after it, whatever happens in between (docs/spec/turn.md#effects, *Effects*).
 */
import { bindCall, bindToTask } from '../../domain/turns/call-binding.ts'
import type { Call, ToolResult } from '../../domain/state/call.ts'
import { charTokens } from '../../context/estimate.ts'
import { wholeResult } from '../../context/result.ts'
import { resultTokens } from '../../context/sections/rounds.ts'
import type { Event, EventType } from '../../domain/state/event.ts'
import { isReported } from '../../domain/work/complete.ts'
import { mustTurn, callsOf, roundsOf, type Draft } from '../../domain/facts/facts.ts'
import { answerText } from '../../domain/state/turn.ts'
import { endTurn, notExecuted, type TurnEnding } from '../../domain/turns/end.ts'
import { mayEndAfterCalls } from '../../domain/turns/step.ts'
import type { PlanStored } from '../../domain/state/work-item.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { toolNamed } from '../../tools/registry.ts'
import { intentByPolicy } from '../../tools/tool/policy.ts'
import type {
  CallFrame,
  Closing,
  EffectOutcome,
  EffectTool,
  StoreTool,
} from '../../tools/tool/tool.ts'
import { faultResult } from '../fault-result.ts'
import { advance, finishCall, type ReadyIntent } from './advance.ts'
import type { TurnRun } from './turn-run.ts'
import { planNow } from './plan-now.ts'
import { toolContext } from './tool-context.ts'

/**
 * Works out the intent of an effect call; null for a store call, which needs none. `blobs` gets
 * what the intent names, for the commit that records it.
 */
export async function readyIntent(
  run: TurnRun,
  call: Call,
  blobs: NewBlob[],
): Promise<ReadyIntent | null> {
  const tool = toolNamed(call.tool_name)
  if (tool?.kind !== 'effect') return null
  try {
    const ctx = toolContext(run, call, blobs, blobs)
    // What a command comes to is known once its shell is: its tool sees to it.
    const isCommand = tool.name === 'ExecCommand'
    const ready = isCommand ? await tool.intent(call.input, ctx) : await intentByPolicy(tool, ctx)
    return { call_id: call.id, ...ready }
  } catch (error) {
    return { call_id: call.id, ok: false, result: faultResult(call, error) }
  }
}

/** Records the intent of a call that was found without one. */
export async function startCall(run: TurnRun, call: Call): Promise<void> {
  const blobs: NewBlob[] = []
  const ready = await readyIntent(run, call, blobs)
  if (ready?.ok) run.begun.add(call.id)
  const plan = await planNow(run.env, blobs)
  await run.env.transact(call.id, (d) => advance(d, run.stepInputs({ ready, plan })), { blobs })
}

/** Carries out a call whose intent is recorded, and commits its outcome with what follows. */
export async function runCall(run: TurnRun, call: Call): Promise<void> {
  const tool = toolNamed(call.tool_name)
  if (!tool) throw new Error(`${call.id} names ${call.tool_name}, which is no tool`)
  if (tool.kind === 'store') await runStore(run, call, tool)
  else await runEffect(run, call, tool)
}

async function runEffect(run: TurnRun, call: Call, tool: EffectTool): Promise<void> {
  const blobs: NewBlob[] = []
  const ctx = toolContext(run, call, null, blobs)
  const first = call.attempts === 1 && run.begun.has(call.id)
  const outcome = await run.env.effect(`${tool.name} ${call.id}`, async () => {
    try {
      return first
        ? await tool.run(call.input, call.intent, ctx)
        : await tool.recover(call.input, call.intent, ctx)
    } catch (error) {
      return { result: faultResult(call, error), result_hash: null, changed_something: false }
    }
  })
  run.begun.delete(call.id)
  await keepWhole(run, call, outcome.result)
  if (!first) tellRecovered(run, call, outcome.result)
  const inputs = run.stepInputs(await nextIntent(run, call, blobs))
  const about = tool.about_task?.(call.input)
  const decide = (d: Draft) => {
    if (about !== undefined) bindToTask(d, call, about)
    finishEffect(d, call, outcome)
    // An aborted run ends in its own commit: nothing further begins.
    if (!run.isAborted) advance(d, inputs)
  }
  const needs = about === undefined ? [] : [['tasks', about] as const]
  await run.env.transact(call.id, decide, { needs, blobs })
}

function finishEffect(d: Draft, call: Call, outcome: EffectOutcome): void {
  outcome.settle?.(d)
  const { result_hash, changed_something } = outcome
  finishCall(d, call, outcome.result, { result_hash, changed_something })
}

/** A result that the model is shown cut has its whole text in a file that the cut line names. */
async function keepWhole(run: TurnRun, call: Call, result: ToolResult): Promise<void> {
  if (call.task_id !== null) return
  const text = wholeResult(result)
  if (charTokens(text) > resultTokens(call)) await toolContext(run, call).keepOutput(text)
}

/** The next request says what became of a call that was under way when the process ended. */
function tellRecovered(run: TurnRun, call: Call, result: ToolResult): void {
  const became = result.status === 'success' ? 'result' : result.error.kind
  run.recovered({ tool_name: call.tool_name, became })
}

/**
 * The intent of the round's next call, so that it is recorded with this one's outcome. Only behind
 * an effect: a call that decides on rows may change what the next one is about, so that one's
 * intent is worked out once the decision is in the ledger.
 */
async function nextIntent(
  run: TurnRun,
  call: Call,
  blobs: NewBlob[],
): Promise<{ ready: ReadyIntent | null; plan: PlanStored | null }> {
  const turn = mustTurn(run.env.facts())
  const calls = callsOf(run.env.facts(), turn, call.round)
  const next = calls.find((other) => other.index > call.index && other.state === 'recorded')
  if (!next) {
    return {
      ready: null,
      plan: mayEndAfterCalls(run.env.facts()) ? await planNow(run.env, blobs) : null,
    }
  }
  const ready = await readyIntent(run, next, blobs)
  if (ready?.ok) run.begun.add(next.id)
  return { ready, plan: null }
}

async function runStore(run: TurnRun, call: Call, tool: StoreTool): Promise<void> {
  const blobs: NewBlob[] = []
  const ctx = toolContext(run, call, blobs)
  const prepared = await run.env.effect(`${tool.name} ${call.id}`, () =>
    tool.prepare(call.input, ctx),
  )
  // What it waited for goes on: the next process meets the same call, and waits again.
  if (run.isClosing && tool.is_cut?.(prepared) === true) return
  const plan = await planNow(run.env, blobs)
  const rest = tool.may_close ? await prepareCompletions(run, call, blobs) : none
  const needs = neededRows(call.input)
  await run.env.transact(
    call.id,
    (d) => {
      const closes = decideStore(d, run, call, tool, prepared)
      if (closes === null) {
        advance(d, run.stepInputs({ plan }))
        return
      }
      closeRound(d, run, call, rest)
      if (!closes.ask_report) endTurn(d, ending(d, call, closes, plan))
      else advance(d, run.stepInputs({ plan }))
    },
    { needs, blobs },
  )
}

const none: ReadonlyMap<string, unknown> = new Map()

function ending(d: Draft, call: Call, closes: Closing, plan: PlanStored | null): TurnEnding {
  const { outcome, reason, text } = closes
  const isTold = isReported(d, callsOf(d, mustTurn(d), call.round), text)
  return { outcome, reason, text: isTold ? '' : text, plan }
}

function decideStore(
  d: Draft,
  run: TurnRun,
  call: Call,
  tool: StoreTool,
  prepared: unknown,
): Closing | null {
  const before = d.emitted.length
  const { result, closes } = tool.decide(d, call.input, frameOf(d, run, call), prepared)
  const emitted = d.emitted.slice(before).map(({ event }) => event)
  const changed = changesRecord(emitted)
  bindCall(d, call, emitted)
  finishCall(d, call, result, { result_hash: null, changed_something: changed })
  return closes
}

/**
 * Whether a store call changed a record, for the progress rule. Moving focus is no progress, and
 * neither is a wait that was answered in the call.
 */
function changesRecord(events: readonly Event[]): boolean {
  const answered = new Set(
    events.flatMap((event) => (event.type === 'wait_resolved' ? [event.id] : [])),
  )
  return events.some(
    (event) =>
      recordChanges.has(event.type) ||
      (event.type === 'wait_registered' && !answered.has(event.id)),
  )
}

const recordChanges: ReadonlySet<EventType> = new Set<EventType>([
  'work_item_created',
  'work_item_updated',
  'work_item_completed',
  'plan_changed',
  'wait_rearmed',
  'wait_cancelled',
])

/** After a closing call: further completions run, every other call gets `not_executed`. */
function closeRound(d: Draft, run: TurnRun, call: Call, rest: ReadonlyMap<string, unknown>): void {
  const turn = mustTurn(d)
  for (const other of callsOf(d, turn, call.round)) {
    if (other.state === 'finished' || other.id === call.id) continue
    const tool = toolNamed(other.tool_name)
    if (tool?.kind === 'store' && rest.has(other.id)) {
      decideStore(d, run, other, tool, rest.get(other.id))
    } else {
      notExecuted(d, other, `${call.tool_name} ended the turn before this call.`)
    }
  }
}

/** CompleteWorkItem calls behind this one still run in a closed round. */
async function prepareCompletions(
  run: TurnRun,
  call: Call,
  blobs: NewBlob[],
): Promise<ReadonlyMap<string, unknown>> {
  const turn = mustTurn(run.env.facts())
  const later = callsOf(run.env.facts(), turn, call.round).filter(
    (other) =>
      other.index > call.index &&
      other.state !== 'finished' &&
      other.tool_name === 'CompleteWorkItem',
  )
  const prepared = new Map<string, unknown>()
  for (const other of later) {
    const tool = toolNamed(other.tool_name)
    if (tool?.kind !== 'store') continue
    prepared.set(other.id, await tool.prepare(other.input, toolContext(run, other, blobs)))
  }
  return prepared
}

/** Rows that the arguments name and that may be too old to be among the live facts. */
function neededRows(input: unknown): (readonly ['work_items', string])[] {
  if (typeof input !== 'object' || input === null) return []
  const { work_item_id } = input as { work_item_id?: unknown }
  return typeof work_item_id === 'string' ? [['work_items', work_item_id] as const] : []
}

function frameOf(d: Draft, run: TurnRun, call: Call): CallFrame {
  const turn = mustTurn(d)
  const rounds = roundsOf(d, turn)
  const round = rounds.find((r) => r.n === call.round)
  return {
    turn,
    call,
    round_text: round ? answerText(rounds, round) : '',
    round_calls: callsOf(d, turn, call.round),
    has_listener: run.env.ports.has_listener,
  }
}
