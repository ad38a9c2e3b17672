/**
 * A git folder of our own that sees a repository: its objects, its names and one HEAD are linked
 * in, its configuration and its hooks are not. Git believes the configuration of the folder it is
 * told to use, so whatever the repository configures, and however (includes, `config.worktree`, a
 * changed `commondir`, at whatever moment), no program of it is known here. Attributes name
 * programs by a name that only a configuration explains, so here they name none.
 *
 * What changes how files are read and is only data (line ends, what is ignored, which files are
 * checked out) is copied from the configuration in force, setting by setting (`settingsOf`).
 */
import { constants, existsSync } from 'node:fs'
import {
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { type Git, type GitAnswer, type GitCall, recordsOf } from './git.ts'
import { GitFault } from './git-fault.ts'

/**
 * Settings that are data to git in every version so far: no value of them names a program. A new
 * one needs a look at what git does with it.
 */
const copied: ReadonlySet<string> = new Set([
  'core.repositoryformatversion',
  'core.bare',
  'core.filemode',
  'core.symlinks',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.autocrlf',
  'core.eol',
  'core.excludesfile',
  'core.attributesfile',
  'core.sharedrepository',
  'core.logallrefupdates',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'index.sparse',
])

/** Extensions say how the repository is stored; these two are answered by us instead. */
const notCopied: ReadonlySet<string> = new Set([
  'extensions.worktreeconfig',
  'extensions.partialclone',
])

/** Name (lower case, but for a part in the middle) to value, both as bytes (see `recordsOf`). */
export type GitConfig = ReadonlyMap<string, string>

/** The configuration in force in a git folder, includes followed: read, never obeyed. */
export async function settingsOf(git: Git, git_dir: string): Promise<GitConfig> {
  const args = ['config', '-z', '--get-regexp', '^(core|extensions|index|filter)\\.']
  const { out } = await git({ cwd: git_dir, git_dir, args, answers: [0, 1] })
  const settings = new Map<string, string>()
  for (const record of recordsOf(out)) {
    const line = record.indexOf('\n')
    // A name without a value is true.
    if (line === -1) settings.set(record, 'true')
    else settings.set(record.slice(0, line), record.slice(line + 1))
  }
  return settings
}

export const isSet = (settings: GitConfig, name: string): boolean =>
  /^(true|yes|on|1)$/i.test(settings.get(name) ?? '')

/** Names of the filters that would have changed a file: those with a program. */
export function filtersIn(settings: GitConfig): Set<string> {
  const names = new Set<string>()
  for (const [name, value] of settings) {
    const filter = /^filter\.([^]*)\.(clean|smudge|process)$/.exec(name)?.[1]
    if (filter !== undefined && value !== '') names.add(filter)
  }
  return names
}

function configText(settings: GitConfig, over: Readonly<Record<string, string>>): string {
  const all = new Map<string, string>()
  for (const [name, value] of settings) {
    const isExtension = /^extensions\.[^.]*$/.test(name) && !notCopied.has(name)
    if (isExtension || copied.has(name)) all.set(name, value)
  }
  for (const [name, value] of Object.entries(over)) all.set(name, value)
  return [...all]
    .map(([name, value]) => {
      const [section = '', key = ''] = name.split('.')
      return `[${section}]\n\t${key} = ${inQuotes(value)}\n`
    })
    .join('')
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\b': '\\b' }

const inQuotes = (value: string): string =>
  `"${value.replace(/["\\\n\t\b]/g, (char) => escapes[char] ?? `\\${char}`)}"`

/** What every worktree of a repository shares, by its name in the shared git folder. */
const shared = ['objects', 'refs', 'logs', 'packed-refs', 'shallow']

/** A view is opened for one piece of work, and its folder goes with it. */
export type GitView = {
  readonly settings: GitConfig
  /** Its folder, for files that are needed as long as it is open. */
  readonly folder: string
  /** Runs git with the repository's shared folder in sight. */
  whole(call: GitCall): Promise<GitAnswer>
  /** Runs git with the HEAD and index of one git folder; `admin` null is the shared folder. */
  worktree(admin: string | null, call: GitCall): Promise<GitAnswer>
  close(): Promise<void>
}

export type ViewPorts = {
  git: Git
  /** A folder of ours; made when missing. */
  scratch_folder: string
  /** How names of our folders begin, so that what a kill left is known. */
  prefix: string
}

/**
 * `common`: the shared git folder. `admin`: the one whose configuration is in force. `attributes`
 * outweigh all those of the repository.
 */
export async function openView(
  { git, scratch_folder, prefix }: ViewPorts,
  common: string,
  admin: string | null,
  attributes: string | null = null,
): Promise<GitView> {
  const settings = await settingsOf(git, admin ?? common)
  const storage = settings.get('extensions.refstorage') ?? 'files'
  if (storage !== 'files') {
    throw new GitFault('failed', `the names of this repository are kept as ${storage}`)
  }
  await mkdir(scratch_folder, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(scratch_folder, prefix))
  const made = new Set<string>()
  const has_logs = existsSync(join(common, 'logs'))
  /** The folder of one kind, with the HEAD of now. */
  const ready = async (kind: 'whole' | 'worktree', head_of: string): Promise<string> => {
    const git_dir = join(folder, kind)
    if (!made.has(kind)) {
      const over: Record<string, string> = kind === 'worktree' ? { 'core.bare': 'false' } : {}
      // A link to no folder is none that git would make.
      if (!has_logs) over['core.logallrefupdates'] = 'false'
      await mkdir(join(git_dir, 'info'), { recursive: true, mode: 0o700 })
      await writeFile(join(git_dir, 'config'), configText(settings, over), 'latin1')
      for (const name of shared) await symlink(join(common, name), join(git_dir, name))
      const info = (name: string) => join(git_dir, 'info', name)
      await symlink(join(common, 'info', 'exclude'), info('exclude'))
      if (attributes !== null) await writeFile(info('attributes'), attributes)
      else await symlink(join(common, 'info', 'attributes'), info('attributes'))
      if (kind === 'whole') await symlink(join(common, 'worktrees'), join(git_dir, 'worktrees'))
      made.add(kind)
    }
    await writeFile(join(git_dir, 'HEAD'), await headIn(head_of), 'latin1')
    return git_dir
  }
  return {
    settings,
    folder,
    async whole(call) {
      const git_dir = await ready('whole', common)
      return named(git({ ...call, git_dir, viewed: true }), git_dir, common)
    },
    async worktree(of, call) {
      const own = of ?? common
      const git_dir = await ready('worktree', own)
      await linkOwn(own, git_dir)
      const index_file = call.index_file ?? join(own, 'index')
      return named(git({ ...call, git_dir, index_file, viewed: true }), git_dir, common)
    },
    close: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** What git says is about the repository, and the view is gone when somebody reads it. */
async function named(asked: Promise<GitAnswer>, git_dir: string, common: string) {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof GitFault) || !error.message.includes(git_dir)) throw error
    throw new GitFault(error.code, error.message.replaceAll(git_dir, common), error.cause)
  }
}

/** Parts of a split index, and which files are checked out, belong to one worktree. */
async function linkOwn(own: string, git_dir: string): Promise<void> {
  const names = await readdir(own).catch(() => [])
  for (const name of names) {
    if (name.startsWith('sharedindex.')) await link(join(own, name), join(git_dir, name))
  }
  await link(join(own, 'info', 'sparse-checkout'), join(git_dir, 'info', 'sparse-checkout'))
}

async function link(target: string, path: string): Promise<void> {
  if ((await readlink(path).catch(() => null)) === target) return
  await rm(path, { force: true })
  await symlink(target, path)
}

/** Bytes of a HEAD that are read: a name of a branch, or a commit. */
const HEAD_MAX_BYTES = 4_096

/** What HEAD says, as a file; in old repositories it is a link to the branch. */
async function headIn(folder: string): Promise<string> {
  const path = join(folder, 'HEAD')
  try {
    if ((await lstat(path)).isSymbolicLink()) return `ref: ${await readlink(path, 'latin1')}\n`
    // A pipe in its place must not keep us waiting.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(HEAD_MAX_BYTES) })
      return buffer.toString('latin1', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code !== 'not_found') throw fault
    throw new GitFault('not_a_repository', `${folder} is no git folder: it has no HEAD`, error)
  }
}

/** Takes away what a process that died left of its views. */
export async function clearViews(scratch_folder: string, prefix: string): Promise<void> {
  const names = await readdir(scratch_folder).catch(() => [])
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    await rm(join(scratch_folder, name), { recursive: true, force: true, maxRetries: 3 })
  }
}
