/**
 * Files in folders that an agent may write to, reached without following a link: the last names of
 * a path are opened one below the other, so that nobody can put a link in the place of one of them
 * and lead the runtime elsewhere. What stands before them is the operator's, and may be a link.
 */
import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FileFault, fileFault } from './file-fault.ts'

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK
const hasDescriptorNames = process.platform === 'linux'

/**
 * Calls `act` with a name of the folder of `path` that stays this folder's while it runs. With
 * `make`, missing folders among the last `names` are made (0700). Throws `FileFault`: `not_regular`
 * where one of them is a link.
 */
export async function inFolderOf<T>(
  path: string,
  names: number,
  make: boolean,
  act: (folder: string) => T | Promise<T>,
): Promise<T> {
  const parts: string[] = []
  let base = dirname(path)
  while (parts.length < names - 1) {
    parts.unshift(basename(base))
    base = dirname(base)
  }
  let at = base
  let open = opened(base, folderFlags, base)
  try {
    for (const part of parts) {
      at = join(at, part)
      const next = join(nameOf(open, dirname(at)), part)
      if (make) makeFolder(next, at)
      const below = openedPlain(next, at)
      closeSync(open)
      open = below
    }
    return await named(path, nameOf(open, at), act)
  } finally {
    closeSync(open)
  }
}

/** A fault names the path that was asked for, not the descriptor that it went through. */
async function named<T>(path: string, folder: string, act: (folder: string) => T | Promise<T>) {
  try {
    return await act(folder)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const said = error.message.replaceAll(folder, dirname(path))
    throw new FileFault(error.code, path, said, error)
  }
}

/** Elsewhere than on Linux a swap between this look and the act is not seen. */
function nameOf(folder: number, path: string): string {
  return hasDescriptorNames ? `/proc/self/fd/${folder}` : realpathSync(path)
}

function makeFolder(next: string, path: string): void {
  try {
    mkdirSync(next, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw fileFault(error, path)
    }
  }
}

function openedPlain(next: string, path: string): number {
  try {
    // A link answers ENOTDIR or ELOOP, as the system likes: it is said for what it is.
    if (lstatSync(next).isSymbolicLink()) {
      throw new FileFault('not_regular', path, `${path}: it is a symbolic link`)
    }
  } catch (error) {
    throw fileFault(error, path)
  }
  return opened(next, folderFlags | constants.O_NOFOLLOW, path)
}

function opened(name: string, flags: number, path: string): number {
  try {
    return openSync(name, flags)
  } catch (error) {
    throw fileFault(error, path)
  }
}
