/**
 * Copying files of a home, and knowing what was copied: the hash is of the bytes that were written.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

const chunk = 1024 * 1024

export type Copied = { bytes: number; sha256: string }

/** Copies one ordinary file, private to its user and synced. A link is not followed: `ELOOP`. */
export async function copyFile(from: string, to: string): Promise<Copied> {
  const source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const { mode } = await source.stat()
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const target = await open(to, 'wx', 0o600 | (mode & 0o100))
    try {
      const copied = await pour(source, target)
      await target.sync()
      return copied
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** The size and hash of a file as it is. */
export async function measureFile(path: string): Promise<Copied> {
  const source = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await pour(source, null)
  } finally {
    await source.close()
  }
}

async function pour(source: FileHandle, target: FileHandle | null): Promise<Copied> {
  const hash = createHash('sha256')
  const buffer = new Uint8Array(chunk)
  for (let bytes = 0; ;) {
    const { bytesRead } = await source.read(buffer, 0, chunk, bytes)
    if (bytesRead === 0) return { bytes, sha256: hash.digest('hex') }
    const read = buffer.subarray(0, bytesRead)
    hash.update(read)
    if (target !== null) await writeWhole(target, read)
    bytes += bytesRead
  }
}

/** One write may take less than it was given, on a disk that is getting full. */
async function writeWhole(target: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await target.write(bytes, done)
    done += bytesWritten
  }
}
