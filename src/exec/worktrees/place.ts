/**
 * Where a worktree is: its folder, and the private folder git keeps for it (`admin`, one of
 * `<common>/worktrees/*`), found by the path written in it and not by the worktree's own `.git`
 * file, which whoever works in it can rewrite. Reads only, apart from the mark of a whole one.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { type Git, type GitAnswer, type GitCall, textOf } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { type GitView, openView } from '../git/git-view.ts'
import type { Repository, Unfiltered } from './port.ts'

/** The steps of the work: `git` and `before` as in `GitOptions`. */
export type WorktreePorts = {
  git: Git
  before: (step: string) => Promise<void>
  /** A folder of ours for files that are needed during one call. */
  scratch_folder: string
}

/** What `add` or `restore` writes last: a worktree without it is half made. */
export type WorktreeMarker = {
  branch: string
  base_commit: string
  restored: string | null
  /** Missing in marks of an earlier version, which looked for none. */
  unfiltered?: Unfiltered | null
}

/**
 * `work` is where the files are: `path`, or during a removal the folder beside it. `admin` is null
 * when git has no such worktree. `view` is what all calls go through; who opened the
 * place closes it.
 */
export type WorktreeLocation = {
  machine: WorktreePorts
  common: string
  view: GitView
  path: string
  work: string
  admin: string | null
}

const withoutFault = (error: unknown): null => {
  if (error instanceof GitFault && error.code === 'not_a_repository') return null
  throw error
}

/** The git folder all worktrees of a repository share; null: the folder is in no repository. */
export async function commonDir(git: Git, folder: string): Promise<string | null> {
  const args = ['rev-parse', '--path-format=absolute', '--git-common-dir']
  const answer = await git({ cwd: folder, args }).catch(withoutFault)
  return answer === null ? null : textOf(answer)
}

/** The top of the working tree a folder is in, its git folder, and the one that all share. */
export type Folders = { root: string; git_dir: string; common_dir: string }

/**
 * Null: in no repository, or in a bare one. A configured working tree that is not where the
 * repository is (`core.worktree`) is not believed: it could be anybody's folder.
 */
export async function findFolders(git: Git, folder: string): Promise<Folders | null> {
  const ask = async (what: string) => {
    const args = ['rev-parse', '--path-format=absolute', what]
    const answer = await git({ cwd: folder, args }).catch(withoutFault)
    return answer === null ? null : textOf(answer)
  }
  // One call each: a path may hold any character, a line end too.
  const [root, git_dir, common_dir] = await Promise.all([
    ask('--show-toplevel'),
    ask('--absolute-git-dir'),
    ask('--git-common-dir'),
  ])
  if (root === null || git_dir === null || common_dir === null) return null
  return existsSync(join(root, '.git')) ? { root, git_dir, common_dir } : null
}

export async function findRepository(git: Git, folder: string): Promise<Repository | null> {
  const ask = (...args: string[]) => git({ cwd: folder, args, answers: [0, 1, 128] })
  const common_dir = await commonDir(git, folder)
  if (common_dir === null) return null
  const [folders, head, branch] = [
    await findFolders(git, folder),
    await ask('rev-parse', '--verify', '-q', 'HEAD^{commit}'),
    await ask('symbolic-ref', '-q', 'HEAD'),
  ]
  const said = (answer: GitAnswer) => (answer.code === 0 ? textOf(answer) : null)
  return {
    root: folders?.root ?? common_dir,
    common_dir,
    head: said(head),
    branch: said(branch)?.replace(/^refs\/heads\//, '') ?? null,
  }
}

/** The real path of a folder that may not exist; its parent is made. */
async function settled(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    return join(await realpath(dirname(path)), basename(path))
  } catch (error) {
    throw fileFault(error, path)
  }
}

/** The private folder in `<common>/<kind>` that belongs to the worktree at `path`, or null. */
export async function adminOf(common: string, kind: string, path: string): Promise<string | null> {
  const folder = join(common, kind)
  for (const name of await namesIn(folder)) {
    const admin = join(folder, name)
    const named = await textIn(join(admin, 'gitdir'))
    if (named !== null && resolve(admin, named) === join(path, '.git')) return admin
  }
  return null
}

/** `common` as `commonDir` says it. */
export async function openPlace(
  machine: WorktreePorts,
  common: string,
  path: string,
): Promise<WorktreeLocation> {
  if (!path.startsWith('/') || path.includes('\0') || path.includes('\n')) {
    throw new GitFault('invalid_name', `${path} is not an absolute path in one line`)
  }
  const real = await settled(resolve(path))
  const admin = await adminOf(common, 'worktrees', real)
  const view = await viewOf(machine, common, admin)
  return { machine, common, view, path: real, work: real, admin }
}

/** How the folders of our views begin in the scratch folder. */
export const VIEW_PREFIX = 'view-'

/** Of the git folder `admin`, else of the shared one; whoever opens it closes it. */
export const viewOf = (machine: WorktreePorts, common: string, admin: string | null) =>
  openView({ ...machine, prefix: VIEW_PREFIX }, common, admin)

/** A git call about the repository as a whole. */
export const gitOf = (place: WorktreeLocation, args: string[], more: Partial<GitCall> = {}) =>
  place.view.whole({ cwd: place.common, args, ...more })

/** A git call in the worktree. */
export const gitIn = (place: WorktreeLocation, args: string[], more: Partial<GitCall> = {}) =>
  place.view.worktree(place.admin, {
    cwd: existsSync(place.work) ? place.work : place.common,
    work_tree: place.work,
    args,
    ...more,
  })

/** The commit a revision names, a branch before anything else of that name; null: no such one. */
export async function commitNamed(
  place: WorktreeLocation,
  revision: string,
): Promise<string | null> {
  for (const name of [`refs/heads/${revision}`, revision]) {
    const args = ['rev-parse', '--verify', '-q', '--end-of-options', `${name}^{commit}`]
    const answer = await gitOf(place, args, { answers: [0, 1, 128] })
    if (answer.code === 0) return textOf(answer)
  }
  return null
}

/** Where git keeps the names that are ours: the base of a branch, as long as it is ours. */
export const baseRef = (branch: string): string => `refs/holon/base/${branch}`

export async function checkBranchName(place: WorktreeLocation, branch: string): Promise<void> {
  const args = ['check-ref-format', `refs/heads/${branch}`]
  const { code } = await gitOf(place, args, { answers: [0, 1] })
  if (code === 0 && !branch.startsWith('-')) return
  throw new GitFault('invalid_name', `${branch} cannot name a branch`)
}

export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    const fault = fileFault(error, folder)
    if (fault.code === 'not_found') return []
    throw fault
  }
}

/** A small file's text without the last line end; null: there is none. */
export async function textIn(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).replace(/\n$/, '')
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code === 'not_found' || fault.code === 'is_folder') return null
    throw fault
  }
}

export async function readMark(admin: string): Promise<WorktreeMarker | null> {
  const text = await textIn(join(admin, 'holon'))
  return text === null ? null : (JSON.parse(text) as WorktreeMarker)
}

export async function writeMark(
  place: WorktreeLocation,
  admin: string,
  mark: WorktreeMarker,
): Promise<void> {
  await place.machine.before('mark')
  const file = join(admin, 'holon')
  await writeFile(`${file}.new`, `${JSON.stringify(mark)}\n`)
  await rename(`${file}.new`, file)
}
