/**
 * Worktree: a child's own working tree of a repository, owned by the task that supervises the child
 * (contracts 9). The row is the intent and what became of it; git itself is in `exec`. It ends
 * removed (nothing was in it that is not merged) or discarded (a snapshot has what was in it); a
 * restored one is kept again until it ends again.
 */
import type { AgentId, TaskId } from './ids.ts'
import type { Timestamp } from './time.ts'

export type WorktreeEnd = 'removed' | 'discarded'
/** `kept`: its task is over, and it holds what would be lost. */
export type WorktreeRowState = 'planned' | 'ready' | 'kept' | WorktreeEnd

export type WorktreeSnapshot = { ref: string; commit: string }

export type Worktree = {
  /** Of the supervising task: a task has at most one. */
  id: TaskId
  /** The parent: its commits write the row. */
  agent_id: AgentId
  child_agent_id: AgentId
  /** The git folder all worktrees of the repository share. */
  repository: string
  path: string
  branch: string
  /** Null until git made it. */
  base_commit: string | null
  state: WorktreeRowState
  /** Why it is kept, or was removed or discarded. */
  reason: string | null
  /** The last one taken. */
  snapshot: WorktreeSnapshot | null
  created_at: Timestamp
  ended_at: Timestamp | null
}

export type WorktreeEvent =
  | {
      type: 'worktree_planned'
      id: TaskId
      child_agent_id: AgentId
      repository: string
      path: string
      branch: string
    }
  | { type: 'worktree_made'; id: TaskId; base_commit: string }
  | { type: 'worktree_kept'; id: TaskId; reason: string }
  | { type: 'worktree_snapshotted'; id: TaskId; snapshot: WorktreeSnapshot }
  | { type: 'worktree_removed'; id: TaskId; by: 'runtime' | 'operator'; reason: string }
  | { type: 'worktree_discarded'; id: TaskId; by: 'runtime' | 'operator'; reason: string }
  | { type: 'worktree_restored'; id: TaskId; path: string; branch: string; reason: string }

/** Which states an event may find. */
const finds: Readonly<
  Record<Exclude<WorktreeEvent['type'], 'worktree_planned'>, readonly WorktreeRowState[]>
> = {
  worktree_made: ['planned'],
  worktree_kept: ['ready', 'kept'],
  worktree_snapshotted: ['ready', 'kept'],
  // A planned one may end before git made it: its child ended first.
  worktree_removed: ['planned', 'ready', 'kept'],
  worktree_discarded: ['ready', 'kept'],
  worktree_restored: ['removed', 'discarded'],
}

export const isGone = (worktree: Pick<Worktree, 'state'>): boolean =>
  worktree.state === 'removed' || worktree.state === 'discarded'

export function evolveWorktree(
  worktree: Worktree | null,
  event: WorktreeEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Worktree {
  if (event.type === 'worktree_planned') {
    if (worktree !== null) throw new Error(`${event.type} twice: ${event.id}`)
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      base_commit: null,
      state: 'planned',
      reason: null,
      snapshot: null,
      created_at: meta.at,
      ended_at: null,
    }
  }
  if (worktree === null) throw new Error(`${event.type} before worktree_planned: ${event.id}`)
  if (!finds[event.type].includes(worktree.state)) {
    throw new Error(`${event.type} of ${event.id}, which is ${worktree.state}`)
  }
  switch (event.type) {
    case 'worktree_made':
      return { ...worktree, state: 'ready', base_commit: event.base_commit }
    case 'worktree_kept':
      return { ...worktree, state: 'kept', reason: event.reason }
    case 'worktree_snapshotted':
      return { ...worktree, snapshot: event.snapshot }
    case 'worktree_removed':
      return { ...worktree, state: 'removed', reason: event.reason, ended_at: meta.at }
    case 'worktree_discarded':
      if (worktree.snapshot === null) throw new Error(`${event.id} discarded without a snapshot`)
      return { ...worktree, state: 'discarded', reason: event.reason, ended_at: meta.at }
    case 'worktree_restored':
      if (worktree.snapshot === null) throw new Error(`${event.id} restored without a snapshot`)
      return {
        ...worktree,
        state: 'kept',
        path: event.path,
        branch: event.branch,
        reason: event.reason,
        ended_at: null,
      }
  }
}
