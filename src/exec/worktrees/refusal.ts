/**
 * Why a worktree may not be removed, in a sentence, with what to do about it. Pure.
 */
import type { RefusalCode, Refused, RemoveRequest, WorktreeState, WorktreeStatus } from './port.ts'
import { LOCKED_FOR_REMOVAL } from './status.ts'

const hints: Readonly<Record<RefusalCode, string>> = {
  worktree_leased: 'Wait until they have ended, or stop them.',
  worktree_in_use: 'End these processes, or let them leave the folder.',
  worktree_locked: 'Unlock it: `git worktree unlock <path>`.',
  worktree_dirty: 'Commit and merge it, or take a snapshot and discard it.',
  worktree_unmerged: 'Merge it, or take a snapshot and discard it.',
  worktree_ignored: 'Take a snapshot, which keeps them, and discard it.',
  worktree_missing: 'Take a snapshot of what git still knows, and discard it.',
  snapshot_stale: 'Take a new snapshot, and discard with that.',
  worktree_changed: 'Look at it again, then repeat.',
}

export const refuse = (
  code: RefusalCode,
  message: string,
  status: WorktreeStatus | null,
): Refused => ({
  ok: false,
  code,
  message,
  hint: hints[code],
  status,
})

const counted = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`])

/** The refusal a state asks for; null: none (with `discard`, the snapshot is still to be read). */
export function refusal(
  state: WorktreeState,
  missing: boolean,
  { discard, into }: Pick<RemoveRequest, 'discard' | 'into'>,
): Refused | null {
  const status: WorktreeStatus = missing ? { kind: 'missing' } : { kind: 'present', ...state }
  if (state.used_by.length > 0) {
    return refuse('worktree_in_use', `processes ${state.used_by.join(', ')} are in it`, status)
  }
  if (state.locked !== null && state.locked !== LOCKED_FOR_REMOVAL) {
    return refuse('worktree_locked', `it is locked: ${state.locked || 'no reason given'}`, status)
  }
  if (discard !== undefined) return null
  const dirty = [
    ...counted(state.staged.count, 'staged'),
    ...counted(state.unstaged.count, 'changed and not staged'),
    ...counted(state.untracked.count, 'untracked'),
    ...counted(state.submodules.count, 'submodules checked out'),
    ...(state.operation === null ? [] : [`a ${state.operation} that is not finished`]),
  ]
  if (dirty.length > 0) {
    const says = `it holds what no commit has: ${dirty.join(', ')}`
    return refuse(missing ? 'worktree_missing' : 'worktree_dirty', says, status)
  }
  const commits = [
    ...counted(state.unmerged.count, `commits that are not in ${into}`),
    ...counted(state.reflog_only.count, 'commits that only its reflog knows'),
  ]
  if (commits.length > 0) {
    return refuse('worktree_unmerged', `it has ${commits.join(', ')}`, status)
  }
  if (state.ignored === 0) return null
  const says = `it has ${state.ignored} ignored paths, which no commit has`
  return refuse('worktree_ignored', says, status)
}
