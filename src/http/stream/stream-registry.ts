/**
 * Every open event stream of the process: how many there may be, one subscription and one heartbeat
 * for all of them, and none while there is no stream.
 */
import { httpLimits } from '../request/limits.ts'
import type { HomePort, StreamNotice } from '../request/ports.ts'
import { EventStream } from './stream-source.ts'

export type OpenStream = {
  agent_id: string | null
  after: number
  hang_up: (() => void) | undefined
}

export class StreamDesk {
  readonly #home: HomePort
  readonly #onError: (error: unknown) => void
  readonly #streams = new Set<EventStream>()
  #unsubscribe: (() => void) | null = null
  #cancelBeat: (() => void) | null = null
  #closed = false

  constructor(home: HomePort, onError: (error: unknown) => void) {
    this.#home = home
    this.#onError = onError
  }

  /** How many are open. */
  get size(): number {
    return this.#streams.size
  }

  /** Null when there are as many as there may be, or the server is closing. */
  open({ agent_id, after, hang_up }: OpenStream): EventStream | null {
    if (this.#closed || this.#streams.size >= httpLimits.streams.value) return null
    const stream = new EventStream(
      {
        reads: this.#home.reads,
        now: () => this.#home.now(),
        hang_up,
        ended: (one) => this.#ended(one),
        failed: this.#onError,
      },
      agent_id,
      after,
    )
    this.#streams.add(stream)
    this.#unsubscribe ??= this.#home.subscribe((notice) => this.#tell(notice))
    if (this.#cancelBeat === null) this.#arm()
    return stream
  }

  /** Ends every stream and opens none again. */
  close(): void {
    this.#closed = true
    for (const stream of [...this.#streams]) stream.close()
  }

  #tell(notice: StreamNotice): void {
    for (const stream of [...this.#streams]) {
      if (stream.agent_id !== null && stream.agent_id !== notice.agent_id) continue
      switch (notice.kind) {
        case 'committed':
          stream.wake()
          break
        case 'live':
          stream.show(notice.frame)
          break
      }
    }
  }

  #arm(): void {
    this.#cancelBeat = this.#home.clock.after(httpLimits.heartbeat.value, () => {
      this.#arm()
      for (const stream of [...this.#streams]) stream.beat()
    })
  }

  #ended(stream: EventStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = null
    this.#cancelBeat?.()
    this.#cancelBeat = null
  }
}
