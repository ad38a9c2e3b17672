/**
 * A worktree on its way out: the folders beside it that a removal uses, and the deletion itself.
 * `<path>.removing`: moved away, being verified. `<path>.removed-<t>`: verified; what changed at or
 * after `t` (nanoseconds of the disk's own clock) is not part of that, and is never deleted.
 * `<path>.left-<t>`: what was found so. Each step is one rename, so that a repeat goes on.
 */
import { existsSync } from 'node:fs'
import { lstat, mkdir, rename, rmdir, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileFault } from '../files/file-fault.ts'
import { namesIn, type WorktreeLocation } from './place.ts'
import { diskPath, walkAll } from './walk.ts'

export type HalfRemoved = { folder: string; verified: bigint | null }

export const removingPath = (path: string): string => `${path}.removing`

/** The removal of this path that was interrupted, if there is one. */
export async function halfRemoved(
  place: Pick<WorktreeLocation, 'path'>,
): Promise<HalfRemoved | null> {
  const folder = dirname(place.path)
  const start = `${basename(place.path)}.removed-`
  for (const name of await namesIn(folder)) {
    if (!name.startsWith(start) || !/^\d+$/.test(name.slice(start.length))) continue
    return { folder: join(folder, name), verified: BigInt(name.slice(start.length)) }
  }
  const moved = removingPath(place.path)
  return existsSync(moved) ? { folder: moved, verified: null } : null
}

/** The time now as the disk of `folder` would write it on a file. */
async function diskTime(folder: string): Promise<bigint> {
  const probe = join(folder, `.probe-${process.pid}`)
  try {
    await writeFile(probe, '', { mode: 0o600 })
    const { ctimeNs } = await lstat(probe, { bigint: true })
    await unlink(probe)
    return ctimeNs
  } catch (error) {
    throw fileFault(error, probe)
  }
}

/** A time after the last change of `file`: the disk's clock ticks every few milliseconds. */
export async function timeAfter(file: string): Promise<bigint> {
  const { ctimeNs } = await lstat(file, { bigint: true })
  for (;;) {
    const time = await diskTime(dirname(file))
    if (time > ctimeNs) return time
  }
}

/** Whether nothing below `folder` was written since `time`. */
export async function untouchedSince(folder: string, time: bigint): Promise<boolean> {
  for (const { path, isFolder } of await walkAll(folder)) {
    // Git renews the time of a shared index whenever it reads it; its content is its name.
    if (isFolder || path.startsWith('sharedindex.')) continue
    if ((await lstat(diskPath(folder, path), { bigint: true })).ctimeNs >= time) return false
  }
  return true
}

/**
 * Deletes what was verified. Returns the folder with what came later, or null when there is none.
 * The time of a file is asked right before its deletion; between the two lies one system call.
 */
export async function deleteVerified(
  place: WorktreeLocation,
  { folder, verified }: { folder: string; verified: bigint },
): Promise<string | null> {
  await place.machine.before('delete files')
  const all = await walkAll(folder)
  for (const { path, isFolder } of all.toReversed()) {
    const file = diskPath(folder, path)
    try {
      if (isFolder) await rmdir(file)
      else if ((await lstat(file, { bigint: true })).ctimeNs < verified) await unlink(file)
    } catch (error) {
      const fault = fileFault(error, file.toString())
      const code = error instanceof Error && 'code' in error ? error.code : ''
      if (code === 'ENOTEMPTY' || fault.code === 'not_found') continue
      throw fault
    }
  }
  await place.machine.before('delete folder')
  if ((await walkAll(folder)).length > 0) {
    const left = `${place.path}.left-${verified}`
    await rename(folder, left)
    return left
  }
  await rmdir(folder)
  return null
}

/** Moves a folder, making the parent of the new place. */
export async function move(place: WorktreeLocation, from: string, to: string): Promise<void> {
  await place.machine.before(`move ${basename(dirname(to))}`)
  try {
    await mkdir(dirname(to), { recursive: true })
    await rename(from, to)
  } catch (error) {
    throw fileFault(error, from)
  }
}
