/**
 * What a parent is told of the worktree of its child beside the child's words: facts it would
 * otherwise ask git for, and act on. One line, the runtime's own.
 */
import type { TaskId } from '../../domain/ids.ts'
import { isRejection } from '../../domain/rejection.ts'
import { isGone, worktreeLine } from '../../domain/state/worktree.ts'
import type { AgentId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { GitFault } from '../../exec/git/git-fault.ts'
import { mergeTarget, type RemovalPorts } from './worktree-removal.ts'

type LookPorts = Pick<RemovalPorts, 'worktrees' | 'store'>

/** Null: the task has none. What cannot be seen in time is said to be unknown. */
export async function lookAtWorktree(
  { worktrees, store }: LookPorts,
  parent: AgentId,
  task: TaskId,
): Promise<string | null> {
  const row = await store.row(parent, 'worktrees', task)
  if (!row || row.state === 'planned') return null
  if (isGone(row)) return worktreeLine(row, null, null)
  try {
    const into = await mergeTarget({ worktrees }, row)
    if (isRejection(into)) return worktreeLine(row, null, null)
    const { repository, path } = row
    const within_ms = limits.worktree_look.value
    return worktreeLine(row, into, await worktrees.facts({ repository, path, into, within_ms }))
  } catch (error) {
    if (error instanceof GitFault || error instanceof FileFault) {
      return worktreeLine(row, null, null)
    }
    throw error
  }
}
