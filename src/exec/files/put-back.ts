/**
 * Putting a state of a file back so that no bytes of anybody are lost, whoever writes meanwhile:
 * what stands at the path is first taken aside under another name, as the one step that nobody can
 * come between, and only then compared. If it is not what it was said to be, it goes back to its
 * place; the new one is put by a step that fails where somebody else's stands by then. No link is
 * followed: the folder is pinned, and the last name is the entry itself.
 */
import { randomUUIDv7 } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FileFault, fileFault } from './file-fault.ts'
import { folderWithin } from './roots.ts'
import { readDescriptor, sha256 } from './whole-file.ts'
import { FILE_READ_MAX_BYTES } from '../limits.ts'
import type { PutAnswer, Roots, Standing } from '../ports.ts'

/** What stands at an absolute path under the roots, a link as a link. Throws `FileFault`. */
export async function lookWithin(roots: Roots, path: string): Promise<Standing> {
  const folder = await folderWithin(roots, path, 'look')
  if (folder === null) return { kind: 'none' }
  try {
    const at = join(folder.inside, basename(path))
    finishEarlier(at, asideOf(at))
    return standing(at, path)
  } catch (error) {
    throw fileFault(error, path)
  } finally {
    await folder.close()
  }
}

/**
 * Puts `next` in the place of `expected`, where that still stands there; folders above it that are
 * missing are made. Throws `FileFault`, and then the file stands as it did.
 */
export async function putWithin(
  roots: Roots,
  path: string,
  expected: Standing,
  next: Standing,
): Promise<PutAnswer> {
  const folder = await folderWithin(roots, path, 'make')
  if (folder === null) throw new FileFault('not_found', path, `${path}: it has no folder`)
  try {
    const at = join(folder.inside, basename(path))
    const drafted = draft(at, next)
    try {
      return exchange(path, at, expected, next, drafted)
    } finally {
      if (drafted !== null) rmSync(drafted, { force: true })
      sync(folder.inside, constants.O_DIRECTORY)
    }
  } catch (error) {
    throw fileFault(error, path)
  } finally {
    await folder.close()
  }
}

function exchange(
  path: string,
  at: string,
  expected: Standing,
  next: Standing,
  drafted: string | null,
): PutAnswer {
  const aside = asideOf(at)
  if (expected.kind !== 'none') {
    if (isThere(aside) && !isSpare(standing(aside, path), [expected, next], aside)) {
      return { put: false, aside: nameBeside(path, aside) }
    }
    if (!isThere(at)) return { put: false, aside: null }
    renameSync(at, aside)
    if (!isStill(aside, path, expected)) return back(path, at, aside)
  }
  try {
    if (next.kind === 'link') symlinkSync(Buffer.from(next.bytes), at)
    else if (drafted !== null) place(drafted, at)
  } catch (error) {
    if (expected.kind !== 'none') {
      const left = back(path, at, aside)
      if (isOfCode(error, 'EEXIST')) return left
    }
    if (isOfCode(error, 'EEXIST')) return { put: false, aside: null }
    throw error
  }
  if (expected.kind === 'none') return { put: true, aside: null }
  // Who had it open may have written into it since: then it stays, under its other name.
  if (!isStill(aside, path, expected)) return { put: true, aside: nameBeside(path, aside) }
  unlinkSync(aside)
  return { put: true, aside: null }
}

/** What was taken aside goes back to its place, unless somebody else's stands there by now. */
function back(path: string, at: string, aside: string): PutAnswer {
  return { put: false, aside: home(at, aside) ? null : nameBeside(path, aside) }
}

function home(at: string, aside: string): boolean {
  try {
    if (lstatSync(aside).isSymbolicLink()) symlinkSync(readlinkSync(aside, 'buffer'), at)
    else place(aside, at)
  } catch (error) {
    if (isOfCode(error, 'EEXIST')) return false
    throw error
  }
  rmSync(aside, { force: true })
  return true
}

/** Gives a file one more name, where none is; the file system may only be able to move it. */
function place(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (isThere(to) || isOfCode(error, 'EEXIST')) throw error
    renameSync(from, to)
  }
}

/** What cannot be read is not what was looked at. */
function isStill(at: string, path: string, expected: Standing): boolean {
  try {
    return isSame(standing(at, path), expected)
  } catch {
    return false
  }
}

/** A process that was killed between the two steps left the path empty. */
function finishEarlier(at: string, aside: string): void {
  if (isThere(aside) && !isThere(at)) home(at, aside)
}

/** What a kill left aside is one of two states that are at hand anyway: then it goes. */
function isSpare(left: Standing, states: readonly Standing[], aside: string): boolean {
  if (!states.some((state) => isSame(state, left))) return false
  unlinkSync(aside)
  return true
}

/**
 * A file of ours beside it with the bytes to come, on the disk when this returns. Root gives it to
 * whom the file belongs that stands there, or the folder.
 */
function draft(at: string, next: Standing): string | null {
  if (next.kind !== 'file') return null
  const name = `.${sha256(basename(at)).slice(0, 12)}.${randomUUIDv7()}.tmp`
  const path = join(dirname(at), name)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = openSync(path, flags, 0o600)
  try {
    writeFileSync(file, next.bytes)
    const owned = lstatSync(at, { throwIfNoEntry: false }) ?? lstatSync(dirname(at))
    if (process.getuid?.() === 0) chownSync(path, owned.uid, owned.gid)
    chmodSync(path, next.mode)
    fsyncSync(file)
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
  return path
}

function standing(at: string, path: string): Standing {
  const entry = lstatSync(at, { throwIfNoEntry: false })
  if (entry === undefined) return { kind: 'none' }
  if (entry.isSymbolicLink()) return { kind: 'link', bytes: readlinkSync(at, 'buffer') }
  if (!entry.isFile()) return { kind: 'other' }
  if (entry.size > FILE_READ_MAX_BYTES) return { kind: 'other' }
  const file = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { bytes, mode } = readDescriptor(file, path, FILE_READ_MAX_BYTES)
    return { kind: 'file', bytes, mode }
  } finally {
    closeSync(file)
  }
}

function isSame(one: Standing, other: Standing): boolean {
  if (one.kind === 'file' && other.kind === 'file') {
    return one.mode === other.mode && Buffer.compare(one.bytes, other.bytes) === 0
  }
  if (one.kind === 'link' && other.kind === 'link') {
    return Buffer.compare(one.bytes, other.bytes) === 0
  }
  return one.kind === 'none' && other.kind === 'none'
}

/** The same name each time, so that what a kill left there is found. */
const asideOf = (at: string): string => {
  const name = basename(at)
  return join(dirname(at), `.${name.slice(0, 40)}.${sha256(name).slice(0, 12)}.holon-aside`)
}

const nameBeside = (path: string, aside: string): string => join(dirname(path), basename(aside))

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

const isOfCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

function sync(path: string, flags: number): void {
  const file = openSync(path, constants.O_RDONLY | flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
