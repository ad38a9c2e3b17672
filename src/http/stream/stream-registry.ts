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
  /** Of agents whose words were shown just now. */
  readonly #pauses = new Map<string, { cancel: () => void; more: boolean }>()
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
        texts: (of) => this.#home.liveTexts(of),
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
    switch (notice.kind) {
      case 'committed':
        return this.#of(notice.agent_id, (stream) => stream.wake())
      case 'said':
        return this.#said(notice.agent_id)
      case 'live':
        // A call is begun behind the words before it.
        return this.#of(notice.agent_id, (stream) => {
          stream.showTexts()
          stream.show(notice.frame)
        })
    }
  }

  #of(agent_id: string, tell: (stream: EventStream) => void): void {
    for (const stream of [...this.#streams]) {
      if (stream.agent_id === null || stream.agent_id === agent_id) tell(stream)
    }
  }

  /** The first words at once; what follows within the pause comes together at its end. */
  #said(agent_id: string): void {
    const pause = this.#pauses.get(agent_id)
    if (pause !== undefined) {
      pause.more = true
      return
    }
    this.#of(agent_id, (stream) => stream.showTexts())
    const cancel = this.#home.clock.after(httpLimits.live_pause.value, () => {
      const isMore = this.#pauses.get(agent_id)?.more === true
      this.#pauses.delete(agent_id)
      if (isMore) this.#said(agent_id)
    })
    this.#pauses.set(agent_id, { cancel, more: false })
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
    for (const { cancel } of this.#pauses.values()) cancel()
    this.#pauses.clear()
  }
}
