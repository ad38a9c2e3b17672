/**
 * Git worktrees of the machine, as the rest of the program sees them. Types only; the real one is
 * made in `worktrees.ts`. Nothing here loses a change: what would be lost is in a status, and what
 * is removed in spite of it is in a snapshot first (docs/spec/agent.md#worktrees).
 */

import type { Unfiltered, WorktreeFacts } from '../../domain/state/worktree.ts'

export type { Unfiltered, WorktreeFacts }

/**
 * The repository a folder belongs to. `root` is the top of its working tree (of a bare one, its
 * git folder); `common_dir` is the git folder all its worktrees share, and names the repository
 * for good: every `repository` below takes it, or any folder inside. `head` is null before the
 * first commit, `branch` is null when HEAD is detached (else its short name).
 */
export type Repository = {
  root: string
  common_dir: string
  head: string | null
  branch: string | null
}

/** How many, and the first of them (at most `STATUS_SAMPLE`). Paths are shown as UTF-8. */
export type Some<T> = { count: number; sample: T[] }
export type CommitLine = { commit: string; subject: string }

export type Operation = 'merge' | 'rebase' | 'cherry_pick' | 'revert' | 'bisect'

/** What an existing worktree holds, and what of it would be lost by removing it. */
export type WorktreeState = {
  head: string | null
  /** Short name of the branch HEAD is on; null: detached. */
  branch: string | null
  staged: Some<string>
  /** Changed and not staged, unmerged entries too, and changes hidden by a flag of the index. */
  unstaged: Some<string>
  untracked: Some<string>
  /** Ignored files, a folder that is ignored whole counting as one. Removal does delete them. */
  ignored: number
  /** Reachable from HEAD or from the branch of HEAD, but not from the target. */
  unmerged: Some<CommitLine>
  /** In the reflogs and other private names of the worktree only: no surviving name reaches it. */
  reflog_only: Some<CommitLine>
  operation: Operation | null
  /** Submodules that are checked out. They may hold work of their own, so they block. */
  submodules: Some<string>
  /** Reason of a `git worktree lock`, '' without one; null: not locked. */
  locked: string | null
  /** Processes whose current folder or open file is inside. Empty where /proc is missing. */
  used_by: number[]
}

/**
 * - `absent`: neither folder nor registration. - `missing`: registered, but the folder is gone.
 * - `half_made`: a making or restoring was interrupted; nobody was told of it. - `removing`: a
 * removal was interrupted after everything was verified. - `present`: the rest.
 */
export type WorktreeStatus =
  | { kind: 'absent' | 'missing' | 'half_made' | 'removing' }
  | ({ kind: 'present' } & WorktreeState)

/** `bytes` is 0 for what has no size. `special`: a pipe, socket or device. */
export type LeftOut = { path: string; bytes: number; because: 'ignored_limit' | 'special' }

export type Snapshot = {
  ref: string
  commit: string
  key: string
  n: number
  /** RFC 3339, of the snapshot's commit. */
  taken_at: string
  /** Where the worktree stood, and on what. */
  of: { path: string; branch: string | null; head: string | null }
  /** Not in it; everything else is. Only ignored and special files can be here. */
  left_out: Some<LeftOut>
}

export type AddRequest = {
  repository: string
  /** Absolute; its parent folder is made when missing. */
  path: string
  /** Short name of a branch that does not exist yet, or that an earlier call made. */
  branch: string
  /** A commit, branch or other revision; default HEAD of `repository`. */
  base?: string
}

export type Added = {
  path: string
  branch: string
  base_commit: string
  made: 'now' | 'before'
  /** Files that a configured filter (LFS, crypt) would have changed: they are as git has them. */
  unfiltered: Unfiltered | null
  /** Changes in the tree of `repository` which are therefore not in the new one. */
  parent_dirty: number
}

export type RemoveRequest = {
  repository: string
  path: string
  /** The branch (or revision) that everything must be merged into. */
  into: string
  /** The branch that `add` made; deleted with the worktree when nothing is lost by that. */
  branch: string
  /**
   * Tasks or turns the caller knows to be at work in it: any refuses. Asked for at each look, the
   * last time when nothing is left to be waited for before the folder is out of their reach.
   */
  leases: () => readonly string[]
  /** Remove what is not clean or not merged, given this snapshot ref holds all of it. */
  discard?: { snapshot: string }
}

