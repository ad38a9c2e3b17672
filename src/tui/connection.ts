/**
 * The link to who owns the home: the state once, then the stream behind it; when it breaks, tries
 * come further and further apart, each of which asks anew where the owner is. A daemon is started
 * where there is no owner when the screen opens, when the run that it was opened beside has ended,
 * and when the person asks; one that was stopped is not started behind anybody's back, nor is one
 * where a run came after it. What streams is handed on in batches of a twentieth of a second, the
 * first of it at once, and at once where a model begins to speak.
 */
import { Api, failureSentence, type ApiFailure } from '../client/api.ts'
import { Holon } from '../client/holon.ts'
import { follow, type StreamItem } from '../client/stream.ts'
import type { LiveFrame } from '../protocol/live-frame.ts'
import type { StoredEvent } from '../protocol/records/records.ts'
import { pageSize, type PageWanted } from './pages.ts'
import type { TuiPorts } from './ports.ts'
import { noDaemon } from './model/model.ts'
import type { TuiMessage } from './model/step.ts'

/** Milliseconds between two frames of what streams: words have waited for a tenth already. */
const batchPause = 50
/** Milliseconds before the first try after a break, doubled up to the longest. */
const firstPause = 1_000
const longestPause = 30_000
/** Beyond every seq an agent can have. */
const endOfTime = 99_999_999_999_999

export class Connection {
  api: Api | null = null
  /** The server's clock less ours, in milliseconds. */
  offset_ms = 0
  readonly #ports: TuiPorts
  readonly #send: (message: TuiMessage) => void
  #ended = new AbortController()
  /** Why it was ended by us. */
  #broken: string | null = null
  #closed = false
  #events: StoredEvent[] = []
  #frames: LiveFrame[] = []
  #flushing: (() => void) | null = null
  #waiting: { cancel: () => void; go: () => void } | null = null
  /** Behind which the stream goes on; null: where the state ends that is read next. */
  #last_seq: number | null = null
  #tries = 0
  #wasLive = false
  /** Whose API was followed last. */
  #of: 'daemon' | 'run' | null = null
  #mayStart = true
  /** A daemon was followed: who stopped it has not asked for another. */
  #hadDaemon = false

  constructor(ports: TuiPorts, send: (message: TuiMessage) => void) {
    this.#ports = ports
    this.#send = send
  }

