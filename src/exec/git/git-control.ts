/**
 * The files by which a repository tells git what to run, or where to look for that: its hooks, its
 * configurations, and the links from one git folder to another. A confined command may not change
 * them (`commands/confined-script.ts`); what is not there yet cannot be shut by a mount, so it is
 * made first, with a content that says what its absence says.
 */
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { GIT_CONTROL_DEPTH, GIT_CONTROL_FOLDERS } from '../limits.ts'

/**
 * `kept`: folders that stay writable, and cannot be moved away with what is in them. `shut`: files
 * and folders that stay as they are. `covered`: no repository may come to be here. `problem`: why
 * it cannot be shut, in a sentence; commands are then refused.
 */
export type GitControl = {
  kept: string[]
  shut: string[]
  covered: string[]
  problem: string | null
}

/**
 * Of every folder a command may write to, and of the repository its commits go to. That one is
 * named by a working tree or by its git folder; the files of its working trees are not writable by
 * that.
 */
export function gitControl(write: readonly string[], commits_to: string | null): GitControl {
  const found: GitControl = { kept: [], shut: [], covered: [], problem: null }
  for (const root of write) {
    if (kindOf(root) !== 'folder') continue
    const git = join(root, '.git')
    const kind = kindOf(git)
    if (kind === 'link') found.problem ??= linked(git)
    else if (kind === 'file') found.shut.push(git)
    else if (kind === 'folder' && isRepository(git)) repository(found, git, write)
    else found.covered.push(git)
    if (isRepository(root)) repository(found, root, write)
  }
  const shared = commits_to === null ? null : sharedGit(commits_to)
  if (shared !== null && !found.kept.includes(shared)) repository(found, shared, write)
  return found
}

/**
 * The git folder that all working trees of a repository share, from one of them or from itself. A
 * file of a folder leads there, so it is believed only where that git folder names the folder in
 * turn: anybody can write down the path of another's repository. Null: there is none.
 */
function sharedGit(repository: string): string | null {
  const dot = join(repository, '.git')
  const kind = kindOf(dot)
  if (kind === 'link') return null
  if (kind !== 'file') {
    const git = kind === 'folder' ? dot : repository
    return isRepository(git) && commonOf(git) === git ? git : null
  }
  const git = real(resolve(repository, /^gitdir: (.*?)\s*$/.exec(textOf(dot))?.[1] ?? ''))
  const common = commonOf(git)
  const names_it =
    common === git
      ? real(treeOf(git) ?? '') === repository
      : dirname(git) === join(common, 'worktrees') &&
        real(resolve(git, textOf(join(git, 'gitdir')).trim())) === dot
  return names_it && isRepository(common) ? common : null
}

const commonOf = (git: string): string => real(resolve(git, textOf(join(git, 'commondir')).trim()))

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path)

/** The working tree of a submodule, as its git folder names it. */
function treeOf(git: string): string | null {
  const named = /^\s*worktree\s*=\s*(.*?)\s*$/m.exec(textOf(join(git, 'config')))?.[1]
  return named === undefined ? null : resolve(git, named)
}

type Kind = 'nothing' | 'file' | 'folder' | 'link'

function kindOf(path: string): Kind {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 'nothing'
  return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'file'
}

const linked = (path: string): string =>
  `${path} is a link, and what it leads to can be changed behind it: put the real one in its place`

/** What git takes for a repository: less is none to it, more makes no difference. */
const isRepository = (folder: string): boolean =>
  kindOf(join(folder, 'HEAD')) !== 'nothing' &&
  kindOf(join(folder, 'objects')) !== 'nothing' &&
  kindOf(join(folder, 'refs')) !== 'nothing'

function repository(found: GitControl, git: string, write: readonly string[]): void {
  found.kept.push(git)
  shut(found, git, ['hooks', 'config', 'config.worktree', 'commondir'])
  submodules(found, join(git, 'modules'), write, 0)
  worktrees(found, join(git, 'worktrees'), write)
}

