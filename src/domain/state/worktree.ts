/**
 * Worktree: a child's own working tree of a repository, owned by the task that supervises the child
 * (docs/spec/agent.md#worktrees). The row is the intent and what became of it; git itself is in
 * `exec`. It ends removed (nothing was in it that is not merged) or discarded (a snapshot has what
 * was in it); one that is to be restored is planned again, and kept once it is there, until it ends
 * again.
 */
import type { AgentId, TaskId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

export type WorktreeEnd = 'removed' | 'discarded'
/** `kept`: its task is over, and it holds what would be lost. */
export type WorktreeRowState = 'planned' | 'ready' | 'kept' | WorktreeEnd

/** Files that a filter (LFS, crypt) would have changed, had it been run, and its names. */
export type Unfiltered = { files: number; filters: string[] }

/**
 * Of a worktree as it is at the moment. `ahead`: commits of its HEAD that the target does not have.
 * `merges`: without a conflict; null where that could not be tried.
 */
export type WorktreeFacts = {
  branch: string | null
  head: string
  ahead: number
  uncommitted: number
  ignored: number
  merges: boolean | null
}

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
  /** Null: no filter would have changed a file of it. */
  unfiltered: Unfiltered | null
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
  | { type: 'worktree_made'; id: TaskId; base_commit: string; unfiltered: Unfiltered | null }
  | { type: 'worktree_kept'; id: TaskId; reason: string }
  | { type: 'worktree_snapshotted'; id: TaskId; snapshot: WorktreeSnapshot }
  | { type: 'worktree_removed'; id: TaskId; by: 'runtime' | 'operator'; reason: string }
  | { type: 'worktree_discarded'; id: TaskId; by: 'runtime' | 'operator'; reason: string }
  | { type: 'worktree_restore_planned'; id: TaskId }
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
  // A planned one that has a snapshot: it could not be brought back.
  worktree_discarded: ['planned', 'ready', 'kept'],
  worktree_restore_planned: ['removed', 'discarded'],
  // From the end itself in logs from before restorations were planned.
  worktree_restored: ['planned', 'removed', 'discarded'],
}

export const isGone = (worktree: Pick<Worktree, 'state'>): boolean =>
  worktree.state === 'removed' || worktree.state === 'discarded'

/** Recorded before git brings it back; until then its snapshot has what was in it. */
export const isRestoring = (
  worktree: Worktree,
): worktree is Worktree & { snapshot: WorktreeSnapshot } =>
  worktree.state === 'planned' && worktree.snapshot !== null

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
      unfiltered: null,
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
      return {
        ...worktree,
        state: 'ready',
        base_commit: event.base_commit,
        unfiltered: event.unfiltered,
      }
    case 'worktree_kept':
      return { ...worktree, state: 'kept', reason: event.reason }
    case 'worktree_snapshotted':
      return { ...worktree, snapshot: event.snapshot }
    case 'worktree_removed':
      return { ...worktree, state: 'removed', reason: event.reason, ended_at: meta.at }
    case 'worktree_discarded':
      if (worktree.snapshot === null) throw new Error(`${event.id} discarded without a snapshot`)
      return { ...worktree, state: 'discarded', reason: event.reason, ended_at: meta.at }
    case 'worktree_restore_planned':
      if (worktree.snapshot === null) throw new Error(`${event.id} restored without a snapshot`)
      return { ...worktree, state: 'planned', reason: null, ended_at: null }
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

/** What a parent is told of it, on one line. `into` is what it would be merged into. */
export function worktreeLine(
  { path, branch, state, reason }: Pick<Worktree, 'path' | 'branch' | 'state' | 'reason'>,
  into: string | null,
  facts: WorktreeFacts | null,
): string {
  if (state === 'removed' || state === 'discarded') return `Worktree ${path}: ${state}, ${reason}.`
  if (facts === null || into === null) {
    return `Worktree ${path}, branch ${branch}; what is in it is unknown: it was not seen in time.`
  }
  const on = facts.branch === null ? 'detached' : `branch ${facts.branch}`
  const commits = facts.ahead === 1 ? '1 commit' : `${facts.ahead} commits`
  const parts = [
    `Worktree ${path}`,
    on,
    `${commits} ahead of ${into} (${facts.head.slice(0, 7)})`,
    facts.uncommitted === 0 ? 'clean' : `${facts.uncommitted} paths not committed`,
    ...(facts.ignored === 0 ? [] : [`${facts.ignored} ignored paths`]),
    ...(facts.ahead === 0 ? [] : [mergeWords[String(facts.merges) as keyof typeof mergeWords]]),
  ]
  return `${parts.join(', ')}.`
}

const mergeWords = {
  true: 'merges without conflict',
  false: 'does not merge without conflict',
  null: 'whether it merges was not tried',
} as const satisfies Record<`${WorktreeFacts['merges']}`, string>
