/**
 * How the runtime looks at the world: what a URL answers, which tree of files a workspace is, what
 * machine and repository somebody is about to work with. Nothing here changes what it looks at: the
 * tree is made with an index of its own, and its objects are written beside the repository.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { createGit, recordsOf, textOf, type GitOptions } from '../git/git.ts'
import { GitFault } from '../git/git-fault.ts'
import { GIT_TREE_MS } from '../git/git-limits.ts'
import { clearViews, openView, type ViewPorts } from '../git/git-view.ts'
import type { GetResult, Inspect, MachineSeen, RepositorySeen, TreeSeen } from './inspect-port.ts'
import { lookAtMachine } from './machine.ts'
import { within } from '../git/within.ts'
import { findFolders } from '../worktrees/place.ts'

/** How the folders of our views begin: not as those of worktrees, which are made at their side. */
const VIEW_PREFIX = 'look-'

export type InspectOptions = GitOptions & {
  /** A folder of ours for files that are needed during one look. */
  scratch_folder: string
}

export function createInspect(options: InspectOptions): Inspect {
  const git = createGit(options)
  const { scratch_folder } = options
  const ports = { git, scratch_folder, prefix: VIEW_PREFIX }
  let cleared: Promise<void> | null = null
  const clear = () => (cleared ??= clearViews(scratch_folder, VIEW_PREFIX))
  let machine: Promise<MachineSeen> | null = null
  return {
    get,
    async tree(folder) {
      await clear()
      return treeOf(ports, folder)
    },
    machine: (ms) => within(ms, (machine ??= lookAtMachine(options.parent_env['PATH'] ?? ''))),
    async repository(folder, ms) {
      await clear()
      return within(ms, repositoryOf(ports, folder))
    },
  }
}

const get: Inspect['get'] = async (url, { timeout_ms, max_bytes, signal: ended }) => {
  const late = AbortSignal.timeout(timeout_ms)
  const signal = ended === undefined ? late : AbortSignal.any([late, ended])
  try {
    const response = await fetch(url, { redirect: 'manual', signal, headers: { accept: '*/*' } })
    return { ok: true, status: response.status, text: await beginning(response, max_bytes) }
  } catch (error) {
    return { ok: false, why: reasonOf(error, timeout_ms) }
  }
}

/** The first `max_bytes` of a body; the rest is not read, and the connection is given up. */
async function beginning({ body }: Response, max_bytes: number): Promise<string> {
  if (body === null) return ''
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    const taken = part.subarray(0, max_bytes - bytes)
    parts.push(taken)
    bytes += taken.length
    if (bytes >= max_bytes) break
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** `fetch failed` says nothing: what is behind it does. */
function reasonOf(error: unknown, timeout_ms: number): Extract<GetResult, { ok: false }>['why'] {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no whole answer within ${timeout_ms} ms`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const said = cause instanceof AggregateError ? cause.errors[0] : cause
  return said instanceof Error && said.message !== '' ? said.message : error.message
}

async function treeOf(ports: ViewPorts, folder: string): Promise<TreeSeen> {
  let scratch: string | null = null
  try {
    await mkdir(ports.scratch_folder, { recursive: true, mode: 0o700 })
    scratch = await mkdtemp(join(ports.scratch_folder, 'tree-'))
    return { hash: await hashIn(ports, folder, scratch), problem: null }
  } catch (error) {
    const fault = error instanceof GitFault ? error : fileFault(error, folder)
    return { hash: null, problem: problemOf(fault, folder) }
  } finally {
    if (scratch !== null) await rm(scratch, { recursive: true, force: true, maxRetries: 3 })
  }
}

const problemOf = (fault: Error, folder: string): string =>
  fault instanceof GitFault && fault.code === 'not_a_repository'
    ? `${folder} is in no git repository`
    : fault.message.slice(0, 300)

/** Files are what they are on the disk: no line end, encoding or keyword of them is changed. */
const asTheyLie = '* -text !eol !ident !filter !working-tree-encoding\n'

/**
 * The whole repository's tree, also when the workspace is a folder in it. Every file is read: the
 * index of the repository can be told to call a changed file the same, so it only says which files
 * are tracked although they are ignored.
 */
async function hashIn(ports: ViewPorts, folder: string, scratch: string): Promise<string> {
  const found = await findFolders(ports.git, folder)
  if (found === null) throw new GitFault('not_a_repository', `${folder} is in no git repository`)
  const { root, common_dir, git_dir } = found
  const view = await openView(ports, common_dir, git_dir, asTheyLie)
  try {
    const write = join(scratch, 'objects')
    await mkdir(write, { mode: 0o700 })
    const objects = { write, read: join(common_dir, 'objects') }
    const call = { cwd: root, work_tree: root, timeout_ms: GIT_TREE_MS }
    const ignored = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
    const { out } = await view.worktree(git_dir, { ...call, args: ignored })
    const own = { ...call, index_file: join(scratch, 'index'), objects }
    await view.worktree(git_dir, { ...own, args: ['add', '--all', '.'] })
    if (out.length > 0) {
      const args = ['update-index', '--add', '--remove', '-z', '--stdin']
      await view.worktree(git_dir, { ...own, args, stdin: out })
    }
    return textOf(await view.worktree(git_dir, { ...own, args: ['write-tree', '--missing-ok'] }))
  } finally {
    await view.close()
  }
}

async function repositoryOf(ports: ViewPorts, folder: string): Promise<RepositorySeen | null> {
  const found = await findFolders(ports.git, folder)
  if (found === null) return null
  const { root, common_dir, git_dir } = found
  const view = await openView(ports, common_dir, git_dir)
  try {
    const ask = async (args: string[], answers = [0]) => {
      const call = { cwd: root, work_tree: root, timeout_ms: GIT_TREE_MS }
      return view.worktree(git_dir, { ...call, args, answers })
    }
    const branch = await ask(['symbolic-ref', '-q', '--short', 'HEAD'], [0, 1])
    const one = ['rev-list', '--max-count=1', '--no-commit-header', '--format=%h%n%cI%n%s', 'HEAD']
    const last = await ask(one, [0, 128])
    const [commit = '', at = '', subject = ''] = textOf(last).split('\n')
    const status = ['status', '--porcelain=v2', '-z', '--ignore-submodules=dirty', '--no-renames']
    const { out } = await ask(status)
    return {
      branch: branch.code === 0 ? textOf(branch) : null,
      changed: recordsOf(out).length,
      last: last.code === 0 && commit !== '' ? { commit, at, subject } : null,
    }
  } finally {
    await view.close()
  }
}
