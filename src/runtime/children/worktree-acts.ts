/**
 * What the operator does with a worktree (docs/spec/agent.md#worktrees): a snapshot, a removal, a
 * discard, a restoration. Git acts and one commit says what came of it; each may be asked for again
 * after a crash in between, and then ends as if it had been asked once. Nothing goes away that is
 * neither merged nor in a snapshot.
 */
import type { Draft } from '../../domain/facts/facts.ts'
import type { TaskId } from '../../domain/ids.ts'
import { rowsNeeded } from '../../domain/operator/decide.ts'
import type { OperatorAct, WorktreeVerb } from '../../domain/operator/act.ts'
import { done, type Done } from '../../domain/state/reply.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import { isGone, type Worktree, type WorktreeEvent } from '../../domain/state/worktree.ts'
import { leavable, restorable, standing } from '../../domain/agents/worktrees.ts'
import { GitFault } from '../../exec/git/git-fault.ts'
import type { Snapshot } from '../../exec/worktrees/port.ts'
import {
  ignoredWords,
  mergeTarget,
  snapshotted,
  takeAway,
  type RemovalPorts,
  type TakenAway,
} from './worktree-removal.ts'
import { bringBack } from './worktree-return.ts'

type Act = OperatorAct & { do: WorktreeVerb }

export async function onWorktree(ports: RemovalPorts, command: Act): Promise<Done | Rejection> {
  try {
    switch (command.do) {
      case 'snapshot_worktree':
        return await snapshot(ports, command)
      case 'remove_worktree':
        return await remove(ports, command)
      case 'discard_worktree':
        return await discard(ports, command)
      case 'restore_worktree':
        return await restore(ports, command)
    }
  } catch (error) {
    // A full disk is the home's matter, too; it is told apart where it is known.
    if (error instanceof GitFault && error.code !== 'disk_full') {
      return no('git_refused', `${error.message}.`)
    }
    throw error
  }
}

async function snapshot(ports: RemovalPorts, command: Act): Promise<Done | Rejection> {
  const found = await asked(ports, command, standing)
  if (!found.ok) return found
  const { id } = found.worktree
  const taken = await keep(ports, found.worktree)
  const stored = await settle(ports, command, (now) =>
    isGone(now) ? null : snapshotted(now, taken),
  )
  return done(`${id} is kept as ${taken.ref}.${stored ? '' : ' It was so already.'}`, { id })
}

/** Takes a snapshot; the same one again while nothing changed. */
async function keep(
  { worktrees, effect_seam }: RemovalPorts,
  worktree: Worktree,
): Promise<Snapshot> {
  const { id, repository, path } = worktree
  effect_seam?.before_effect(`snapshot worktree ${id}`)
  const taken = await worktrees.snapshot({ repository, path, key: id })
  effect_seam?.after_effect(`snapshot worktree ${id}`)
  return taken
}

async function remove(ports: RemovalPorts, command: Act): Promise<Done | Rejection> {
  const found = await asked(ports, command, leavable)
  if (!found.ok) return found
  const { id } = found.worktree
  const removed = await takeAway(ports, found.worktree, null)
  if (!removed.ok) return refusalOf(id, removed)
  const kept = ignoredWords(removed.kept)
  const reason = `removed by the operator${kept}`
  await settle(ports, command, (now) =>
    isGone(now) ? null : { type: 'worktree_removed', id, by: 'operator', reason },
  )
  const said = `${id} is removed: everything in it is merged${kept}.${leftBehind(removed)}`
  return done(said, { id, warnings: leftOut(removed.kept) })
}

