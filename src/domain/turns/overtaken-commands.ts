/**
 * Overtaken commands: words that come in move a foreground command to the background at once, and
 * the calls behind it in the answer, which were to run after it, run while it still does.
 */
import type { Call } from '../state/call.ts'
import { callsOf, roundsOf, type Facts } from '../facts/facts.ts'
import type { TaskId } from '../ids.ts'
import { limits } from '../limits.ts'
import { between } from '../time.ts'
import type { Turn } from '../state/turn.ts'

/** Commands of the newest round that a call behind them did not wait for, in order. */
export function overtaken(facts: Facts, turn: Turn): TaskId[] {
  const last = roundsOf(facts, turn).at(-1)
  const calls = last === undefined ? [] : callsOf(facts, turn, last.n)
  return calls.flatMap((call) => {
    const task = facts.row('tasks', call.task_id ?? '')
    if (call.tool_name !== 'ExecCommand' || task?.promoted !== true || isOver(call)) return []
    const behind = calls.find(({ index, started_at, effect_class }) => {
      // What only decides on rows has no files or processes in common with it.
      if (index <= call.index || started_at === null || effect_class === 'idempotent') return false
      return task.ended_at === null || task.ended_at > started_at
    })
    return behind === undefined ? [] : [task.id]
  })
}

/** Whether its window was over: that it went to the background then was to be expected. */
function isOver({ input, started_at, finished_at }: Call): boolean {
  const { yield_ms = limits.yield.value } = input as { yield_ms?: number }
  if (started_at === null || finished_at === null) return true
  return between(started_at, finished_at) >= yield_ms
}
