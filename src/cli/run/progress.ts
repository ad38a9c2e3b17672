/**
 * The live half of a run: lines for what was committed, and what is going on right now, as the
 * status line of a terminal or as one line a minute in a pipe.
 */
import type { Emitted, Next } from '../../protocol/records/records.ts'
import { callSubject } from '../../present/lines/call-line.ts'
import { safeLine } from '../../present/text/safe.ts'
import { clockSpan, span } from '../../present/text/span.ts'
import type { RunLines } from '../../present/lines/run-lines.ts'
import { statusLine, type Doing } from '../../present/lines/status-line.ts'
import type { Context } from '../command/context.ts'
import type { OwnedHome } from '../command/run-ports.ts'
import type { RunScreen } from '../command/run-screen.ts'

/** Milliseconds between two looks: at most four redraws a second. */
const lookEvery = 250
/** Milliseconds between two signs of life in a pipe. */
const signEvery = 60_000

type Activity =
  | { kind: 'command'; subject: string; task_id: string | null; since: number }
  | { kind: 'model'; since: number }
  | { kind: 'waiting'; subject: string; since: number }
  | { kind: 'nothing' }

export class RunProgress {
  readonly #context: Context
  readonly #owned: OwnedHome
  readonly #screen: RunScreen
  readonly #lines: RunLines
  readonly #calls = new Map<string, { tool: string; input: unknown }>()
  #activity: Activity = { kind: 'nothing' }
  #turnSince: number | null = null
  #heardAt: number | null = null
  #bytes: number | null = null
  #signAt: number
  #startedAt: number
  #cancel: () => void = () => {}
  #stopped = false
  #pausedUntil: string | null = null
  questions = 0

  constructor(context: Context, owned: OwnedHome, screen: RunScreen, lines: RunLines) {
    this.#context = context
    this.#owned = owned
    this.#screen = screen
    this.#lines = lines
    this.#startedAt = this.#now()
    this.#signAt = this.#startedAt + signEvery
    this.#arm()
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  take(events: readonly Emitted[]): void {
    for (const { event } of events) this.#note(event)
    this.#screen.lines(this.#lines.take(events))
  }

  /** A word or a sign of the model. */
  heard(): void {
    this.#heardAt = this.#now()
  }

  /** The agent backs off before its next try: said once for each time. */
  rested(next: Next): void {
    if (next.do !== 'wait' || next.for !== 'backoff' || next.until === null) return
    if (this.#pausedUntil === next.until) return
    this.#pausedUntil = next.until
    const at = new Date(this.#context.ports.clock.now()).toISOString()
    this.#screen.lines(this.#lines.backsOff(at, next.until))
    this.#activity = { kind: 'waiting', subject: 'the next try', since: this.#now() }
  }

  retried(notice: { message: string; delay_ms: number; attempt: number }): void {
    const wait = notice.delay_ms < 1_000 ? '' : `, again in ${span(notice.delay_ms)}`
    this.#screen.say([`          ~ ${safeLine(notice.message)}${wait} (try ${notice.attempt + 1})`])
  }

  #note(event: Emitted['event']): void {
    const now = this.#now()
    if (event.type === 'turn_started') {
      this.#turnSince = now
      this.#activity = { kind: 'nothing' }
    }
    if (event.type === 'turn_ended') {
      this.#turnSince = null
      this.#become({ kind: 'nothing' })
    }
    if (event.type === 'request_sent') this.#become({ kind: 'model', since: now })
    if (event.type === 'call_recorded') {
      this.#calls.set(event.id, { tool: event.tool_name, input: event.input })
    }
    if (event.type === 'call_started') {
      const call = this.#calls.get(event.id)
      if (call) {
        const subject = callSubject(call.tool, call.input)
        this.#become({ kind: 'command', subject, task_id: event.task_id, since: now })
      }
    }
    if (event.type === 'call_finished') this.#calls.delete(event.id)
    if (event.type === 'wait_registered' && event.wake !== 'operator_input') {
      const subject =
        event.wake === 'task_result'
          ? this.#context.ids.short(event.resource ?? 'a task')
          : event.wake === 'timer'
            ? 'a time'
            : event.wake === 'system'
              ? 'the provider'
              : (event.source ?? 'an event')
      this.#become({ kind: 'waiting', subject, since: now })
    }
  }

  #become(activity: Activity): void {
    // What ends a turn also begins the wait it ends with: the wait is what goes on.
    if (activity.kind === 'nothing' && this.#activity.kind === 'waiting') return
    this.#activity = activity
    this.#heardAt = null
    this.#bytes = null
  }

  #arm(): void {
    if (this.#stopped) return
    const { clock } = this.#context.ports
    this.#cancel = clock.after(this.#screen.isTerminal ? lookEvery : signEvery, () => {
      // A look that fails only loses a redraw: the run itself reads the same store.
      this.#look().then(
        () => this.#arm(),
        () => this.#arm(),
      )
    })
  }

  async #look(): Promise<void> {
    const activity = this.#activity
    if (activity.kind === 'command' && activity.task_id !== null) {
      const bytes = await this.#owned.output_bytes(activity.task_id)
      if (bytes !== null && bytes !== this.#bytes) {
        this.#bytes = bytes
        if (bytes > 0) this.#heardAt = this.#now()
      }
    }
    if (this.#stopped) return
    const now = this.#now()
    if (this.#screen.isTerminal) {
      const turn =
        this.#turnSince === null
          ? null
          : { number: this.#lines.turnNumber, for_ms: now - this.#turnSince }
      const { usage } = this.#lines.counts
      const status = { turn, doing: this.#doing(now), usage, questions: this.questions }
      this.#screen.status(statusLine(status))
    } else if (now >= this.#signAt) {
      this.#signAt = now + signEvery
      const last = this.#heardAt === null ? '' : `, last output ${span(now - this.#heardAt)} ago`
      this.#screen.say([`still running ${clockSpan(now - this.#startedAt)}${last}`])
    }
  }

  #doing(now: number): Doing {
    const activity = this.#activity
    const quiet_ms = this.#heardAt === null ? null : now - this.#heardAt
    switch (activity.kind) {
      case 'nothing':
        return activity
      case 'waiting':
        return { ...activity, for_ms: now - activity.since }
      case 'command':
      case 'model':
        return { ...activity, for_ms: now - activity.since, quiet_ms }
    }
  }

  #now(): number {
    return this.#context.ports.clock.monotonic()
  }
}
