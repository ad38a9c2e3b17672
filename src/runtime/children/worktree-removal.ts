/**
 * Taking a worktree away, for the runtime and for the operator alike
 * (docs/spec/agent.md#worktrees): what it has to be merged into, and which tasks still work in it.
 * Git has the last word.
 */
import type { TaskId } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/state/task.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import { isGone, type Worktree, type WorktreeEvent } from '../../domain/state/worktree.ts'
import type { Refused, Removed, Snapshot } from '../../exec/worktrees/port.ts'
import type { HostPorts } from '../ports.ts'
import type { Store } from '../store.ts'

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

export type TakenAway =
  | { ok: true; left: string | null; kept: Snapshot | null }
  | (Refused & { code: Exclude<Refused['code'], 'worktree_ignored'> })
  | Rejection

/**
 * With a snapshot also what is not merged, given that it holds everything. What is merged and clean
 * may have ignored files, which no commit has: they go into a snapshot first, as `kept`. `inHand`:
 * what else may be at work in it, asked for when it is about to go.
 */
export async function takeAway(
  ports: RemovalPorts,
  worktree: Worktree,
  taken: Snapshot | null,
  inHand: () => readonly string[] = () => [],
): Promise<TakenAway> {
  const first = await removal(ports, worktree, taken, inHand)
  if (first.ok) return { ok: true, left: first.left, kept: null }
  if (first.code !== 'worktree_ignored') return { ...first, code: first.code }
  const kept = await keepAll(ports, worktree)
  const then = await removal(ports, worktree, kept, inHand)
  if (then.ok) return { ok: true, left: then.left, kept }
  if (then.code === 'worktree_ignored') throw new Error(`${worktree.id} is discarded with all`)
  return { ...then, code: then.code }
}

/** Takes a snapshot and says so in the row; the same one again while nothing changed. */
export async function keepAll(ports: RemovalPorts, worktree: Worktree): Promise<Snapshot> {
  const { id, agent_id, repository, path } = worktree
  ports.effect_seam?.before_effect(`snapshot worktree ${id}`)
  const taken = await ports.worktrees.snapshot({ repository, path, key: id })
  ports.effect_seam?.after_effect(`snapshot worktree ${id}`)
  await ports.store.transact(
    agent_id,
    id,
    (d) => {
      const now = d.row('worktrees', id)
      const event = now && !isGone(now) ? snapshotted(now, taken) : null
      if (event !== null) d.emit(event)
    },
    { needs: [['worktrees', id]] },
  )
  return taken
}

/** The event of a snapshot; null where the row has it already, or nothing was ever made there. */
export function snapshotted(now: Worktree, { ref, commit }: Snapshot): WorktreeEvent | null {
  if (now.state === 'planned') return null
  if (now.snapshot?.ref === ref && now.snapshot.commit === commit) return null
  return { type: 'worktree_snapshotted', id: now.id, snapshot: { ref, commit } }
}

/** Where the ignored files of a removed one are, and how many are nowhere. */
export function ignoredWords(kept: Snapshot | null): string {
  if (kept === null) return ''
  const { count, sample } = kept.left_out
  const but = count === 0 ? '' : `, but for ${count} over the limits, like ${sample[0]?.path}`
  return `; its ignored files are in ${kept.ref}${but}`
}

async function removal(
  ports: RemovalPorts,
  worktree: Worktree,
  taken: Snapshot | null,
  inHand: () => readonly string[],
): Promise<Removed | Rejection> {
  const { id, repository, path, branch } = worktree
  const into = await mergeTarget(ports, worktree)
  if (isRejection(into)) return into
  ports.effect_seam?.before_effect(`remove worktree ${id}`)
  const removed = await ports.worktrees.remove({
    repository,
    path,
    branch,
    into,
    leases: () => [...leasesOn(ports, path), ...inHand()],
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
