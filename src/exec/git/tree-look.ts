/**
 * One look at a working tree: every file that git lists in it, tracked or neither tracked nor
 * ignored, with what stands there. Git only lists: no attribute, filter or line end of the
 * repository touches bytes, nothing of its `.git` is written, and no program of it runs (0046).
 * What was read before is known by its stamp and not read again. No link is followed on the way to
 * a file, whatever the index says of it, and what is opened is read only where it is a regular file
 * of that very name: a pipe, a device or a file elsewhere is not.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type BigIntStats,
} from 'node:fs'
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
  | { kind: 'unkept'; because: Unkept; stamp: string; mode: number }

type Unkept = 'secret' | 'too_large' | 'unreadable'

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
    names = await listedAnew(ports, root)
  } catch (error) {
    if (!(error instanceof GitFault)) throw error
    return { ok: false, why: `git does not list the folder: ${error.message}` }
  }
  if (names.length > TREE_FILES) return { ok: false, why: `it has more than ${TREE_FILES} files` }
  const files = new Map<string, SeenFile>()
  const folders = new Map<string, boolean>()
  let isAsBefore = true
  let read = 0
  for (const [n, name] of names.entries()) {
    if (n % TREE_BREATH === 0) {
      await breathe()
      if (ports.now() > until) return { ok: false, why: `a look takes over ${TREE_LOOK_MS} ms` }
    }
    const path = join(root, name)
    const folder = dirname(path)
    const isReal = folders.get(folder) ?? isItself(folder)
    folders.set(folder, isReal)
    const stat = isReal ? entryAt(path) : undefined
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
    // A name is written down with the list.
    if (ports.isSecret(Buffer.from(path))) continue
    if (stat.size <= limits.kept_file.value) read += Number(stat.size)
    if (read > TREE_LOOK_BYTES) {
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

/** Undefined: nothing is there, or nothing that has that name. */
function entryAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (isOf(error, ['ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES'])) return undefined
    throw error
  }
}

/** Whether no part of a folder's path is a link by now. */
function isItself(folder: string): boolean {
  try {
    return realpathSync.native(folder) === folder
  } catch {
    return false
  }
}

/** Null: it went away meanwhile, or is not what was looked at. */
function seen(
  { store, isSecret }: LookPorts,
  path: string,
  stat: BigIntStats,
  stamp: string,
): SeenFile | null {
  const mode = Number(stat.mode) & 0o7777
  const unkept = (because: Unkept): SeenFile => ({ kind: 'unkept', because, stamp, mode })
  const isLink = stat.isSymbolicLink()
  if (!isLink && stat.size > limits.kept_file.value) return unkept('too_large')
  try {
    const bytes = isLink ? linkAt(path) : bytesAt(path)
    if (bytes === null) return null
    if (bytes.length > limits.kept_file.value) return unkept('too_large')
    if (isSecret(bytes)) return unkept('secret')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    store.put(sha256, bytes)
    return { kind: isLink ? 'link' : 'file', sha256, mode }
  } catch (error) {
    if (isOf(error, ['EACCES', 'EPERM'])) return unkept('unreadable')
    if (isOf(error, ['ENOENT', 'ENOTDIR', 'EINVAL', 'EISDIR', 'ELOOP', 'ENXIO'])) return null
    throw error
  }
}

/** Null: a link leads there by now. */
function linkAt(path: string): Uint8Array | null {
  const bytes = readlinkSync(path, 'buffer')
  return isItself(dirname(path)) ? bytes : null
}

const toRead = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * One byte more than is kept, at most. Null: what was opened is no regular file of that name. On
 * Linux the name of the descriptor is the truth; elsewhere the path is looked at once more.
 */
function bytesAt(path: string): Uint8Array | null {
  const file = openSync(path, toRead)
  try {
    const link = `/proc/self/fd/${file}`
    const name = existsSync(link) ? readlinkSync(link) : realpathSync.native(path)
    const stat = fstatSync(file)
    if (!stat.isFile() || name !== path) return null
    const most = Math.min(stat.size, limits.kept_file.value) + 1
    const bytes = Buffer.allocUnsafe(most)
    let length = 0
    while (length < most) {
      const more = readSync(file, bytes, length, most - length, null)
      if (more === 0) break
      length += more
    }
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

const isOf = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

/** Once more with a view opened anew, where the repository is another than a while ago. */
async function listedAnew(ports: LookPorts, root: string): Promise<string[]> {
  const wasOpen = ports.views.has(root)
  try {
    return await listed(ports, root)
  } catch (error) {
    if (!wasOpen || !(error instanceof GitFault)) throw error
    const known = ports.views.get(root)
    ports.views.delete(root)
    await known?.view.close()
    return listed(ports, root)
  }
}

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
  const args = [...asked, '--absolute-git-dir']
  const answer = textOf(await git({ cwd: root, args, timeout_ms: TREE_LOOK_MS }))
  const [top = '', common = '', admin = ''] = answer.split('\n')
  // A setting may lead it elsewhere: what is not this folder is not followed.
  if (top !== root) throw new GitFault('not_a_repository', `its working tree is ${top}`)
  const view = await openView({ git, scratch_folder, prefix: 'tree-' }, common, admin)
  const opened = { view, admin, until: now() + TREE_VIEW_MS }
  views.set(root, opened)
  return opened
}
