/**
 * Taking a worktree away, for the runtime and for the operator alike (contracts 9): what it has to
 * be merged into, and which tasks still work in it. Git has the last word.
 */
import type { TaskId } from '../domain/ids.ts'
import { isTerminal } from '../domain/task.ts'
import { isRejection, no, type Rejection } from '../domain/verdict.ts'
import type { Worktree } from '../domain/worktree.ts'
import type { Removed, Snapshot } from '../exec/worktree-port.ts'
import type { HostPorts } from './ports.ts'
import type { Store } from './store.ts'

export type RemovalPorts = Pick<HostPorts, 'worktrees' | 'effect_seam'> & { store: Store }

/** What everything has to be merged into: the branch its repository has checked out. */
export async function mergeTarget(
  { worktrees }: Pick<RemovalPorts, 'worktrees'>,
  { repository }: Worktree,
): Promise<string | Rejection> {
  const home = await worktrees.repository(repository)
  if (home === null) return no('git_refused', `${repository} is no repository any more`)
  return home.branch ?? home.head ?? no('git_refused', `${repository} has no commit`)
}

/** With a snapshot also what is not merged, given that it holds everything. */
export async function takeAway(
  ports: RemovalPorts,
  worktree: Worktree,
  taken: Snapshot | null,
): Promise<Removed | Rejection> {
  const { id, repository, path, branch } = worktree
  const into = await mergeTarget(ports, worktree)
  if (isRejection(into)) return into
  const leases = leasesOn(ports, path)
  ports.effect_seam?.before_effect(`remove worktree ${id}`)
  const removed = await ports.worktrees.remove({
    repository,
    path,
    branch,
    into,
    leases,
    ...(taken === null ? {} : { discard: { snapshot: taken.ref } }),
  })
  ports.effect_seam?.after_effect(`remove worktree ${id}`)
  return removed
}

/** Tasks of any agent that run in the folder. */
function leasesOn({ store }: RemovalPorts, path: string): TaskId[] {
  const leases: TaskId[] = []
  for (const facts of store.all()) {
    for (const { id, status, workdir } of facts.rows('tasks')) {
      const inside = workdir === path || workdir.startsWith(`${path}/`)
      if (inside && !isTerminal({ status })) leases.push(id)
    }
  }
  return leases
}
