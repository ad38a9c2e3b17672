/**
 * Opening what a model named, and only that: `openWithin` applies the policy of `path-policy.ts`
 * to the path as written, and again to what was really opened. A link that leads out, or a folder
 * swapped for a link between the two looks, is refused: on Linux the name of the open descriptor
 * is the truth and everything after goes through that descriptor; elsewhere the real path is
 * compared before and after.
 */
import { constants, lstatSync, realpathSync } from 'node:fs'
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  stat,
  unlink,
} from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { FileFault, fileFault } from './file-fault.ts'
import { readHandle, replaceFile } from './whole-file.ts'
import { FILE_READ_MAX_BYTES } from '../limits.ts'
import { personsUmask } from '../umask.ts'
import { judgePath, problemOfPath } from './path-policy.ts'
import type { FileRead, OpenedPath, PathMode, Roots } from '../ports.ts'

/**
 * Opens an absolute path under the roots. For `write` the file need not exist, and missing folders
 * above it are made. Throws `FileFault`: `denied` with the policy's sentence, or what the disk
 * says.
 */
export async function openWithin(roots: Roots, path: string, mode: PathMode): Promise<OpenedPath> {
  const problem = problemOfPath(path)
  if (problem) throw new FileFault('denied', path, `${JSON.stringify(path)}: ${problem}`)
  const plain = resolve(path)
  const gate = realRoots(roots)
  judge(gate.written, plain, mode)
  try {
    return await (mode === 'read' ? openToRead(gate, plain) : openToWrite(gate, plain))
  } catch (error) {
    throw fileFault(error, plain)
  }
}

/** `written` judges paths as given, `real` what they turned out to be. */
type Gate = { written: Roots; real: Roots }

function realRoots(roots: Roots): Gate {
  const real = (paths: readonly string[]) => paths.map(realOrSame)
  const [read, write, deny] = [real(roots.read), real(roots.write), real(roots.deny)]
  const read_only = [...new Set([...roots.read_only, ...real(roots.read_only)])]
  const denied = [...new Set([...roots.deny, ...deny])]
  const both = (a: readonly string[], b: readonly string[]) => [...new Set([...a, ...b])]
  return {
    written: {
      read: both(roots.read, read),
      write: both(roots.write, write),
      deny: denied,
      read_only,
    },
    real: { read, write, deny: denied, read_only },
  }
}

/**
 * Synchronous, and without a thrown error for what is not there: these are some sixty looks for
 * each file, and a trip to the thread pool takes ten times one.
 */
export function realOrSame(path: string): string {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path
    return realpathSync.native(path)
  } catch {
    return path // Not there (yet): a root that does not exist holds nothing to protect or reach.
  }
}

function judge(roots: Roots, path: string, mode: PathMode, named: string = path): void {
  const verdict = judgePath(roots, path, mode)
  if (verdict.allowed) return
  const shown = path === named ? path : `${named} (really ${path})`
  throw new FileFault('denied', named, `${shown}: ${verdict.why}`)
}

const quiet = constants.O_NONBLOCK | constants.O_NOCTTY