  start(): void {
    void this.#live().catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error)
      this.#send({ kind: 'notice', notice: { text, bad: true } })
    })
  }

  close(): void {
    this.#closed = true
    this.#flushing?.()
    this.#ended.abort()
    this.#waiting?.go()
  }

  /** Tries now, where nobody owns the home with a daemon that is started for it. */
  begin(): void {
    this.#mayStart = true
    this.again()
  }

  /** Tries now, or reads the state again while it is connected. */
  again(): void {
    if (this.#waiting !== null) this.#waiting.go()
    else void this.readState()
  }

  /** Something has no answer yet: when the daemon gives none here either, the link is broken. */
  async doubt(): Promise<void> {
    const followed = this.#ended
    const failure = await this.readState()
    if (failure === null || followed !== this.#ended) return
    this.#broken = failure
    followed.abort()
  }

  async #live(): Promise<void> {
    while (!this.#closed) {
      const failed = await this.#once()
      if (this.#closed) return
      if (this.#of === 'run' && this.#wasLive) this.#runEnded()
      else await this.#pause(failed)
    }
  }

  /** One connection, from the state to its end; why it ended. */
  async #once(): Promise<string> {
    const door = await this.#owner()
    if (typeof door === 'string') return door
    if (this.#of === 'run' && door.of === 'daemon') {
      const text = 'the run has ended; a daemon serves this home now'
      this.#send({ kind: 'notice', notice: { text, bad: false } })
    }
    this.#of = door.of
    if (door.of === 'daemon') this.#hadDaemon = true
    this.#mayStart = door.of === 'run' && !this.#hadDaemon
    const api = new Api(this.#ports.api, { base_url: door.url })
    this.api = api
    const failure = await this.readState(door.url)
    if (failure !== null) return failure
    this.#ended = new AbortController()
    this.#broken = null
    const after = this.#last_seq ?? 0
    const options = { path: '/events', after, signal: this.#ended.signal, tries: 1 }
    for await (const item of follow(api, this.#ports.api, options)) {
      const over = this.#item(item)
      if (over !== null) return over
    }
    return this.#broken ?? 'the connection ended'
  }

  /** Where the owner is, or why there is none. */
  async #owner(): Promise<{ url: string; of: 'daemon' | 'run' } | string> {
    const found = await this.#ports.door()
    if (found !== null) return found
    if (!this.#mayStart) return noDaemon
    const refused = await this.#ports.start()
    return refused ?? (await this.#ports.door()) ?? 'who owns this home is not ready yet'
  }

  /** Its home is free, or somebody else's already: nothing is waited for. */
  #runEnded(): void {
    this.#wasLive = false
    const since = new Date(this.#ports.clock.now() + this.offset_ms).toISOString()
    const goesOn = this.#mayStart ? 'a daemon is started' : 'nothing serves the home now'
    const message = `the run has ended; ${goesOn}`
    this.#send({ kind: 'trouble', trouble: { message, tries: 0, next_at: since } })
    this.#send({ kind: 'input', input: { kind: 'link', link: { kind: 'stale', since } } })
  }

  #item(item: StreamItem): string | null {
    switch (item.kind) {
      case 'open':
        this.#tries = 0
        this.#wasLive = true
        this.#send({ kind: 'trouble', trouble: null })
        this.#send({ kind: 'input', input: { kind: 'link', link: { kind: 'live' } } })
        return null
      case 'event':
        this.#last_seq = item.seq
        this.#events.push(item.event)
        this.#soon()
        return null
      case 'live':
        if (item.frame.kind === 'heartbeat') this.#hear(item.frame.at)
        this.#frames.push(item.frame)
        if (item.frame.kind === 'text_delta' && item.frame.at === 0) this.#now()
        else this.#soon()
        return null
      case 'broken':
        return item.message
      case 'reload': {
        this.#last_seq = null
        const link = { kind: 'gone', snapshot: item.snapshot } as const
        this.#send({ kind: 'input', input: { kind: 'link', link } })
        return 'the history it followed is gone'
      }
      case 'ended':
        return failureSentence(item.failure)
    }
  }

  /** First words wait for nobody: what began their turn has just been drawn. */
  #now(): void {
    this.#flushing?.()
    this.#flushing = null
    this.#soon()
  }

  /** The first word of a quiet screen shows at once; what streams comes in batches. */
  #soon(): void {
    if (this.#flushing !== null) return
    this.#flush()
    this.#flushing = this.#ports.clock.after(batchPause, () => {
      this.#flushing = null
      if (this.#events.length + this.#frames.length > 0) this.#soon()
    })
  }

  #flush(): void {
    const [events, frames] = [this.#events, this.#frames]
    this.#events = []
    this.#frames = []
    if (frames.length > 0) {
      const at = new Date(this.#ports.clock.now() + this.offset_ms).toISOString()
      this.#send({ kind: 'input', input: { kind: 'live', frames, at } })
    }
    if (events.length > 0) this.#send({ kind: 'input', input: { kind: 'events', events } })
  }

  #hear(at: string): void {
    this.offset_ms = Date.parse(at) - this.#ports.clock.now()
  }

  /** Null when it was read; else why not. */
  async readState(url?: string): Promise<string | null> {
    if (this.api === null) return 'no connection'
    const answer = await new Holon(this.api).ask('GET /state', {})
    if (!answer.ok) return reason(answer.failure)
    this.#hear(answer.value.now)
    // What happened while the link was down is heard too: the state has no history.
    if (url !== undefined) this.#last_seq ??= answer.value.last_seq
    this.#send({ kind: 'state', state: answer.value, url: url ?? this.api.base_url })
    return null
  }

  async readPage({ agent_id, before }: PageWanted): Promise<void> {
    if (this.api === null) return
    this.#send({ kind: 'input', input: { kind: 'watch', agent_id } })
    const query = { before: before ?? endOfTime, limit: pageSize }
    const given = { agent: agent_id, query }
    const answer = await new Holon(this.api).ask('GET /agents/{agent}/events', given)
    if (!answer.ok) {
      const text = `older events could not be read: ${reason(answer.failure)}`
      return this.#send({ kind: 'notice', notice: { text, bad: true } })
    }
    const { events, next_cursor } = answer.value
    const to = before === null ? (events.at(-1)?.seq ?? 0) : before - 1
    const from = next_cursor === null ? 1 : (events[0]?.seq ?? to)
    this.#send({ kind: 'input', input: { kind: 'page', agent_id, events, from, to } })
  }

  #pause(message: string): Promise<void> {
    const wait = Math.min(longestPause, firstPause * 2 ** Math.min(this.#tries, 8))
    const now = this.#ports.clock.now() + this.offset_ms
    this.#tries += 1
    const next_at = new Date(now + wait).toISOString()
    this.#send({ kind: 'trouble', trouble: { message, tries: this.#tries, next_at } })
    if (this.#wasLive) {
      const since = new Date(now).toISOString()
      this.#wasLive = false
      this.#send({ kind: 'input', input: { kind: 'link', link: { kind: 'stale', since } } })
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.clock.after(wait, resolve)
    this.#waiting = {
      cancel,
      go: () => {
        cancel()
        resolve()
      },
    }
    return promise.finally(() => (this.#waiting = null))
  }
}

function reason(failure: ApiFailure): string {
  return failure.kind === 'problem' && failure.status === 401
    ? 'the token was refused'
    : failureSentence(failure)
}
