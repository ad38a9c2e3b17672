/**
 * Making a worktree. What was half made by a process that died is cleared away and made again: it
 * lacks the mark that is written last, so nobody was ever told of it.
 */
import { existsSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { fileFault } from './file-fault.ts'
import { textOf } from './git.ts'
import { GitFault } from './git-fault.ts'
import { GIT_TREE_MS } from './git-limits.ts'
import { tipOf } from './worktree-history.ts'
import { processesIn, processesNaming } from './worktree-in-use.ts'
import {
  adminOf,
  baseRef,
  checkBranchName,
  commitNamed,
  findRepository,
  gitOf,
  type Place,
  readMark,
  writeMark,
} from './worktree-place.ts'
import type { Added, AddRequest } from './worktree-port.ts'
import { changeCount } from './worktree-status.ts'
import { halfRemoved } from './worktree-trash.ts'

export async function addWorktree(place: Place, request: AddRequest): Promise<Added> {
  const { branch } = request
  await checkBranchName(place, branch)
  const parent_dirty = await parentChanges(place, request.repository)
  const before = place.admin === null ? null : await readMark(place.admin)
  if (before !== null) {
    if (before.branch !== branch) {
      throw new GitFault('path_taken', `${place.path} is the worktree of ${before.branch}`)
    }
    if (!existsSync(place.path)) {
      throw new GitFault('worktree_missing', `${place.path} was deleted; restore or remove it`)
    }
    await rm(makingPath(place.path), { force: true })
    const { base_commit } = before
    return { path: place.path, branch, base_commit, made: 'before', parent_dirty }
  }
  const free = await freePath(place)
  const base_commit = await intendedBase(free, request)
  const exists = (await tipOf(free, branch)) !== null
  await beginMaking(free)
  const what = exists ? [free.path, branch] : ['--no-track', '-b', branch, free.path, base_commit]
  await gitOf(free, ['worktree', 'add', '-q', '--no-guess-remote', ...what], {
    timeout_ms: GIT_TREE_MS,
  })
  await finish(free, { branch, base_commit, restored: null })
  return { path: free.path, branch, base_commit, made: 'now', parent_dirty }
}

/** Marks the worktree git has just made at the place as whole. */
export async function finish(place: Place, mark: Parameters<typeof writeMark>[2]): Promise<void> {
  const admin = await adminOf(place.common, 'worktrees', place.path)
  if (admin === null) throw new GitFault('failed', `git made no worktree at ${place.path}`)
  await writeMark(place, admin, mark)
  await place.machine.before('end of making')
  await rm(makingPath(place.path), { force: true })
}

/** Beside a worktree until it is whole: what is found half made with it was made by us. */
export const makingPath = (path: string): string => `${path}.making`

export async function beginMaking(place: Place): Promise<void> {
  await checkNobodyMakes(place, [place.path])
  await place.machine.before('making')
  try {
    await writeFile(makingPath(place.path), '', { mode: 0o600 })
  } catch (error) {
    throw fileFault(error, place.path)
  }
}

/** The base, kept under a name before the branch is made: a branch with one is ours. */
async function intendedBase(place: Place, request: AddRequest): Promise<string> {
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
export async function freePath(place: Place): Promise<Place> {
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

/** A git that outlived its caller, and is still at it, must not be disturbed, nor run twice. */
async function checkNobodyMakes(place: Place, folders: readonly string[]): Promise<void> {
  const makers = [...(await processesIn(folders)), ...(await processesNaming(place.path))]
  if (makers.length === 0) return
  const says = `${place.path} is still being made by process ${makers.join(', ')}`
  throw new GitFault('worktree_busy', says)
}

export async function clearHalfMade(place: Place, admin: string): Promise<void> {
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

async function parentChanges(place: Place, repository: string): Promise<number> {
  const found = await findRepository(place.machine.git, repository)
  if (found === null || found.root === found.common_dir) return 0
  const git = ['rev-parse', '--path-format=absolute', '--git-dir']
  const admin = textOf(await place.machine.git({ cwd: repository, args: git }))
  return changeCount({ ...place, path: found.root, work: found.root, admin })
}
