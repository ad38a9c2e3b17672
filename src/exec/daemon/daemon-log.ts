/**
 * The log file of a daemon, for people: its last lines, and what is added to it from now on. The
 * daemon may move the file away and begin a new one at any moment; a follower goes on with that.
 */
import { createReadStream } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import type { Clock } from '../ports.ts'

/** Bytes at the end of the file in which last lines are looked for. */
const tailBytes = 4 * 1024 * 1024
/** Milliseconds between two looks while following. */
const lookEvery = 250

/** The last `count` lines, oldest first; a file that is not there has none. */
export async function lastLines(path: string, count: number): Promise<string[]> {
  const file = await openToRead(path)
  if (file === null) return []
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - tailBytes)
    const bytes = new Uint8Array(size - from)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from)
    const lines = new TextDecoder().decode(bytes.subarray(0, bytesRead)).split('\n')
    // What begins in the middle is no line, and after the last newline there is none.
    if (from > 0) lines.shift()
    if (lines.at(-1) === '') lines.pop()
    return count === 0 ? [] : lines.slice(-count)
  } finally {
    await file.close()
  }
}

async function openToRead(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Hands over whole lines that are added after now, until the signal aborts. A smaller file, or
 * another one of that name, is a new one.
 */
export async function followLog(
  path: string,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<void> {
  const found = await stat(path).catch(() => null)
  let inode = found?.ino ?? null
  let at = found?.size ?? 0
  let decoder = new TextDecoder()
  let rest = ''
  const take = (text: string) => {
    const whole = (rest + text).lastIndexOf('\n') + 1
    if (whole > 0) onText((rest + text).slice(0, whole))
    rest = (rest + text).slice(whole)
  }
  while (!signal.aborted) {
    const now = await stat(path).catch(() => null)
    if (now === null) {
      // The one that comes may have the same inode.
      inode = null
    } else {
      if (now.ino !== inode || now.size < at) {
        at = 0
        decoder = new TextDecoder()
        rest = ''
      }
      inode = now.ino
      if (now.size > at) {
        for await (const chunk of createReadStream(path, { start: at, end: now.size - 1 })) {
          at += (chunk as Uint8Array).length
          take(decoder.decode(chunk as Uint8Array, { stream: true }))
        }
      }
    }
    await clock.sleep(lookEvery, signal).catch(() => {})
  }
}
