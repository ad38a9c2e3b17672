/**
 * One look at a working tree: every file that git lists in it, tracked or neither tracked nor
 * ignored, with what stands there. Git only lists: no attribute, filter or line end of the
 * repository touches bytes, nothing of its `.git` is written, and no program of it runs (0046).
 * What was read before is known by its stamp and not read again.
 */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readlinkSync, type BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { limits } from '../../domain/limits.ts'
import { judgePath } from '../files/path-policy.ts'
import type { Roots } from '../ports.ts'
import { recordsOf, textOf, type Git } from './git.ts'
import { GitFault } from './git-fault.ts'
import { openView, type GitView } from './git-view.ts'
import {
  TREE_BREATH,
  TREE_FILES,
  TREE_LOOK_BYTES,
  TREE_LOOK_MS,
  TREE_STAMP_MS,
  TREE_STORE_BYTES,
  TREE_VIEW_MS,
} from './tree-limits.ts'
import type { TreeStore } from './tree-store.ts'

/** `unkept`: its bytes are in no store; that it changed is told by its stamp. */
export type SeenFile =
  | { kind: 'file' | 'link'; sha256: string; mode: number }
  | { kind: 'unkept'; because: 'secret' | 'too_large'; stamp: string; mode: number }

export type Seen = ReadonlyMap<string, SeenFile>
export type Look = { ok: true; files: Seen } | { ok: false; why: string }

/** A view of a repository, and until when its settings are taken for those of now. */
export type OpenView = { view: GitView; admin: string; until: number }

export type LookPorts = {
  git: Git
  /** By the top of the working tree. */
  views: Map<string, OpenView>
  scratch_folder: string
  store: TreeStore
  /** Whether bytes hold a secret, and so are kept nowhere. */
  isSecret: (bytes: Uint8Array) => boolean
  now: () => number
}

/**
 * What earlier looks under the same roots saw, by path, with the stamp at which it was so; and the
 * whole of the last one, which the next one is, too, where nothing has changed.
 */
export type Known = { files: Map<string, { stamp: string; file: SeenFile }>; last: Seen | null }

/** The top of the working tree that a folder is in, by its `.git` alone; null: it is in none. */
export function treeOf(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return null
  }
}

/** `roots`: what may be followed; nothing else is read. */
export async function lookAt(
  ports: LookPorts,
  { root, roots }: { root: string; roots: Roots },
  known: Known,
): Promise<Look> {
  const until = ports.now() + TREE_LOOK_MS
  let names: string[]
  try {
    names = await listed(ports, root)
  } catch (error) {
    if (!(error instanceof GitFault)) throw error
    return { ok: false, why: `git does not list the folder: ${error.message}` }
  }
  if (names.length > TREE_FILES) return { ok: false, why: `it has more than ${TREE_FILES} files` }
  const files = new Map<string, SeenFile>()
  let isAsBefore = true
  let read = 0
  for (const [n, name] of names.entries()) {
    if (n % TREE_BREATH === 0) {
      await breathe()
      if (ports.now() > until) return { ok: false, why: `a look takes over ${TREE_LOOK_MS} ms` }
    }
    const path = join(root, name)
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) continue
    const before = known.files.get(path)
    const stamp = stampOf(stat)
    if (before?.stamp === stamp) {
      files.set(path, before.file)
      isAsBefore &&= known.last?.get(path) === before.file
      continue
    }
    isAsBefore = false
    if (!judgePath(roots, path, 'write').allowed) continue
    read += Number(stat.size)
    if (read > TREE_LOOK_BYTES && stat.size <= limits.kept_file.value) {
      return { ok: false, why: `more than ${TREE_LOOK_BYTES} bytes of it are new` }
    }
    const file = seen(ports, path, stat, stamp)
    if (file === null) continue
    if (ports.store.bytes > TREE_STORE_BYTES) {
      return { ok: false, why: `the store has more than ${TREE_STORE_BYTES} bytes` }
    }
    files.set(path, file)
    // One written in the same moment may have the stamp of what was read.
    const isFresh = ports.now() - Number(stat.ctimeMs) < TREE_STAMP_MS
    if (isFresh) known.files.delete(path)
    else known.files.set(path, { stamp, file })
  }
  if (!isAsBefore || known.last?.size !== files.size) known.last = files
  return { ok: true, files: known.last }
}

const stampOf = ({ mtimeNs, ctimeNs, size, ino, mode }: BigIntStats): string =>
  `${mtimeNs} ${ctimeNs} ${size} ${ino} ${mode}`

/** Null: it went away meanwhile, or may not be read. */
function seen(
  { store, isSecret }: LookPorts,
  path: string,
  stat: BigIntStats,
  stamp: string,
): SeenFile | null {
  const mode = Number(stat.mode) & 0o7777
  if (stat.size > limits.kept_file.value)
    return { kind: 'unkept', because: 'too_large', stamp, mode }
  try {
    const isLink = stat.isSymbolicLink()
    const bytes = isLink ? readlinkSync(path, 'buffer') : readFileSync(path)
    if (isSecret(bytes)) return { kind: 'unkept', because: 'secret', stamp, mode }
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    store.put(sha256, bytes)
    return { kind: isLink ? 'link' : 'file', sha256, mode }
  } catch (error) {
    if (error instanceof Error && 'code' in error && goneOrClosed.has(String(error.code)))
      return null
    throw error
  }
}

const goneOrClosed: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'EPERM', 'EINVAL', 'EISDIR'])

/** Names below the root; one that is not UTF-8 is not followed. */
async function listed(ports: LookPorts, root: string): Promise<string[]> {
  const { view, admin } = await viewOf(ports, root)
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const call = { cwd: root, work_tree: root, args, timeout_ms: TREE_LOOK_MS }
  const { out } = await view.worktree(admin, call)
  return recordsOf(out).flatMap((record) => {
    const bytes = Buffer.from(record, 'latin1')
    const name = bytes.toString()
    return record.endsWith('/') || !Buffer.from(name).equals(bytes) ? [] : [name]
  })
}

/** One that was opened lately, so that a short command costs one git call before and one after. */
async function viewOf({ views, now, ...ports }: LookPorts, root: string): Promise<OpenView> {
  const known = views.get(root)
  if (known !== undefined && now() < known.until) return known
  views.delete(root)
  await known?.view.close()
  const { git, scratch_folder } = ports
  const asked = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']
  const answer = textOf(await git({ cwd: root, args: [...asked, '--absolute-git-dir'] }))
  const [top = '', common = '', admin = ''] = answer.split('\n')
  // A setting may lead it elsewhere: what is not this folder is not followed.
  if (top !== root) throw new GitFault('not_a_repository', `its working tree is ${top}`)
  const view = await openView({ git, scratch_folder, prefix: 'tree-' }, common, admin)
  const opened = { view, admin, until: now() + TREE_VIEW_MS }
  views.set(root, opened)
  return opened
}