async function openToRead(gate: Gate, plain: string): Promise<OpenedPath> {
  // Looked at before the open, because opening a device can itself do something.
  judge(gate.real, await realpath(plain), 'read', plain)
  const before = await stat(plain)
  if (before.isDirectory()) throw new FileFault('is_folder', plain, `${plain}: it is a folder`)
  if (!before.isFile()) {
    throw new FileFault('not_regular', plain, `${plain}: it is not a regular file`)
  }
  const handle = await open(plain, constants.O_RDONLY | quiet)
  try {
    const real = await nameOf(handle, plain)
    judge(gate.real, real, 'read', plain)
    return {
      path: real,
      read: (max_bytes = FILE_READ_MAX_BYTES) => readHandle(handle, real, max_bytes),
      replace: () => Promise.reject(new Error('replace on a path opened for reading')),
      remove: () => Promise.reject(new Error('remove on a path opened for reading')),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function openToWrite(gate: Gate, plain: string): Promise<OpenedPath> {
  const target = await followLast(gate, plain)
  const folder = await openFolder(gate, dirname(target), plain)
  try {
    const name = basename(target)
    const real = join(await nameOf(folder, dirname(target)), name)
    judge(gate.real, real, 'write', plain)
    const inside = await pinned(folder, dirname(real))
    const at = join(inside, name)
    return {
      path: real,
      read: (max_bytes = FILE_READ_MAX_BYTES) => readEntry(at, real, max_bytes),
      replace: (bytes) => replaceEntry(inside, name, real, bytes),
      remove: () => guarded(real, () => unlink(at)),
      close: () => folder.close(),
    }
  } catch (error) {
    await folder.close()
    throw error
  }
}

/** The file a link leads to is what is written, if the policy allows it there. */
async function followLast(gate: Gate, plain: string): Promise<string> {
  const entry = await lstat(plain).catch(() => null)
  if (!entry) return plain
  const real = await realpath(plain)
  judge(gate.real, real, 'write', plain)
  const found = await lstat(real)
  if (found.isDirectory()) throw new FileFault('is_folder', plain, `${plain}: it is a folder`)
  if (!found.isFile()) {
    throw new FileFault('not_regular', plain, `${plain}: it is not a regular file`)
  }
  return real
}

/**
 * Opens a folder, making what is missing one level at a time below a descriptor that was judged:
 * a link put in the place of a new folder meanwhile is not followed.
 */
async function openFolder(gate: Gate, path: string, named: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | quiet
  const missing: string[] = []
  let top = path
  let handle: FileHandle | null = null
  while (!handle) {
    try {
      judge(gate.real, join(await realpath(top), ...missing, 'x'), 'write', named)
      handle = await open(top, flags)
    } catch (error) {
      if (fileFault(error, top).code !== 'not_found' || top === '/') throw error
      missing.unshift(basename(top))
      top = dirname(top)
    }
  }
  try {
    judge(gate.real, join(await nameOf(handle, top), ...missing, 'x'), 'write', named)
    for (const name of missing) {
      const next = join(await pinned(handle, top), name)
      const isMade = await mkdir(next).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
          return false
        },
      )
      const below = await open(next, flags | constants.O_NOFOLLOW)
      if (isMade) await below.chmod(0o777 & ~personsUmask())
      await handle.close()
      handle = below
      top = join(top, name)
    }
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A folder that is held: `inside` reaches it whatever happens to its path. */
export type HeldFolder = { inside: string; close(): Promise<void> }

/**
 * The folder of an absolute path that was recorded as a real one; with `make` what is missing of it
 * is made, else null says that it is missing. A path that goes through a link by now is `denied`.
 */
export async function folderWithin(
  roots: Roots,
  path: string,
  how: 'look' | 'make',
): Promise<HeldFolder | null> {
  const problem = problemOfPath(path)
  if (problem) throw new FileFault('denied', path, `${JSON.stringify(path)}: ${problem}`)
  const gate = realRoots(roots)
  judge(gate.written, path, 'write')
  judge(gate.real, path, 'write')
  const above = dirname(path)
  try {
    if (how === 'look' && (await lstat(above).catch(() => null)) === null) return null
    const folder = await openFolder(gate, above, path)
    try {
      if ((await nameOf(folder, above)) !== above) {
        throw new FileFault('denied', path, `${path}: a link leads to its folder now`)
      }
      return { inside: await pinned(folder, above), close: () => folder.close() }
    } catch (error) {
      await folder.close()
      throw error
    }
  } catch (error) {
    throw fileFault(error, path)
  }
}

async function readEntry(at: string, path: string, max_bytes: number): Promise<FileRead> {
  return guarded(path, async () => {
    const handle = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | quiet)
    try {
      return await readHandle(handle, path, max_bytes)
    } finally {
      await handle.close()
    }
  })
}

async function replaceEntry(
  inside: string,
  name: string,
  path: string,
  bytes: Uint8Array | string,
): Promise<void> {
  await guarded(path, async () => {
    const entry = await lstat(join(inside, name)).catch(() => null)
    if (entry && !entry.isFile()) {
      throw new FileFault('not_regular', path, `${path}: it is not a regular file any more`)
    }
    await replaceFile(inside, name, bytes, entry ? entry.mode & 0o7777 : 0o666 & ~personsUmask())
  })
}

async function guarded<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw fileFault(error, path)
  }
}

/** A name that reaches exactly the open file or folder, whatever happens to its path. */
async function pinned(handle: FileHandle, path: string): Promise<string> {
  const link = `/proc/self/fd/${handle.fd}`
  return (await lstat(link).catch(() => null)) ? link : path
}

/** The real path of what is open. */
async function nameOf(handle: FileHandle, path: string): Promise<string> {
  const link = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
  const name = link ?? (await realpath(path))
  const [held, named] = [await handle.stat(), await lstat(name).catch(() => null)]
  if (named && named.ino === held.ino && named.dev === held.dev) return name
  // Renamed or deleted between the open and this look; its name says nothing reliable.
  throw new FileFault('io', path, `${path}: it was moved while being opened`)
}
