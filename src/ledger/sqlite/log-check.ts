/**
 * The look at SQLite's write-ahead log before SQLite recovers it. Where a frame of the log is
 * damaged, SQLite takes it for the end and forgets in silence all that was committed after it, for
 * it cannot tell damage from a write that a power cut left half done. We can: each commit was
 * synced before the next began, so what is half done can only be the last transaction. A frame that
 * is wrong and has a whole later transaction behind it is damage. Reads the file; changes nothing.
 *
 * A flip in the last transaction looks like a cut and cannot be told from one. SQLite fills no
 * sector up with copies of a commit here, because its disks are taken to keep what was not written
 * to.
 *
 * The format: https://sqlite.org/fileformat2.html#walformat
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { damage } from './integrity.ts'

const logHeader = 32
const frameHeader = 24
/** Of a frame's own header, what its checksum covers. */
const summedHeader = 8

type Sums = readonly [number, number]

/** Throws the fault `corrupt`. To be called before anything opens the database, by its owner. */
export function checkLog(database: string): void {
  const found = logProblem(database)
  if (found !== null) throw damage(database, found)
}

/** What is wrong with the log beside this database, in words; null: nothing, or there is none. */
function logProblem(database: string): string | null {
  const path = `${database}-wal`
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size <= logHeader) return null
  const fd = openSync(path, 'r')
  try {
    return problemIn(fd, size)
  } finally {
    closeSync(fd)
  }
}

function problemIn(fd: number, size: number): string | null {
  const header = Buffer.alloc(logHeader)
  readSync(fd, header, 0, logHeader, 0)
  const pageSize = header.readUInt32BE(8)
  // Without its header nothing of a log counts; a header is synced before anything counts on it.
  const magic = header.readUInt32BE(0)
  const little = (magic & 1) === 0
  const sound = (magic & ~1) === 0x377f0682 && isPageSize(pageSize)
  const sums = sound ? sumsOver([0, 0], header, 24, little) : null
  if (sums === null || !isSum(sums, header, 24)) return frameless(fd, size)

  const frame = Buffer.alloc(frameHeader + pageSize)
  /** From where the next frame may go on: what a wrong frame says, or what it should have said. */
  let known: Sums[] = [sums]
  let firstWrong = 0
  let commitBefore = false
  for (let n = 1, at = logHeader; at + frame.length <= size; n += 1, at += frame.length) {
    readSync(fd, frame, 0, frame.length, at)
    // Another salt: what an earlier round of the log left there.
    const salted = frame.compare(header, 16, 24, 8, 16) === 0
    const computed = known.map((from) =>
      sumsOver(sumsOver(from, frame, summedHeader, little), frame, -pageSize, little),
    )
    const right = salted && computed.some((one) => isSum(one, frame, 16))
    // Frames of one transaction follow each other; one that goes on behind a commit began later.
    if (firstWrong !== 0 && right && commitBefore) return damaged(firstWrong, n)
    if (!right && firstWrong === 0) firstWrong = n
    commitBefore = firstWrong !== 0 && frame.readUInt32BE(4) > 0
    const said: Sums = [frame.readUInt32BE(16), frame.readUInt32BE(20)]
    known = right ? [said] : [said, ...computed]
    // Two wrong ones in a row cannot both be followed: the frame's own word counts.
    if (known.length > 3) known = [said]
  }
  return null
}

const damaged = (wrong: number, whole: number): string =>
  `frame ${wrong} of its log is not as it was written, and frame ${whole}, of a later commit, is`

const isPageSize = (size: number): boolean =>
  size >= 512 && size <= 65_536 && (size & (size - 1)) === 0

/** A header that is wrong, with frames behind it that were written: they would all be forgotten. */
function frameless(fd: number, size: number): string | null {
  const some = Buffer.alloc(Math.min(size - logHeader, 4_096))
  readSync(fd, some, 0, some.length, logHeader)
  return some.some((byte) => byte !== 0) ? 'the header of its log is not as it was written' : null
}

const isSum = ([a, b]: Sums, buffer: Buffer, at: number): boolean =>
  buffer.readUInt32BE(at) === a && buffer.readUInt32BE(at + 4) === b

/** The checksum of the format over the first bytes of a buffer, or, negative, over its last. */
function sumsOver([from, and]: Sums, buffer: Buffer, bytes: number, little: boolean): Sums {
  let a = from
  let b = and
  const begin = bytes < 0 ? buffer.length + bytes : 0
  const end = bytes < 0 ? buffer.length : bytes
  for (let at = begin; at < end; at += 8) {
    const first = little ? buffer.readUInt32LE(at) : buffer.readUInt32BE(at)
    const second = little ? buffer.readUInt32LE(at + 4) : buffer.readUInt32BE(at + 4)
    a = (a + first + b) >>> 0
    b = (b + second + a) >>> 0
  }
  return [a, b]
}
