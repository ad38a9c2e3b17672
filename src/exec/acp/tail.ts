/**
 * Reads the journal of one child as it grows, from whichever process writes it. It folds what is
 * new and tells who waits; between notices of the file system it looks by itself, slowly.
 */
import { type FSWatcher, watch } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { JournalFold } from './fold.ts'
import { parseJournal } from './journal.ts'
import { ACP_CHECK_MS } from './limits.ts'
import type { Clock } from '../ports.ts'

/** Bytes read at once. */
const PIECE_BYTES = 1024 * 1024

export class JournalTail {
  readonly #path: string
  readonly #clock: Clock
  #fold = new JournalFold()
  #read = 0
  #reading: Promise<void> | null = null
  #unread = Buffer.alloc(0)

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** What the journal says now. A journal that is not there says nothing. */
  async now(): Promise<JournalFold> {
    this.#reading ??= this.#readOn().finally(() => (this.#reading = null))
    await this.#reading
    return this.#fold
  }

  /** Watches for growth until it is closed. The folder of the journal has to be there. */
  notices(): JournalNotices {
    return new JournalNotices(dirname(this.#path), this.#clock)
  }

  async #readOn(): Promise<void> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    })
    if (file === null) return
    try {
      for (;;) {
        const piece = Buffer.alloc(PIECE_BYTES)
        const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, this.#read)
        if (bytesRead === 0) return
        this.#read += bytesRead
        const unread = Buffer.concat([this.#unread, piece.subarray(0, bytesRead)])
        const { lines, bytes } = parseJournal(unread)
        this.#unread = unread.subarray(bytes)
        for (const line of lines) this.#fold.take(line)
      }
    } finally {
      await file.close()
    }
  }
}

/** Growth that comes while nobody waits is remembered, so none is missed between look and wait. */
export class JournalNotices {
  readonly #clock: Clock
  #watcher: FSWatcher | null = null
  #grown = false
  #wake: () => void = () => {}

  constructor(folder: string, clock: Clock) {
    this.#clock = clock
    const told = () => {
      this.#grown = true
      this.#wake()
    }
    try {
      this.#watcher = watch(folder, told)
      this.#watcher.on('error', told)
    } catch {
      // Nothing more can be watched on this machine: the slow look is enough.
    }
  }

  /** `slowly`: nothing was noticed for `ACP_CHECK_MS`. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<'grown' | 'slowly'> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const cancel = this.#clock.after(ACP_CHECK_MS, resolve)
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    this.#wake = resolve
    try {
      if (!this.#grown) await promise
    } finally {
      cancel()
      signal.removeEventListener('abort', onAbort)
    }
    const grown = this.#grown
    this.#grown = false
    return grown ? 'grown' : 'slowly'
  }

  close(): void {
    this.#watcher?.close()
  }
}
