/**
 * Bringing a worktree back from its snapshot (docs/spec/agent.md#worktrees). The row says that it
 * is to come back before git acts, and git may be asked again: whoever asked goes on with it, and
 * after a death the next look of the runtime. Nothing stands in the folder then that no row names.
 */
import type { WorktreeEvent, WorktreeSnapshot, Worktree } from '../../domain/state/worktree.ts'
import { isRestoring } from '../../domain/state/worktree.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { GitFault } from '../../exec/git/git-fault.ts'
import type { WorktreeRestore } from '../../exec/worktrees/port.ts'
import type { RemovalPorts } from './worktree-removal.ts'

/**
 * A fault that stays takes the plan back, and is thrown all the same; after one that may pass the
 * row stays planned, and the next look goes on.
 */
export async function bringBack(
  ports: RemovalPorts,
  worktree: Worktree,
  { ref }: WorktreeSnapshot,
): Promise<WorktreeRestore> {
  const { id, repository, path } = worktree
  try {
    ports.effect_seam?.before_effect(`restore worktree ${id}`)
    const restored = await ports.worktrees.restore({ repository, ref, path })
    ports.effect_seam?.after_effect(`restore worktree ${id}`)
    const reason = 'restored by the operator'
    await settle(ports, worktree, ({ branch }) => ({
      ...{ type: 'worktree_restored', id, path: restored.path, reason },
      branch: restored.branch ?? branch,
    }))
    return restored
  } catch (error) {
    const isWorld = error instanceof GitFault || error instanceof FileFault
    if (!isWorld || error.retry !== 'never') throw error
    const reason = `it could not be restored: ${error.message}`
    await settle(ports, worktree, () => ({ type: 'worktree_discarded', id, by: 'runtime', reason }))
    throw error
  }
}

/** Somebody else may have come first. */
const settle = (
  { store }: RemovalPorts,
  { id, agent_id }: Worktree,
  eventOf: (now: Worktree) => WorktreeEvent,
): Promise<void> =>
  store.transact(
    agent_id,
    'operator',
    (d) => {
      const now = d.row('worktrees', id)
      if (now && isRestoring(now)) d.emit(eventOf(now))
    },
    { needs: [['worktrees', id]] },
  )
