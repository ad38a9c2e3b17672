/**
 * Making a worktree. What was half made by a process that died is cleared away and made again: it
 * lacks the mark that is written last, so nobody was ever told of it.
 */
import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { tipOf } from './history.ts'
import { processesIn } from './in-use.ts'
import {
  beginReflog,
  checkOut,
  checkUnused,
  inheritSparse,
  type Parent,
  registerWorktree,
  unfiltered,
} from './make.ts'
import {
  adminOf,
  baseRef,
  checkBranchName,
  commitNamed,
  findFolders,
  findRepository,
  gitOf,
  type WorktreeLocation,
  readMark,
  viewOf,
  writeMark,
} from './place.ts'
import type { Added, AddRequest, Unfiltered } from './port.ts'
import { changeCount } from './status.ts'
import { halfRemoved } from './trash.ts'

export async function addWorktree(place: WorktreeLocation, request: AddRequest): Promise<Added> {
  const { branch } = request
  await checkBranchName(place, branch)
  const { parent, changes: parent_dirty } = await parentOf(place, request.repository)
  const before = place.admin === null ? null : await readMark(place.admin)
  if (before !== null) {
    if (before.branch !== branch) {
      throw new GitFault('path_taken', `${place.path} is the worktree of ${before.branch}`)
    }
    if (!existsSync(place.path)) {
      throw new GitFault('worktree_missing', `${place.path} was deleted; restore or remove it`)
    }
    await rm(makingPath(place.path), { force: true })
    const { base_commit, unfiltered = null } = before
    return { path: place.path, branch, base_commit, made: 'before', parent_dirty, unfiltered }
  }
  const free = await freePath(place)
  const base_commit = await intendedBase(free, request)
  const tip = await branchAt(free, branch, base_commit)
  await beginMaking(free)
  const admin = await registerWorktree(free, `ref: refs/heads/${branch}`)
  const raw = await fill({ ...free, admin }, admin, tip, parent)
  await finish(free, { branch, base_commit, restored: null, unfiltered: raw })
  const { path } = free
  return { path, branch, base_commit, made: 'now', parent_dirty, unfiltered: raw }
}

/** Where the branch stands; it is made when it is not there. */
async function branchAt(
  place: WorktreeLocation,
  branch: string,
  base_commit: string,
): Promise<string> {
  const tip = await tipOf(place, branch)
  if (tip === null) {
    const args = ['update-ref', `refs/heads/${branch}`, base_commit, '0'.repeat(base_commit.length)]
    await gitOf(place, args)
    return base_commit
  }
  await checkUnused(place, branch)
  return tip
}

/** The files; what a filter would have changed in them is the answer. */
async function fill(
  place: WorktreeLocation,
  admin: string,
  tip: string,
  parent: Parent | null,
): Promise<Unfiltered | null> {
  await beginReflog(admin, place.common, tip)
  const sparse = parent !== null && (await inheritSparse(place, parent))
  // A setting of the new worktree's own is in force from here on.
  const view = sparse ? await viewOf(place.machine, place.common, admin) : place.view
  try {
    await checkOut({ ...place, view }, tip)
  } finally {
    if (sparse) await view.close()
  }
  return unfiltered(place)
}

/** Marks the worktree git has just made at the place as whole. */
export async function finish(
  place: WorktreeLocation,
  mark: Parameters<typeof writeMark>[2],
): Promise<void> {
  const admin = await adminOf(place.common, 'worktrees', place.path)
  if (admin === null) throw new GitFault('failed', `git made no worktree at ${place.path}`)
  await writeMark(place, admin, mark)
  await rm(join(admin, 'locked'), { force: true })
  await place.machine.before('end of making')
  await rm(makingPath(place.path), { force: true })
}

/** Beside a worktree until it is whole: what is found half made with it was made by us. */
export const makingPath = (path: string): string => `${path}.making`

export async function beginMaking(place: WorktreeLocation): Promise<void> {
  await checkNobodyMakes(place, [place.path])
  await place.machine.before('making')
  try {
    await writeFile(makingPath(place.path), '', { mode: 0o600 })
  } catch (error) {
    throw fileFault(error, place.path)
  }
}

/** The base, kept under a name before the branch is made: a branch with one is ours. */
async function intendedBase(place: WorktreeLocation, request: AddRequest): Promise<string> {
  const name = baseRef(request.branch)
  const args = ['rev-parse', '--verify', '-q', `${name}^{commit}`]
  const kept = await gitOf(place, args, { answers: [0, 1] })
  if (kept.code === 0) return textOf(kept)
  if ((await tipOf(place, request.branch)) !== null) {
    throw new GitFault('branch_taken', `there is a branch ${request.branch} already`)
  }
  const head = (await findRepository(place.machine.git, request.repository))?.head ?? null
  if (request.base === undefined && head === null) {
    throw new GitFault('no_commit', `${request.repository} has no commit yet; make one first`)
  }
  const base = request.base === undefined ? head : await commitNamed(place, request.base)
  if (base === null) throw new GitFault('unknown_revision', `${request.base} names no commit`)
  await gitOf(place, ['update-ref', name, base, '0'.repeat(base.length)])
  return base
}

/** The place without anything at its path; a half-made worktree is taken away. */
export async function freePath(place: WorktreeLocation): Promise<WorktreeLocation> {
  if ((await halfRemoved(place)) !== null) {
    throw new GitFault('worktree_busy', `${place.path} is being removed; remove it to the end`)
  }
  if (place.admin !== null && (await readMark(place.admin)) === null) {
    await clearHalfMade(place, place.admin)
  } else if (place.admin !== null) {
    throw new GitFault('path_taken', `${place.path} is a worktree already`)
  }
  if (!(await isFree(place.path))) {
    throw new GitFault('path_taken', `${place.path} exists and is not ours`)
  }
  return { ...place, admin: null }
}

/** A git that outlived its caller, and is still at it, must not be disturbed. */
async function checkNobodyMakes(
  place: WorktreeLocation,
  folders: readonly string[],
): Promise<void> {
  const makers = await processesIn(folders)
  if (makers.length === 0) return
  const says = `${place.path} is still being made by process ${makers.join(', ')}`
  throw new GitFault('worktree_busy', says)
}

export async function clearHalfMade(place: WorktreeLocation, admin: string): Promise<void> {
  if (!existsSync(makingPath(place.path))) {
    throw new GitFault('path_taken', `${place.path} is a worktree that somebody else made`)
  }
  await checkNobodyMakes(place, [place.path, admin])
  await place.machine.before('clear half-made files')
  await rm(place.path, { recursive: true, force: true })
  await place.machine.before('clear half-made worktree')
  await rm(admin, { recursive: true, force: true })
}

async function isFree(path: string): Promise<boolean> {
  if (!existsSync(path)) return true
  try {
    return (await readdir(path)).length === 0
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code === 'not_found') return false
    throw fault
  }
}

/** The worktree that `repository` is in: what is configured there, and how much is uncommitted. */
async function parentOf(
  place: WorktreeLocation,
  repository: string,
): Promise<{ parent: Parent | null; changes: number }> {
  const { machine } = place
  const found = await findFolders(machine.git, repository)
  if (found === null) return { parent: null, changes: 0 }
  const { git_dir } = found
  const view = await viewOf(machine, found.common_dir, git_dir)
  try {
    const tree = { ...place, view, path: found.root, work: found.root, admin: git_dir }
    return { parent: { git_dir, settings: view.settings }, changes: await changeCount(tree) }
  } finally {
    await view.close()
  }
}