/** What is in it goes into a snapshot first; that is committed before anything is taken away. */
async function discard(ports: RemovalPorts, command: Act): Promise<Done | Rejection> {
  const found = await asked(ports, command, leavable)
  if (!found.ok) return found
  const { worktree } = found
  const { id, path } = worktree
  const into = await mergeTarget(ports, worktree)
  if (isRejection(into)) return no(into.code, `${into.message}.`)
  const { kind } = await ports.worktrees.status({ repository: worktree.repository, path, into })
  // Nothing of it is there that a snapshot could hold.
  const empty = kind !== 'present' && kind !== 'missing'
  const taken = empty ? null : await keep(ports, worktree)
  if (taken !== null) {
    await settle(ports, command, (now) => (isGone(now) ? null : snapshotted(now, taken)))
  }
  const removed = await takeAway(ports, worktree, taken)
  if (!removed.ok) return refusalOf(id, removed)
  await settle(ports, command, (now) => {
    if (isGone(now)) return null
    return now.snapshot === null
      ? { type: 'worktree_removed', id, by: 'operator', reason: 'nothing of it was there' }
      : { type: 'worktree_discarded', id, by: 'operator', reason: 'discarded by the operator' }
  })
  const back = `holon worktree restore ${id}`
  const what = taken === null ? 'there was nothing in it' : `${taken.ref} keeps it (${back})`
  const said = `${id} is discarded: ${what}.${leftBehind(removed)}`
  return done(said, { id, warnings: leftOut(taken) })
}

/** That it is to come back is committed before git acts: a restart goes on, or takes it back. */
async function restore(ports: RemovalPorts, command: Act): Promise<Done | Rejection> {
  const found = await asked(ports, command, (d, id) => {
    const may = restorable(d, id)
    if (may.ok && isGone(may.worktree)) {
      d.emit({ type: 'worktree_restore_planned', id: may.worktree.id })
    }
    return may
  })
  if (!found.ok) return found
  const { id } = found.worktree
  const restored = await bringBack(ports, found.worktree, found.snapshot)
  const { detached_because: detached } = restored
  const where = restored.branch === null ? 'detached' : `on ${restored.branch}`
  const why = detached === null ? '' : ` (${detached})`
  const said = `${id} is back in ${restored.path}, ${where}${why}.`
  return done(said, { id, warnings: leftOut(restored) })
}

type Rule<T> = (d: Draft, id: string) => T | Rejection

/** The rows say whether it may be; git has the rest. */
const asked = <T>({ store }: RemovalPorts, command: Act, rule: Rule<T>): Promise<T | Rejection> =>
  store.transact(command.agent_id, 'operator', (d) => rule(d, command.worktree_id), {
    needs: needs(command),
  })

const needs = (command: Act) =>
  [...rowsNeeded(command), ['tasks', command.worktree_id]] as ReturnType<typeof rowsNeeded>

/** Says in the row what came of it, as the row is then. Whether there was anything to say. */
const settle = (
  { store }: RemovalPorts,
  command: Act,
  eventOf: (now: Worktree) => WorktreeEvent | null,
): Promise<boolean> =>
  store.transact(
    command.agent_id,
    'operator',
    (d) => {
      const now = d.row('worktrees', command.worktree_id)
      const event = now ? eventOf(now) : null
      if (event !== null) d.emit(event)
      return event !== null
    },
    { needs: needs(command) },
  )

const refusalOf = (
  id: TaskId,
  { code, message }: Pick<TakenAway & { ok: false }, 'code' | 'message'>,
): Rejection => no(code, `${id}: ${message.replace(/\.$/, '')}.`)

/** Files that were written while it went, and that no snapshot has. */
const leftBehind = ({ left }: TakenAway & { ok: true }): string =>
  left === null ? '' : ` Files written meanwhile are in ${left}.`

/** Ignored files over a limit, and pipes and sockets, are in no snapshot. */
function leftOut(of: Pick<Snapshot, 'left_out'> | null): Done['warnings'] {
  if (of === null || of.left_out.count === 0) return []
  const [first] = of.left_out.sample
  const message = `${of.left_out.count} files are not in the snapshot, like ${first?.path}.`
  return [{ kind: 'left_out', message }]
}
