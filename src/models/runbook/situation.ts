/**
 * What the runbook model reads of a request's situation: a part of the structured facts a prompt
 * is projected from, every field as of this request (also the item, its plan text and `earlier`
 * after a PickWorkItem in the same turn). Checked once at the door; a wrong shape is a bug.
 */
import type { Agent } from '../../domain/state/agent.ts'
import type { Call } from '../../domain/state/call.ts'
import type { Message } from '../../domain/state/message.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import type { Task } from '../../domain/state/task.ts'
import type { Round, Turn } from '../../domain/state/turn.ts'
import type { Wait } from '../../domain/state/wait.ts'

export type RunbookRound = {
  round: Pick<Round, 'state' | 'parts'>
  calls: readonly Pick<Call, 'tool_name' | 'task_id' | 'result'>[]
}

export type RunbookItem = {
  projection: Pick<Projection, 'item' | 'wait' | 'readiness'>
  plan: Pick<PlanDescriptor, 'problem'>
  /** The newest of the item, oldest first, also ended ones. */
  waits: readonly Wait[]
  tasks: readonly Pick<Task, 'id' | 'cmd' | 'created_at'>[]
}

type Listed = Pick<Projection, 'item' | 'wait'>

export type RunbookSituation = {
  agent: Pick<Agent, 'current_work_item_id'>
  turn: Pick<Turn, 'id' | 'cause'>
  item: RunbookItem | null
  candidates: {
    queued_runnable: readonly Listed[]
    triggered_blocked: readonly Listed[]
    waiting_for_operator: readonly Listed[]
    blocked: readonly Listed[]
  }
  /** Claimed by or interjected into the turn, oldest first. */
  messages: readonly Message[]
  /** Rounds about the turn's item from turns before, oldest first. */
  earlier: readonly RunbookRound[]
  /** Rounds of this turn, oldest first. */
  rounds: readonly RunbookRound[]
  plan_text: string | null
  trigger_url: string | null
}

/** Throws when `value` is no situation: the caller's bug. */
export function asSituation(value: unknown): RunbookSituation {
  if (typeof value !== 'object' || value === null) {
    throw new Error('The runbook model needs the situation of the request, and there is none.')
  }
  const given: Record<string, unknown> = { ...value }
  const isObject = (name: string) => typeof given[name] === 'object' && given[name] !== null
  const wrong = [
    ...['agent', 'turn', 'candidates'].filter((name) => !isObject(name)),
    ...['messages', 'earlier', 'rounds'].filter((name) => !Array.isArray(given[name])),
    ...['item', 'plan_text', 'trigger_url'].filter((name) => given[name] === undefined),
  ]
  if (wrong.length > 0) {
    throw new Error(`The situation of the request lacks ${wrong.join(', ')}.`)
  }
  return value as RunbookSituation
}