/** Says just what its absence says: no hook, no setting, and the shared git folder is this one. */
const absent: Readonly<Record<string, string | null>> = {
  hooks: null,
  config: '',
  'config.worktree': '',
  commondir: '.\n',
}

function shut(found: GitControl, git: string, names: readonly string[]): void {
  for (const name of names) {
    const path = join(git, name)
    if (kindOf(path) === 'nothing') make(path, absent[name] ?? null)
    if (kindOf(path) === 'link') found.problem ??= linked(path)
    found.shut.push(path)
  }
}

function make(path: string, content: string | null): void {
  if (content === null) mkdirSync(path)
  else writeFileSync(path, content, { flag: 'wx' })
  // A repository stays its owner's, whoever runs us.
  const { uid, gid } = statSync(dirname(path))
  if (process.getuid?.() === 0 && uid !== 0) chownSync(path, uid, gid)
}

const foldersIn = (folder: string): string[] =>
  kindOf(folder) !== 'folder'
    ? []
    : readdirSync(folder)
        .map((name) => join(folder, name))
        .filter((path) => kindOf(path) === 'folder')

/** The git folders of submodules, which may have some of their own; too many are shut whole. */
function submodules(
  found: GitControl,
  modules: string,
  write: readonly string[],
  depth: number,
): void {
  if (kindOf(modules) === 'nothing') return
  if (kindOf(modules) === 'link') {
    found.problem ??= linked(modules)
    return
  }
  const all = foldersIn(modules)
  if (depth > GIT_CONTROL_DEPTH || found.kept.length + all.length > GIT_CONTROL_FOLDERS) {
    found.shut.push(modules)
    return
  }
  found.kept.push(modules)
  for (const git of all) {
    // A submodule's name may have slashes.
    if (!isRepository(git)) submodules(found, git, write, depth + 1)
    else {
      found.kept.push(git)
      shut(found, git, ['hooks', 'config', 'config.worktree', 'commondir'])
      submoduleLink(found, git, write)
      submodules(found, join(git, 'modules'), write, depth + 1)
    }
  }
}

/** The `.git` file of a checked-out submodule leads to its git folder, and shall go on doing so. */
function submoduleLink(found: GitControl, git: string, write: readonly string[]): void {
  const tree = treeOf(git)
  if (tree === null) return
  const root = write.find((one) => tree.startsWith(`${one}/`))
  const link = join(tree, '.git')
  if (root === undefined || kindOf(link) !== 'file') return
  const names = relative(root, tree).split('/')
  const way = names.map((_, i) => join(root, ...names.slice(0, i + 1)))
  if (way.some((folder) => kindOf(folder) !== 'folder')) return
  found.kept.push(...way)
  found.shut.push(link)
}

/**
 * Linked worktrees: the private folder says which repository they are of. Those below a folder that
 * the command may write to are left out: who can replace a whole worktree gains nothing here.
 */
function worktrees(found: GitControl, folder: string, write: readonly string[]): void {
  if (kindOf(folder) === 'nothing') return
  if (kindOf(folder) === 'link') {
    found.problem ??= linked(folder)
    return
  }
  const theirs = foldersIn(folder).filter((admin) => {
    const tree = dirname(textOf(join(admin, 'gitdir')).trim())
    return !write.some((root) => tree.startsWith(`${root}/`))
  })
  found.kept.push(folder, ...theirs)
  for (const admin of theirs) {
    const there = ['gitdir', 'commondir'].filter((name) => kindOf(join(admin, name)) !== 'nothing')
    shut(found, admin, [...there, 'config.worktree'])
  }
}

function textOf(path: string): string {
  // A pipe in its place would keep us waiting.
  return kindOf(path) === 'file' && lstatSync(path).isFile() ? readFileSync(path, 'utf8') : ''
}
