/**
 * What `git worktree add` makes, made by us: git itself would check the files out in the new git
 * folder, where the repository's configuration (an `includeIf` for worktrees, for instance) is in
 * force and its filters and hooks run. The format is git's own (`gitrepository-layout`).
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { recordsOf, textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { GIT_TREE_MS } from '../git/git-limits.ts'
import { filtersIn, isSet, type GitConfig } from '../git/git-view.ts'
import { gitIn, gitOf, type WorktreeLocation } from './place.ts'
import type { Unfiltered } from './port.ts'

/** The reason of the lock that keeps `git worktree prune` away from what is not whole yet. */
const MAKING = 'initializing'

/**
 * Registers a worktree at the place, with an empty folder: `head` is the line of its HEAD. The
 * private folder names the path before anything else is there, so that a repeat finds it.
 */
export async function registerWorktree(place: WorktreeLocation, head: string): Promise<string> {
  await place.machine.before('private folder')
  const admin = await writing(place.common, async () => {
    const folder = await freshFolder(join(place.common, 'worktrees'), basename(place.path))
    await writeFile(join(folder, 'gitdir'), `${join(place.path, '.git')}\n`)
    await writeFile(join(folder, 'locked'), `${MAKING}\n`)
    await writeFile(join(folder, 'commondir'), '../..\n')
    await writeFile(join(folder, 'HEAD'), `${head}\n`)
    return folder
  })
  await place.machine.before('folder')
  await writing(place.path, async () => {
    await mkdir(place.path, { recursive: true })
    await writeFile(join(place.path, '.git'), `gitdir: ${admin}\n`)
  })
  return admin
}

async function writing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw fileFault(error, path)
  }
}

/** As git does it: the name of the path, or with the first number that is free. */
async function freshFolder(parent: string, path_name: string): Promise<string> {
  const name = path_name.replace(/[^A-Za-z0-9_-]/g, '-')
  await mkdir(parent, { recursive: true })
  for (let n = 0; ; n += 1) {
    const folder = join(parent, n === 0 ? name : `${name}${n}`)
    try {
      await mkdir(folder)
      return folder
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

/** The files of a commit, in the folder of a worktree that was just registered. */
export async function checkOut(place: WorktreeLocation, commit: string): Promise<void> {
  const call = { timeout_ms: GIT_TREE_MS }
  await gitIn(place, ['read-tree', '-m', '-u', commit], call)
}

/** A git folder and what is configured in it. */
export type Parent = { git_dir: string; settings: GitConfig }

/** Which files are checked out is taken over from the parent's worktree, as git itself does it. */
export async function inheritSparse(
  { admin, view }: WorktreeLocation,
  { git_dir, settings }: Parent,
): Promise<boolean> {
  if (admin === null || !isSet(settings, 'core.sparsecheckout')) return false
  const from = join(git_dir, 'info', 'sparse-checkout')
  if (!existsSync(from)) return false
  await writing(from, async () => {
    await mkdir(join(admin, 'info'), { recursive: true })
    await copyFile(from, join(admin, 'info', 'sparse-checkout'))
    if (isSet(view.settings, 'extensions.worktreeconfig')) {
      const cone = isSet(settings, 'core.sparsecheckoutcone')
      const text = `[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = ${cone}\n`
      await writeFile(join(admin, 'config.worktree'), text)
    }
  })
  return true
}

/** The first line of the history of a new HEAD, where the repository keeps such histories. */
export async function beginReflog(admin: string, common: string, commit: string): Promise<void> {
  if (!existsSync(join(common, 'logs'))) return
  const seconds = Math.floor(Date.now() / 1_000)
  const who = `holon <holon@localhost> ${seconds} +0000`
  const line = `${'0'.repeat(commit.length)} ${commit} ${who}\tworktree: made\n`
  await writing(admin, async () => {
    await mkdir(join(admin, 'logs'), { recursive: true })
    await writeFile(join(admin, 'logs', 'HEAD'), line)
  })
}

/** What a filter of the configuration in force would have changed: it was not run. */
export async function unfiltered(place: WorktreeLocation): Promise<Unfiltered | null> {
  const filters = filtersIn(place.view.settings)
  if (filters.size === 0) return null
  const listed = await gitIn(place, ['ls-files', '-z'], { timeout_ms: GIT_TREE_MS })
  const { out } = await gitIn(place, ['check-attr', '-z', '--stdin', '--cached', 'filter'], {
    stdin: listed.out,
    timeout_ms: GIT_TREE_MS,
  })
  const found = recordsOf(out)
  const names = new Set<string>()
  let files = 0
  for (let at = 2; at < found.length; at += 3) {
    const name = found[at] ?? ''
    if (!filters.has(name)) continue
    files += 1
    names.add(Buffer.from(name, 'latin1').toString())
  }
  return files === 0 ? null : { files, filters: [...names].sort() }
}

/** A branch that is checked out somewhere belongs to who works there. */
export async function checkUnused(place: WorktreeLocation, branch: string): Promise<void> {
  const args = ['for-each-ref', '--format=%(worktreepath)', `refs/heads/${branch}`]
  const used = textOf(await gitOf(place, args))
  if (used === '' || used === place.path) return
  throw new GitFault('branch_taken', `the branch ${branch} is checked out in ${used}`)
}
