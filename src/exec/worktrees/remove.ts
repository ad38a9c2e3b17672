/**
 * Removing a worktree without losing anything. First the folder is moved away, so that nobody
 * finds it; there it is looked at again; then git's private folder is moved out of git's sight;
 * then the folder gets the name that says it was verified, from where there is no way back;
 * then files, branch and private folder go. Before that name a refusal moves all back, and a
 * repeat after an interruption looks at everything again.
 */
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { clearHalfMade } from './add.ts'
import { tipOf } from './history.ts'
import { adminOf, baseRef, commitNamed, gitOf, type WorktreeLocation, readMark } from './place.ts'
import type { Refused, Removed, RemoveRequest } from './port.ts'
import { refusal, refuse } from './refusal.ts'
import { holds, snapshotNamed } from './snapshot.ts'
import { LOCKED_FOR_REMOVAL, stateOf } from './status.ts'
import {
  deleteVerified,
  halfRemoved,
  move,
  removingPath,
  timeAfter,
  untouchedSince,
} from './trash.ts'
import { buildTree, type Limits } from './tree.ts'

const PARKED = 'holon-removed'

export async function removeWorktree(
  opened: WorktreeLocation,
  request: RemoveRequest,
  limits: Limits,
): Promise<Removed> {
  const held = leased(request)
  if (held !== null) return held
  const half = await halfRemoved(opened)
  if (half !== null && half.verified !== null) {
    return finishRemoval(opened, request, { folder: half.folder, verified: half.verified })
  }
  const place = half === null ? opened : await unparked(opened)
  if (place.admin === null) return removeAbsent(place, request)
  if ((await readMark(place.admin)) === null) {
    await clearHalfMade(place, place.admin)
    return finishRemoval(place, request, null)
  }
  return removeMarked(place, place.admin, half?.folder ?? null, request, limits)
}

/** Who came to work in it while git looked is as good a reason as who was there before. */
function leased({ leases }: RemoveRequest): Refused | null {
  const now = leases()
  return now.length === 0
    ? null
    : refuse('worktree_leased', `${now.join(', ')} may still write there`, null)
}

async function removeAbsent(place: WorktreeLocation, request: RemoveRequest): Promise<Removed> {
  if (existsSync(place.path) || existsSync(removingPath(place.path))) {
    throw new GitFault('path_taken', `${place.path} is no worktree of this repository`)
  }
  return finishRemoval(place, request, null)
}

async function removeMarked(
  place: WorktreeLocation,
  admin: string,
  moved: string | null,
  request: RemoveRequest,
  limits: Limits,
): Promise<Removed> {
  if (moved !== null && existsSync(place.path)) {
    const says = `${place.path} was made again while its files were moved to ${moved}`
    return refuse('worktree_changed', says, { kind: 'removing' })
  }
  if (moved === null) {
    const no = (await objection(place, request, limits)) ?? leased(request)
    if (no !== null) return no
  }
  const away = { ...place, work: removingPath(place.path) }
  const lock = join(admin, 'locked')
  await place.machine.before('lock')
  await writeFile(lock, `${LOCKED_FOR_REMOVAL}\n`)
  if (existsSync(place.path)) await move(place, place.path, away.work)
  const time = await timeAfter(lock)
  const no = (await objection(away, request, limits)) ?? leased(request)
  if (no !== null) {
    await takeBack(place, null, lock)
    return no
  }
  const parked = join(place.common, PARKED, `${basename(admin)}-${time}`)
  await move(place, admin, parked)
  if (!(await untouchedSince(parked, time))) {
    await takeBack(place, { parked, admin }, lock)
    return refuse('worktree_changed', `git was used in ${place.path} meanwhile`, null)
  }
  const verified = { folder: `${place.path}.removed-${time}`, verified: time }
  if (existsSync(away.work)) await move(place, away.work, verified.folder)
  return await finishRemoval(place, request, existsSync(verified.folder) ? verified : null)
}

