/**
 * One open event stream: replay from the ledger, then live, without a gap or a repetition. Durable
 * events are only ever read at the cursor; a commit just wakes the reading. So a slow client costs
 * one buffer, and where it stands is its own `Last-Event-ID`.
 */
import type { LiveText, TextPiece } from '../../ports/host.ts'
import type { LiveFrame } from '../../protocol/live-frame.ts'
import type { StoredEvent } from '../../protocol/records/records.ts'
import { httpLimits } from '../request/limits.ts'
import type { HomeReads } from '../request/ports.ts'

export type StreamPorts = {
  reads: Pick<HomeReads, 'events'>
  /** What models say in open requests of the agent, or of all. */
  texts(agent_id: string | null): readonly LiveText[]
  /** Server time for heartbeats. */
  now(): string
  /** Breaks the connection off under a client that takes nothing; absent in memory. */
  hang_up: (() => void) | undefined
  /** Called once, however the stream ends. */
  ended(stream: EventStream): void
  /** A read of the ledger failed; the stream is closed. */
  failed(error: unknown): void
}

const buffer = httpLimits.stream_buffer.value
const encoder = new TextEncoder()

/** SSE frames (WHATWG HTML, server-sent events). JSON has no raw line breaks. */
const durable = (id: number, event: StoredEvent): string =>
  `id: ${id}\nevent: ${event.event.type}\ndata: ${JSON.stringify(event)}\n\n`
const live = (frame: LiveFrame): string => `event: live\ndata: ${JSON.stringify(frame)}\n\n`

const roundOf = ({ turn_id, round }: LiveText): string => `${turn_id}:${round}`
const said = ({ agent_id, turn_id, round }: LiveText, { at, text }: TextPiece): string =>
  live({ kind: 'text_delta', agent_id, turn_id, round, at, text })

export class EventStream {
  /** Null: of the whole home. */
  readonly agent_id: string | null
  readonly body: ReadableStream<Uint8Array>
  readonly #ports: StreamPorts
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** The seq of the last event handed over: the agent's or the global one. */
  #cursor: number
  /** Read, but not handed over yet: never more than a page. */
  #page: StoredEvent[] = []
  /** There may be events in the ledger behind the cursor. */
  #dirty = true
  #pumping = false
  #ended = false
  /** Live frames that came while events were read or the buffer was full, to follow those. */
  #held: string[] = []
  #heldBytes = 0
  /** Up to where each live text was shown, by its round. */
  #shown = new Map<string, { attempt: number; at: number }>()
  /** How full the buffer was at the last beat, if it was full. */
  #fullAtBeat: number | null = null

  constructor(ports: StreamPorts, agent_id: string | null, after: number) {
    this.#ports = ports
    this.agent_id = agent_id
    this.#cursor = after
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          this.#write(`retry: ${httpLimits.reconnect.value}\n\n`)
          this.#write(this.#heartbeat())
        },
        pull: () => this.#pump(),
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: buffer }),
    )
  }

  /** Something was committed: called as often as it happens, read as often as it is needed. */
  wake(): void {
    this.#dirty = true
    void this.#pump()
  }

  /** Shows a live frame now, or behind what goes first. */
  show(frame: LiveFrame): void {
    if (this.#ended) return
    const text = live(frame)
    if (!this.#isBehind() && this.#held.length === 0 && this.#room() > 0) return this.#write(text)
    if (this.#heldBytes + text.length <= buffer) {
      this.#held.push(text)
      this.#heldBytes += text.length
    } else if (!this.#isBehind()) {
      // A silent gap in a text would be worse than a client that comes again. One that is still
      // far behind loses the frame: it tells of what its events have not reached.
      this.#hangUp()
    }
  }

  /** Shows what models have said since, unless something goes first: then it follows that. */
  showTexts(): void {
    if (!this.#ended && !this.#isBehind() && this.#held.length === 0) this.#catchUp()
  }

  /** Every 15 seconds: a sign of life, a look at the ledger, and the end of who takes nothing. */
  beat(): void {
    if (this.#ended) return
    const room = this.#room()
    if (room > 0) {
      this.#fullAtBeat = null
      this.#write(this.#heartbeat())
      return this.wake()
    }
    // Nothing is written into a full buffer: as full as before means that nothing was taken.
    if (room === this.#fullAtBeat) return this.#hangUp()
    this.#fullAtBeat = room
  }

  /** The server is closing: what is buffered still goes out. */
  close(): void {
    if (this.#ended) return
    this.#end()
    this.#controller.close()
  }

  #heartbeat = (): string => `: heartbeat\n${live({ kind: 'heartbeat', at: this.#ports.now() })}`

  #isBehind = (): boolean => this.#dirty || this.#pumping || this.#page.length > 0

  #room = (): number => this.#controller.desiredSize ?? 0

  #write(text: string): void {
    this.#controller.enqueue(encoder.encode(text))
  }

  #hangUp(): void {
    this.#end()
    if (this.#ports.hang_up !== undefined) this.#ports.hang_up()
    else this.#controller.error(new Error('the client is too slow'))
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#page = []
    this.#held = []
    this.#shown.clear()
    this.#ports.ended(this)
  }

  /** Hands over what there is room for. One at a time; never rejects. */
  async #pump(): Promise<void> {
    if (this.#pumping || this.#ended) return
    this.#pumping = true
    try {
      while (!this.#ended && this.#room() > 0) {
        if (this.#page.length === 0) {
          if (!this.#dirty) break
          await this.#read()
          continue
        }
        const event = this.#page.shift()
        if (event !== undefined) this.#handOver(event)
      }
      if (!this.#dirty && this.#page.length === 0) this.#release()
    } catch (error) {
      if (!this.#ended) {
        this.#ports.failed(error)
        this.close()
      }
    } finally {
      this.#pumping = false
    }
  }

  async #read(): Promise<void> {
    this.#dirty = false
    const limit = httpLimits.stream_page.value
    const of = this.agent_id === null ? {} : { agent_id: this.agent_id }
    this.#page = await this.#ports.reads.events({ ...of, after: this.#cursor, limit })
    if (this.#page.length >= limit) this.#dirty = true
  }

  #handOver(event: StoredEvent): void {
    const id = this.agent_id === null ? event.global_seq : event.seq
    this.#cursor = id
    this.#write(durable(id, event))
  }

  #release(): void {
    while (!this.#ended && this.#room() > 0) {
      const text = this.#held.shift()
      if (text === undefined) return this.#catchUp()
      this.#heldBytes -= text.length
      this.#write(text)
    }
  }

  /** Each text from where it was shown: whoever comes again gets what was said so far, once. */
  #catchUp(): void {
    const texts = this.#ports.texts(this.agent_id)
    const open = new Set(texts.map(roundOf))
    for (const key of this.#shown.keys()) if (!open.has(key)) this.#shown.delete(key)
    for (const text of texts) if (this.#room() > 0) this.#say(text)
  }

  #say(text: LiveText): void {
    const before = this.#shown.get(roundOf(text)) ?? { attempt: text.attempt, at: 0 }
    const isVoid = before.attempt !== text.attempt
    const pieces = text.after(isVoid ? 0 : before.at)
    // Noted first: whoever reads what is written asks for more at once.
    this.#shown.set(roundOf(text), { attempt: text.attempt, at: text.length })
    const nothing = isVoid && before.at > 0 && pieces.length === 0
    for (const piece of nothing ? [{ at: 0, text: '' }] : pieces) this.#write(said(text, piece))
  }
}
