/**
 * Degraded mode (docs/spec/recovery.md#disk-full): while nothing can be written no turn starts and
 * nothing is accepted; reads and running commands go on. One probe, with a back-off, looks whether
 * there is room again, and the return needs nobody. Nothing of it is a row: there is no room for
 * one.
 */
import { fromMs, minute, second, toMs, type Timestamp } from '../../domain/time.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { Clock, Files } from '../../exec/ports.ts'
import type { OperatorReply } from '../../protocol/acts/operator.ts'
import type { Shortage } from '../../ports/host.ts'
import type { Shortfall } from '../shortage.ts'

/** Milliseconds between two probes: the first, then doubled up to the last. */
const firstProbe = 5 * second
const lastProbe = minute
/** Bytes a probe writes: more than a commit and its log take. */
const probeBytes = 262_144

type State = { code: string; message: string; since: Timestamp; probe_at: Timestamp }

export type DegradedPorts = {
  home: string
  clock: Clock
  files: Files
  /** Called once at each entry and once at each return. */
  changed(now: Shortage | null): void
}

export class DegradedMode {
  readonly #ports: DegradedPorts
  #state: State | null = null
  #cancel: (() => void) | null = null
  #pause = firstProbe
  /** When the last return was: who falls back at once waits longer than before. */
  #leftAt: Timestamp | null = null
  #closed = false

  constructor(ports: DegradedPorts) {
    this.#ports = ports
  }

  get now(): Shortage | null {
    if (this.#state === null) return null
    const { code, message, probe_at } = this.#state
    const ms = Math.max(0, toMs(probe_at) - this.#ports.clock.now())
    return { code, message, retry_after_s: Math.max(1, Math.ceil(ms / second)) }
  }

  /** Since when; null while everything can be written. */
  get since(): Timestamp | null {
    return this.#state?.since ?? null
  }

  /** A write failed for want of room. Again while it is so already is nothing. */
  enter({ code, message }: Shortfall): void {
    if (this.#state !== null || this.#closed) return
    const now = this.#ports.clock.now()
    const relapse = this.#leftAt !== null && now - toMs(this.#leftAt) < lastProbe
    this.#pause = relapse ? Math.min(this.#pause * 2, lastProbe) : firstProbe
    this.#state = { code, message, since: fromMs(now), probe_at: fromMs(now) }
    this.#arm()
    this.#ports.changed(this.now)
  }

  close(): void {
    this.#closed = true
    this.#cancel?.()
  }

  #arm(): void {
    const { clock } = this.#ports
    if (this.#state === null || this.#closed) return
    this.#state.probe_at = fromMs(clock.now() + this.#pause)
    this.#cancel = clock.after(this.#pause, () => void this.#probe())
  }

  async #probe(): Promise<void> {
    const there = await this.#isRoom()
    if (this.#closed) return
    if (!there) {
      this.#pause = Math.min(this.#pause * 2, lastProbe)
      this.#arm()
      return
    }
    this.#state = null
    this.#leftAt = fromMs(this.#ports.clock.now())
    this.#ports.changed(null)
  }

  /** Writes and removes a file: the only question a disk, a quota and a limit all answer. */
  async #isRoom(): Promise<boolean> {
    const { home, files } = this.#ports
    const path = `${home}/room-check`
    try {
      await files.write_atomic(path, new Uint8Array(probeBytes), 0o600)
      await files.remove(path)
      return true
    } catch (error) {
      if (error instanceof FileFault) return false
      throw error
    }
  }
}

/** The refusal of what writes, while nothing can be written. */
export const unwritable = ({ message }: { message: string }): OperatorReply => ({
  ok: false,
  code: 'degraded',
  message: `Nothing can be stored now: ${message}`,
  hint: 'Try again later; it goes on by itself when there is room.',
})
