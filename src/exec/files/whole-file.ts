/**
 * The two things done with a whole file: reading it from an open handle, and replacing it so that
 * a reader, or a crash, finds the old bytes or the new and nothing between.
 */
import { createHash, randomUUIDv7 } from 'node:crypto'
import { constants, fstatSync, readSync, type Stats } from 'node:fs'
import { type FileHandle, open, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { FileFault, fileFault } from './file-fault.ts'
import type { FileRead } from '../ports.ts'

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Reads an open file whole. `path` is the name for faults. Throws `FileFault`. */
export async function readHandle(
  handle: FileHandle,
  path: string,
  max_bytes: number,
): Promise<FileRead> {
  try {
    const stat = await handle.stat()
    mustBeReadable(stat, path, max_bytes)
    return fileRead(path, stat, await readAll(handle, stat.size))
  } catch (error) {
    throw fileFault(error, path)
  }
}

/** The same of a descriptor, at once. */
export function readDescriptor(file: number, path: string, max_bytes: number): FileRead {
  const stat = fstatSync(file)
  mustBeReadable(stat, path, max_bytes)
  const bytes = Buffer.allocUnsafe(stat.size)
  let have = 0
  while (have < stat.size) {
    const count = readSync(file, bytes, have, stat.size - have, have)
    if (count === 0) break
    have += count
  }
  return fileRead(path, stat, bytes.subarray(0, have))
}

function mustBeReadable(stat: Stats, path: string, max_bytes: number): void {
  if (stat.isDirectory()) throw new FileFault('is_folder', path, `${path}: it is a folder`)
  if (!stat.isFile()) {
    throw new FileFault('not_regular', path, `${path}: it is not a regular file`)
  }
  const tooLarge = `${path}: ${stat.size} bytes, and at most ${max_bytes} are read`
  if (stat.size > max_bytes) throw new FileFault('too_large', path, tooLarge)
}

function fileRead(path: string, stat: Stats, bytes: Buffer): FileRead {
  const updated_at = stat.mtime.toISOString()
  const mode = stat.mode & 0o7777
  return { path, bytes, size: bytes.length, sha256: sha256(bytes), updated_at, mode }
}

/** By position, so that a handle can be read again; what is appended meanwhile is left out. */
async function readAll(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size)
  let have = 0
  while (have < size) {
    const { bytesRead } = await handle.read(bytes, have, size - have, have)
    if (bytesRead === 0) break
    have += bytesRead
  }
  return bytes.subarray(0, have)
}

/**
 * Replaces `folder`/`name` atomically and durably. `folder` may be a name of an open descriptor
 * (`/proc/self/fd/<n>`), which pins it against being swapped meanwhile.
 */
export async function replaceFile(
  folder: string,
  name: string,
  bytes: Uint8Array | string,
  mode: number,
): Promise<void> {
  const draft = join(folder, `.${name.slice(0, 100)}.${randomUUIDv7()}.tmp`)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  try {
    const file = await open(draft, flags, 0o600)
    try {
      await file.writeFile(bytes)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, join(folder, name))
  } catch (error) {
    // The draft is ours alone; if it cannot be removed either, the first failure is the news.
    await unlink(draft).catch(() => undefined)
    throw error
  }
  await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
