/**
 * Rules of the operator's acts on worktrees, as far as rows can say (docs/spec/agent.md#worktrees):
 * which one is meant, and whether its task is over. What would be lost with it, git says when it is
 * looked at.
 */
import { callsOf, openTurn, type Facts } from '../facts/facts.ts'
import { isTerminal } from '../state/task.ts'
import { no, type Rejection } from '../rejection.ts'
import { isGone, isRestoring, type Worktree, type WorktreeSnapshot } from '../state/worktree.ts'

type Found = { ok: true; worktree: Worktree }

function worktreeOf(facts: Facts, id: string): Found | Rejection {
  const worktree = facts.row('worktrees', id)
  if (worktree && worktree.agent_id === facts.agent_id) return { ok: true, worktree }
  return no('worktree_not_found', `${id} has no worktree of ${facts.agent_id}.`)
}

/** One that git made and that is still there. */
export function standing(facts: Facts, id: string): Found | Rejection {
  const found = worktreeOf(facts, id)
  if (!found.ok) return found
  const { worktree } = found
  if (isGone(worktree)) {
    return no('worktree_over', `${id} is ${worktree.state} already: ${worktree.reason}.`)
  }
  if (worktree.state !== 'planned') return found
  const what = isRestoring(worktree) ? 'brought back' : 'made'
  return no('worktree_leased', `${id} is still being ${what}.`)
}

/** One that may go: its child is over. Commands that work in it are its caller's to find. */
export function leavable(facts: Facts, id: string): Found | Rejection {
  const found = worktreeOf(facts, id)
  if (!found.ok) return found
  const { worktree } = found
  const isUnused = worktree.state === 'planned' && !isRestoring(worktree)
  if (isUnused && !spawning(facts)) return found
  const stands = standing(facts, id)
  if (!stands.ok) return stands
  const task = facts.row('tasks', id)
  if (!task || isTerminal(task)) return found
  const { child_agent_id } = worktree
  return no('worktree_leased', `${child_agent_id} works in it: ${id} is ${task.status}.`)
}

/** A spawn of the open turn may be on the way to using it. */
function spawning(facts: Facts): boolean {
  const turn = openTurn(facts)
  if (turn === null) return false
  return callsOf(facts, turn).some(
    (call) => call.state === 'started' && call.tool_name === 'SpawnAgent',
  )
}

/** One that is gone and has a snapshot, or is on its way back: whoever asks again goes on. */
export function restorable(
  facts: Facts,
  id: string,
): (Found & { snapshot: WorktreeSnapshot }) | Rejection {
  const found = worktreeOf(facts, id)
  if (!found.ok) return found
  const { worktree } = found
  if (!isGone(worktree) && !isRestoring(worktree))
    return no('worktree_stands', `${id} is there: ${worktree.path}.`)
  const { snapshot } = worktree
  if (snapshot !== null) return { ...found, snapshot }
  return no('worktree_no_snapshot', `${id} was ${worktree.state}: ${worktree.reason}.`)
}
