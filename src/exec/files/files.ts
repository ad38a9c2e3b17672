/**
 * Files by absolute path, for the runtime's own use: the real `Files` (contract in
 * `exec/ports.ts`). Knows no policy but through `open_within`, which is `roots.ts`.
 */
import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync } from 'node:fs'
import { mkdir, open, readdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { FileFault, fileFault } from './file-fault.ts'
import { FILE_READ_MAX_BYTES } from '../limits.ts'
import type { FileEntry, FileKind, FileRead, Files, FileStat } from '../ports.ts'
import { lookWithin, putWithin } from './put-back.ts'
import { openWithin } from './roots.ts'
import { inFolderOf } from './unlinked.ts'
import { readDescriptor, replaceFile } from './whole-file.ts'

type Kinds = { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }

function kindOf(entry: Kinds): FileKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

export function systemFiles(): Files {
  return {
    read,
    hash,
    stat,
    append,
    list,
    exists,
    remove,
    open_within: openWithin,
    look_within: lookWithin,
    put_within: putWithin,
    async write_atomic(path, bytes, mode, options) {
      if (options) {
        const put = (folder: string) =>
          faulty(path, () => replaceFile(folder, basename(path), bytes, mode ?? 0o600))
        return inFolderOf(path, options.unlinked, true, put)
      }
      const target = mode ?? (await modeOf(path))
      await faulty(path, () => replaceFile(dirname(path), basename(path), bytes, target))
    },
    async make_folder(path, mode = 0o700) {
      await faulty(path, () => mkdir(path, { recursive: true, mode }))
    },
  }
}

/** Opens without waiting for a pipe's writer, and without touching a terminal. */
const quietRead = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/** Synchronous inside, as `stat` is: what is read here are the plans and settings of a home. */
async function read(
  path: string,
  options: { max_bytes?: number; follow?: boolean; unlinked?: number } = {},
): Promise<FileRead> {
  const { unlinked, ...rest } = options
  if (unlinked !== undefined) {
    const plain = { ...rest, follow: false }
    const inside = (folder: string) => read(join(folder, basename(path)), plain)
    return inFolderOf(path, unlinked, false, async (folder) => ({
      ...(await inside(folder)),
      path,
    }))
  }
  const flags = options.follow === false ? quietRead | constants.O_NOFOLLOW : quietRead
  return faulty(path, async () => {
    const file = openSync(path, flags)
    try {
      return readDescriptor(file, path, options.max_bytes ?? FILE_READ_MAX_BYTES)
    } finally {
      closeSync(file)
    }
  })
}

async function hash(path: string): Promise<{ sha256: string; bytes: number }> {
  return faulty(path, async () => {
    const handle = await open(path, quietRead)
    const digest = createHash('sha256')
    let bytes = 0
    try {
      const kind = kindOf(await handle.stat())
      if (kind === 'folder') throw new FileFault('is_folder', path, `${path}: it is a folder`)
      if (kind !== 'file') {
        throw new FileFault('not_regular', path, `${path}: it is not a regular file`)
      }
      for await (const chunk of handle.createReadStream({ autoClose: false })) {
        digest.update(chunk)
        bytes += chunk.length
      }
    } finally {
      await handle.close()
    }
    return { sha256: digest.digest('hex'), bytes }
  })
}

/** Synchronous inside: a trip to the thread pool takes twenty times the look, at every command. */
async function stat(path: string, options?: { unlinked: number }): Promise<FileStat> {
  if (options) {
    return inFolderOf(path, options.unlinked, false, (at) => stat(join(at, basename(path))))
  }
  const found = await faulty(path, async () => lstatSync(path))
  const { size, mtime, mode } = found
  return { kind: kindOf(found), size, updated_at: mtime.toISOString(), mode: mode & 0o7777 }
}

async function modeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mode
  } catch (error) {
    if (error instanceof FileFault && error.code === 'not_found') return 0o600
    throw error
  }
}

async function append(path: string, bytes: Uint8Array | string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT
  await faulty(path, async () => {
    const handle = await open(path, flags, 0o600)
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
  })
}

async function list(folder: string): Promise<FileEntry[]> {
  const entries = await faulty(folder, () => readdir(folder, { withFileTypes: true }))
  const named = entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
  return named.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function exists(path: string): Promise<boolean> {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code === 'not_found') return false
    throw fault
  }
}

async function remove(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    const fault = fileFault(error, path)
    if (fault.code !== 'not_found') throw fault
  }
}

async function faulty<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw fileFault(error, path)
  }
}
