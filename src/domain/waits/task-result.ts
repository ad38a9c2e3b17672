/**
 * The end of a task as a call reads it, or brings it about: what becomes of the message that tells
 * the same. It is used up as any other, by the answer to a request that carries it
 * (turns/shown.ts).
 */
import { openTurn, type Draft } from '../facts/facts.ts'
import { taskResultId, type TaskId } from '../ids.ts'

/**
 * A call of the open turn shows how the task ended. The next request carries the call's result, and
 * its answer uses up the message that tells the same.
 */
export function readResult(d: Draft, task: TaskId): void {
  const [message, turn] = [d.row('messages', taskResultId(task)), openTurn(d)]
  if (message?.status !== 'queued' || turn === null) return
  d.emit({ type: 'message_claimed', id: message.id, turn_id: turn.id, to_coalesce: false })
}

/** The agent itself stopped the task, with proof: its end is no news. */
export function endedByAgent(d: Draft, task: TaskId): void {
  const message = d.row('messages', taskResultId(task))
  if (message?.status !== 'queued') return
  const [turn_id, because] = [openTurn(d)?.id ?? null, stoppedByAgent]
  d.emit({ type: 'message_consumed', id: message.id, turn_id, because })
}

export const stoppedByAgent = 'the agent stopped it'
