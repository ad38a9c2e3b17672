/**
 * The two output files of a command: reading a range as text, and keeping them under the cap.
 *
 * The reader (`output-reader.ts`), or the program of a terminal, appends to them. The cap is kept
 * from outside: a file over it is cut to its head, a line that says so, and the last part before
 * the cut; the command goes on and its output is appended behind. What comes between the look and
 * the cut is lost too.
 */
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { OUTPUT_CAP_BYTES, OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES } from '../limits.ts'
import type { OutputRange, OutputText } from '../ports.ts'

/** Bytes of a file now; 0 when it is not there (a command that could not start wrote nothing). */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** When something was last written to a file, in milliseconds since 1970; null: nothing was. */
export function writtenAt(path: string): number | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.size === 0 ? null : Math.floor(found.mtimeMs)
}

/**
 * Cuts one output file when it is over the cap. Returns the bytes that were dropped. Synchronous,
 * so that what a command writes between the read and the cut, and loses, is as little as can be.
 */
export function keepUnderCap(path: string): number {
  if (sizeOf(path) <= OUTPUT_CAP_BYTES) return 0
  const file = openSync(path, 'r+')
  const end = openSync(path, 'a')
  try {
    const { size } = fstatSync(file)
    const first = readAt(file, size - OUTPUT_TAIL_BYTES, OUTPUT_TAIL_BYTES)
    const grown = fstatSync(file).size
    const tail = Buffer.concat([first, readAt(file, size, Math.min(grown - size, MORE_BYTES))])
    ftruncateSync(file, OUTPUT_HEAD_BYTES)
    const dropped = grown - OUTPUT_HEAD_BYTES - tail.length
    const said = `\n[${dropped} bytes of output dropped here: the limit is ${OUTPUT_CAP_BYTES}]\n`
    writeSync(end, Buffer.concat([Buffer.from(said), tail]))
    return dropped
  } finally {
    closeSync(file)
    closeSync(end)
  }
}

/** Bytes that may be added to the tail for what was written while it was being read. */
const MORE_BYTES = 1024 * 1024

function readAt(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, from))
}

/** Contract: `OutputRange` and `OutputText` in `ports.ts`. A missing file is empty text. */
export async function readOutput(path: string, range: OutputRange): Promise<OutputText> {
  const size = sizeOf(path)
  const wanted = Math.max(4, range.max_bytes)
  const from = range.tail ? Math.max(0, size - wanted) : Math.min(range.from ?? 0, size)
  const length = Math.min(wanted, size - from)
  if (length === 0) return { text: '', bytes: 0, from, truncated: false }
  const file = await open(path, 'r')
  let slice: Buffer
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
    slice = buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
  const start = range.tail && from > 0 ? leadingFragment(slice) : 0
  const end = from + slice.length < size ? slice.length - trailingFragment(slice) : slice.length
  const whole = slice.subarray(start, Math.max(start, end))
  return {
    text: whole.toString('utf8'),
    bytes: whole.length,
    from: from + start,
    truncated: range.tail ? from + start > 0 : from + start + whole.length < size,
  }
}

const isContinuation = (byte: number) => (byte & 0xc0) === 0x80

/** Bytes at the start that belong to a character begun before. At most 3. */
function leadingFragment(bytes: Uint8Array): number {
  const first = bytes.subarray(0, 3).findIndex((byte) => !isContinuation(byte))
  return first < 0 ? Math.min(3, bytes.length) : first
}

/** Bytes at the end that begin a character which goes on behind. At most 3; 0 for plain noise. */
function trailingFragment(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return needs > back ? back : 0
  }
  return 0
}
