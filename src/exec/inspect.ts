/**
 * How the runtime looks at the world for a check: what a URL answers, and which tree of files a
 * workspace is. Nothing here changes what it looks at: the tree is made with an index of its own,
 * and its objects are written beside the repository, not into it.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileFault } from './file-fault.ts'
import { createGit, filterNames, textOf, type Git, type GitOptions } from './git.ts'
import { GitFault } from './git-fault.ts'
import { GIT_TREE_MS } from './git-limits.ts'
import type { Answered, Inspect, TreeSeen } from './inspect-port.ts'

export type InspectOptions = GitOptions & {
  /** A folder of ours for files that are needed during one look. */
  scratch_folder: string
}

export function createInspect(options: InspectOptions): Inspect {
  const git = createGit(options)
  return { get, tree: (folder) => treeOf(git, folder, options.scratch_folder) }
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
function reasonOf(error: unknown, timeout_ms: number): Extract<Answered, { ok: false }>['why'] {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no whole answer within ${timeout_ms} ms`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  const said = cause instanceof AggregateError ? cause.errors[0] : cause
  return said instanceof Error && said.message !== '' ? said.message : error.message
}

async function treeOf(git: Git, folder: string, scratch_folder: string): Promise<TreeSeen> {
  let scratch: string | null = null
  try {
    await mkdir(scratch_folder, { recursive: true, mode: 0o700 })
    scratch = await mkdtemp(join(scratch_folder, 'tree-'))
    return { hash: await hashIn(git, folder, scratch), problem: null }
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

/**
 * The whole repository's tree, also when the workspace is a folder in it. Every file is read: the
 * index of the repository can be told to call a changed file the same, so it only says which files
 * are tracked although they are ignored.
 */
async function hashIn(git: Git, folder: string, scratch: string): Promise<string> {
  const ask = async (...args: string[]) =>
    textOf(await git({ cwd: folder, args: ['rev-parse', '--path-format=absolute', ...args] }))
  const cwd = await ask('--show-toplevel')
  const read = await ask('--git-path', 'objects')
  const write = join(scratch, 'objects')
  await mkdir(write, { mode: 0o700 })
  const filters = await filterNames(git, { cwd })
  const index_file = join(scratch, 'index')
  const call = { cwd, filters, index_file, objects: { write, read }, timeout_ms: GIT_TREE_MS }
  const ignored = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const { out } = await git({ cwd, filters, args: ignored })
  await git({ ...call, args: ['add', '--all', '.'] })
  if (out.length > 0) {
    const args = ['update-index', '--add', '--remove', '-z', '--stdin']
    await git({ ...call, args, stdin: out })
  }
  return textOf(await git({ ...call, args: ['write-tree', '--missing-ok'] }))
}
