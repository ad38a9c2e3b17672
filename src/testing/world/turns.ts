/**
 * Turns for tests of the rules: what the runtime does around a model, without one. Each function
 * is one or two commits of the real rules (start, request, answer, calls, end).
 */
import assert from 'node:assert/strict'
import { succeeded, type Call, type ToolResult } from '../../domain/state/call.ts'
import { callsOf, openTurn, roundsOf, type Draft } from '../../domain/facts/facts.ts'
import { endTask } from '../../domain/inbox/admit.ts'
import { reserve, settle, untold } from '../../domain/budgets/settle.ts'
import { next, type Start } from '../../domain/scheduler/next.ts'
import { survey } from '../../domain/scheduler/survey.ts'
import type { Task, TaskEnd } from '../../domain/state/task.ts'
import { roundId, type AssistantPart, type Finish } from '../../domain/state/turn.ts'
import type { Round, RoundKind, Turn, Usage } from '../../domain/state/turn.ts'
import { endTurn, type TurnEnding } from '../../domain/turns/end.ts'
import { startTurn } from '../../domain/turns/start.ts'
import { carryClaimed, carryInterjected, useUp } from '../../domain/turns/shown.ts'
import { isRejection } from '../../domain/rejection.ts'
import type { World } from './agent-world.ts'
import { callRecorded, requestSent } from '../events.ts'

const someUsage: Usage = {
  input_tokens: 100,
  output_tokens: 10,
  reasoning_tokens: 0,
  cached_input_tokens: 50,
  cache_write_tokens: 0,
  usd: 0.01,
}

/** Starts the turn the scheduler wants now; `rule` says which one the test expects. */
export function begin(w: World, rule?: Start['rule']): Turn {
  const s = survey(w.facts, w.now, false)
  const decision = next(w.facts, w.now, false)
  if (decision.do !== 'start_turn') assert.fail(`${decision.do}: ${decision.because}`)
  if (rule) assert.equal(decision.start.rule, rule, decision.because)
  const id = w.do((d) => startTurn(d, s, decision, 'test/model'))
  return w.row('turns', id)
}

export function turnOf(w: World): Turn {
  const turn = openTurn(w.facts)
  assert.ok(turn, 'no turn is open')
  return turn
}

/** Records the intent of a request, with what it shows. */
export function ask(w: World, kind: RoundKind = 'work'): Round {
  const turn = turnOf(w)
  const n = (roundsOf(w.facts, turn).at(-1)?.n ?? 0) + 1
  w.do((d) => {
    if (n === 1) carryClaimed(d, turn)
    else carryInterjected(d, turn, n)
    const { work_item_id, model } = turn
    d.emit(requestSent(turn.id, n, { work_item_id, kind, model }))
    reserve(d, turn, roundId(turn.id, n), 90, untold(d, turn, d.now))
  })
  return w.row('rounds', roundId(turn.id, n))
}

export type PlannedCall = { tool: string; input?: object }

/** Records the answer to the last request. */
export function answer(
  w: World,
  given: { text?: string; calls?: readonly PlannedCall[]; finish?: Finish } = {},
): Call[] {
  const turn = turnOf(w)
  const round = roundsOf(w.facts, turn).at(-1)
  assert.ok(round?.state === 'requested', 'no request is open')
  const calls = given.calls ?? []
  const parts: AssistantPart[] = given.text ? [{ type: 'text', text: given.text }] : []
  w.do((d) => {
    d.emit({
      type: 'round_recorded',
      id: round.id,
      parts,
      finish: given.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      usage: someUsage,
      model: turn.model,
    })
    settle(d, round, someUsage)
    useUp(d, round)
    for (const [index, call] of calls.entries()) {
      const id = d.mint('call')
      const given = { id, provider_call_id: id, work_item_id: turn.work_item_id }
      const { tool: tool_name, input = {} } = call
      const what = { tool_name, input, effect_class: 'idempotent' } as const
      d.emit(callRecorded(turn.id, round.n, index, { ...given, ...what }))
    }
  })
  return callsOf(w.facts, turn, round.n)
}

export type CallResult = { result?: ToolResult; changed?: boolean; hash?: string }

/** Runs a recorded call: intent, then its effect and outcome in one commit. */
export function run<T>(w: World, call: Call, decide: (d: Draft) => T, outcome: CallResult = {}): T {
  w.do((d) => start(d, call))
  return w.do((d) => {
    const value = decide(d)
    finish(d, call, value, outcome)
    return { value }
  }).value
}

const start = (d: Draft, call: Call): void =>
  d.emit({
    type: 'call_started',
    id: call.id,
    intent: null,
    task_id: null,
    work_item_id: openTurn(d)?.work_item_id ?? null,
  })

function finish(d: Draft, call: Call, value: unknown, outcome: CallResult): void {
  const refusal = isRejection(value)
  const result: ToolResult = refusal
    ? {
        tool_name: call.tool_name,
        status: 'error',
        summary: value.message,
        error: {
          kind: 'rejected',
          code: value.code,
          message: value.message,
          hint: value.hint,
          retryable: false,
        },
      }
    : succeeded(call.tool_name, 'done', value ?? null)
  const moved = d.emitted.some(
    ({ event }) => event.type.startsWith('work_item_') || event.type.startsWith('wait_'),
  )
  d.emit({
    type: 'call_finished',
    id: call.id,
    result: outcome.result ?? result,
    result_hash: outcome.hash ?? null,
    changed_something: outcome.changed ?? moved,
  })
}

/** One round with one call, run to its end. */
export function act<T>(
  w: World,
  planned: PlannedCall & { text?: string },
  decide: (d: Draft) => T,
  outcome: CallResult = {},
): T {
  ask(w)
  const [call] = answer(w, { text: planned.text ?? '', calls: [planned] })
  assert.ok(call)
  return run(w, call, decide, outcome)
}

export const end = (w: World, ending: Partial<TurnEnding> = {}): void =>
  w.do((d) => endTurn(d, { outcome: 'completed', reason: null, text: '', plan: null, ...ending }))

/** A whole turn of one answer: in words, or with a call that changed something. */
export function turn(
  w: World,
  given: { rule?: Start['rule']; text?: string; progress?: boolean } = {},
): Turn {
  const { id } = begin(w, given.rule)
  if (given.progress) {
    act(w, { tool: 'EditFile' }, () => undefined, { changed: true })
  }
  ask(w)
  const text = given.text ?? 'I looked at it.'
  answer(w, { text })
  end(w, { text })
  return w.row('turns', id)
}

/** The task ends; it ran for as long as the clock moved since it started. */
export function taskEnds(w: World, task: Task, status: TaskEnd = 'completed'): void {
  w.do((d) =>
    endTask(d, {
      task_id: task.id,
      status,
      reason: null,
      exit_status: 0,
      output_bytes: 7,
      ended_at: d.now,
      body: `${task.id} ended`,
    }),
  )
}