/** What a removal would be refused for; null: it would go, or is on its way already. */
export async function objectionTo(
  place: WorktreeLocation,
  request: Omit<RemoveRequest, 'leases'>,
  limits: Limits,
): Promise<Refused | null> {
  if (place.admin === null || (await halfRemoved(place)) !== null) return null
  return (await readMark(place.admin)) === null ? null : objection(place, request, limits)
}

/** Why it may not be removed as it is now, or null. */
async function objection(
  place: WorktreeLocation,
  request: Omit<RemoveRequest, 'leases'>,
  limits: Limits,
): Promise<Refused | null> {
  const state = await stateOf(place, request.into)
  const missing = !existsSync(place.work)
  const no = refusal(state, missing, request)
  if (no !== null || request.discard === undefined) return no
  const { commit } = await snapshotNamed(place, request.discard.snapshot)
  if (await holds(place, commit, await buildTree(place, limits))) return null
  const says = `${request.discard.snapshot} does not hold what is there now`
  return refuse('snapshot_stale', says, { kind: 'present', ...state })
}

async function takeBack(
  place: WorktreeLocation,
  was: { parked: string; admin: string } | null,
  lock: string,
): Promise<void> {
  if (was !== null) await move(place, was.parked, was.admin)
  const away = removingPath(place.path)
  if (existsSync(away) && !existsSync(place.path)) await move(place, away, place.path)
  await place.machine.before('unlock')
  await rm(lock, { force: true })
}

/** The place with its private folder where git expects it, after an interruption. */
async function unparked(place: WorktreeLocation): Promise<WorktreeLocation> {
  if (place.admin !== null) return place
  const parked = await adminOf(place.common, PARKED, place.path)
  if (parked === null) return place
  const name = basename(parked).replace(/-\d+$/, '')
  const admin = join(place.common, 'worktrees', name)
  await move(place, parked, admin)
  return { ...place, admin }
}

/** What follows the verification: repeated until it is done, whatever interrupts it. */
async function finishRemoval(
  place: WorktreeLocation,
  request: RemoveRequest,
  verified: { folder: string; verified: bigint } | null,
): Promise<Removed> {
  const left = verified === null ? null : await deleteVerified(place, verified)
  const branch = await deleteBranch(place, request.branch, request.into)
  const parked = await adminOf(place.common, PARKED, place.path)
  if (parked !== null) {
    await place.machine.before('delete private folder')
    await rm(parked, { recursive: true, force: true })
  }
  return { ok: true, branch, left }
}

async function deleteBranch(
  place: WorktreeLocation,
  branch: string,
  into: string,
): Promise<'deleted' | 'kept' | 'absent'> {
  const base = baseRef(branch)
  const ours = await gitOf(place, ['show-ref', '--verify', '-q', base], { answers: [0, 1] })
  const tip = await tipOf(place, branch)
  if (ours.code !== 0) return tip === null ? 'absent' : 'kept'
  const state = tip === null ? 'absent' : await deleteTip(place, branch, tip, into)
  if (state !== 'kept') await gitOf(place, ['update-ref', '-d', base])
  return state
}

async function deleteTip(
  place: WorktreeLocation,
  branch: string,
  tip: string,
  into: string,
): Promise<'deleted' | 'kept'> {
  const name = `refs/heads/${branch}`
  const where = textOf(await gitOf(place, ['for-each-ref', '--format=%(worktreepath)', name]))
  const target = await commitNamed(place, into)
  const not = [...(target === null ? [] : [target]), '--glob=refs/holon/snapshots/*']
  const args = ['rev-list', '--max-count=1', tip, '--not', ...not]
  const lost = textOf(await gitOf(place, args))
  if (where !== '' || lost !== '' || into === branch) return 'kept'
  try {
    await gitOf(place, ['update-ref', '--no-deref', '-d', name, tip])
    return 'deleted'
  } catch (error) {
    // It moved since: somebody works on it, and it stays.
    if (error instanceof GitFault && (await tipOf(place, branch)) !== tip) return 'kept'
    throw error
  }
}