export type RefusalCode =
  | 'worktree_leased'
  | 'worktree_in_use'
  | 'worktree_locked'
  | 'worktree_dirty'
  | 'worktree_unmerged'
  | 'worktree_ignored'
  | 'worktree_missing'
  | 'snapshot_stale'
  | 'worktree_changed'

/**
 * `branch`: what became of the branch. `left`: a folder with files that were written during the
 * removal and are in no snapshot; null: there are none, which is usual. `status` is null when the
 * refusal came without a look.
 */
export type Removed =
  | { ok: true; branch: 'deleted' | 'kept' | 'absent'; left: string | null }
  | { ok: false; code: RefusalCode; message: string; hint: string; status: WorktreeStatus | null }

export type Refused = Removed & { ok: false }

export type WorktreeRestore = {
  path: string
  head: string | null
  /** The branch it is on again; null: detached. */
  branch: string | null
  /** Why it is not on the branch it was on; null when it is. */
  detached_because: string | null
  left_out: Some<LeftOut>
}

export type Pruned = { finished: string[]; cleared: string[] }

export type FactsAsked = { repository: string; path: string; into: string; within_ms: number }

/**
 * Contract. Every method may be called again at any time, also after the process died in the
 * middle of it, and then ends as if it had run once. Calls about one repository follow each other
 * within this process; two processes must not share a `path` or `key`. Failures of the world are
 * thrown as `GitFault` or `FileFault`, each with its `retry`. No program the repository or its
 * configuration names is run: no hooks, filters, monitors, pagers, helpers or transports, also
 * when the configuration changes meanwhile (`git/git-view.ts`).
 *
 * - `repository`: null when the folder is in none (or is no folder).
 * - `add` makes the worktree on a new branch at `base`, or finds the one it made before, with the
 *   base of then. Uncommitted changes of `repository` are not in it. A branch or a folder of that
 *   name that it did not make is a fault and stays as it is.
 * - `status` changes nothing, not even the index.
 * - `snapshot` stores the files (tracked, untracked, and ignored up to a limit) byte for byte with
 *   their permission bits, links and empty folders, nested repositories, the index, HEAD, the state
 *   of a merge or rebase, the submodules' own repositories, and every commit only the reflog knows,
 *   under `refs/holon/snapshots/<key>/<n>`. It touches neither the worktree, nor its index, nor any
 *   other name. When nothing changed since the last one of that key, that is returned. Not stored:
 *   times, owners, extended attributes, bits of folders, pipes, sockets. On return it is durable.
 * - `restore` makes a worktree of a snapshot at `path`, with everything as it was; on its branch if
 *   that is gone or still where it was and free, else detached.
 * - `remove` refuses unless the worktree is clean, merged, without leases, locks and processes, and
 *   without ignored files (`worktree_ignored`, when that is all): they are in no commit. With
 *   `discard` it may be dirty and unmerged if the snapshot equals what is there. It moves the
 *   folder away, verifies again, and deletes only files that did not change since. Of an absent
 *   worktree it is a success. No commit goes away that the target or a snapshot does not have.
 * - `facts` are of the moment; null when they cannot be had within `within_ms` milliseconds, for
 *   whatever reason, and when there is no such worktree. It throws for no fault of the world.
 * - `objection` is what `remove` would refuse it for, without leases; null: it would go.
 * - `prune` finishes removals and clears half-made worktrees in `folder` that were interrupted.
 */
export interface Worktrees {
  repository(folder: string): Promise<Repository | null>
  add(request: AddRequest): Promise<Added>
  status(of: { repository: string; path: string; into: string }): Promise<WorktreeStatus>
  snapshot(of: { repository: string; path: string; key: string }): Promise<Snapshot>
  list_snapshots(repository: string): Promise<Snapshot[]>
  restore(of: { repository: string; ref: string; path: string }): Promise<WorktreeRestore>
  remove(request: RemoveRequest): Promise<Removed>
  objection(request: Omit<RemoveRequest, 'leases'>): Promise<Refused | null>
  facts(of: FactsAsked): Promise<WorktreeFacts | null>
  prune(of: { repository: string; folder: string }): Promise<Pruned>
}
