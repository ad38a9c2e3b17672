/**
 * What a run prints: events in, lines out, as docs/spec/screens.md#what-a-run-prints shows them. It
 * keeps only what a later line needs (what a call was about, since when a task runs) and reads no
 * clock.
 */
import type { Emitted, Event, Facts, Message, Task, Usage } from '../../protocol/records/records.ts'
import { addUsage, postureWord } from '../../protocol/records/records.ts'
import { callLine, changedWords, counted, looks } from './call-line.ts'
import { messageWords, queuedWords } from './cause-words.ts'
import type { Mark } from '../text/marks.ts'
import { safe, safeLine, safeLines, type Safe } from '../text/safe.ts'
import type { ShortIds } from '../text/short-id.ts'
import { endWords } from './task-words.ts'
import { cut } from '../text/width.ts'
import { clock, clockSeconds, span, took, type Zone } from '../text/span.ts'

/** `step` has a time, a mark and two ends; `title` names an item; `words` are an agent's own. */
export type RunLine =
  | { kind: 'step'; at: string; mark: Mark | null; left: Safe; right: Safe }
  | { kind: 'title'; text: Safe }
  | { kind: 'words'; brief: 'progress' | 'reply' | 'question' | 'result' | 'failure'; text: Safe[] }
  | { kind: 'note'; text: Safe }

/** Cells of a command's name inside a sentence. */
const labelCells = 30
/** Milliseconds from which a timer is worth calling late. */
const lateFrom = 60_000

type Handler<E> = (event: E, at: string) => RunLine[]

type CallKnown = {
  tool: string
  input: unknown
  started_at: string | null
  task_id: string | null
}

type Known = {
  calls: Map<string, CallKnown>
  tasks: Map<string, { label: string; started_at: string | null; promoted: boolean }>
  /** Milliseconds that a task ran until it ended, for the call that tells of it. */
  ran: Map<string, number>
  /** The item each wait belongs to. */
  waits: Map<string, string | null>
  messages: Map<string, Pick<Message, 'kind' | 'wait_id' | 'task_id' | 'source'>>
}

/** What a run added up to. */
export type RunCounts = { turns: number; calls: number; usage: Usage | null }

export class RunLines {
  readonly #ids: ShortIds
  readonly #zone: () => Zone
  readonly #known: Known = {
    calls: new Map(),
    tasks: new Map(),
    ran: new Map(),
    waits: new Map(),
    messages: new Map(),
  }
  /** What ended the wait of an item that has not had a turn since. */
  readonly #woken = new Map<string, string>()
  /** Looking calls not printed yet: neighbours become one line. */
  #looked: { tool: string; line: RunLine & { kind: 'step' }; count: number } | null = null
  readonly counts: RunCounts = { turns: 0, calls: 0, usage: null }
  turnNumber: number

  constructor(options: { ids: ShortIds; zone: () => Zone; facts: Facts | null; turns: number }) {
    this.#ids = options.ids
    this.#zone = options.zone
    this.turnNumber = options.turns
    if (options.facts) this.#remember(options.facts)
  }

  /** Lines for the events of one commit, in order. */
  take(events: readonly Emitted[]): RunLine[] {
    // A wait that ends in the commit that registers it never was one.
    const ended = new Set(
      events.flatMap(({ event }) => (event.type === 'wait_resolved' ? [event.id] : [])),
    )
    return events.flatMap(({ event, meta }) =>
      event.type === 'wait_registered' && ended.has(event.id) ? [] : this.#of(event, meta.at),
    )
  }

  /** The back-off before the next try, from `at` on. */
  backsOff(at: string, until: string): RunLine[] {
    const line = this.#step(
      at,
      'waiting',
      `${postureWord['wait:backoff']} ${this.#until(until, at)}; no cost`,
    )
    return [...this.flush(), line]
  }

  /** What is held back for folding: to be printed before anything else, and at the end. */
  flush(): RunLine[] {
    const looked = this.#looked
    this.#looked = null
    if (looked === null) return []
    const words = looks[looked.tool]
    if (looked.count === 1 || words === undefined) return [looked.line]
    return [
      {
        ...looked.line,
        left: safeLine(`${words.one} ${looked.count} ${words.many}`),
        right: safeLine(''),
      },
    ]
  }

  #remember(facts: Facts): void {
    for (const call of facts.rows('calls')) {
      const { tool_name: tool, input, started_at, task_id } = call
      this.#known.calls.set(call.id, { tool, input, started_at, task_id })
    }
    for (const wait of facts.rows('waits')) this.#known.waits.set(wait.id, wait.work_item_id)
    for (const task of facts.rows('tasks')) this.#known.tasks.set(task.id, task)
    for (const message of facts.rows('messages')) this.#known.messages.set(message.id, message)
  }

  /** What each kind of event prints, or leaves behind for a later line; the others do neither. */
  readonly #handlers: { readonly [T in Event['type']]?: Handler<Event & { type: T }> } = {
    call_recorded: ({ id, tool_name: tool, input }) =>
      this.#keep(() => this.#known.calls.set(id, { tool, input, started_at: null, task_id: null })),
    call_started: ({ id, task_id }, at) =>
      this.#keep(() => {
        const call = this.#known.calls.get(id)
        if (call) Object.assign(call, { started_at: at, task_id })
      }),
    call_finished: (event, at) => this.#call(event, at),
    message_admitted: (event) =>
      this.#keep(() => {
        this.#known.messages.set(event.id, { ...event, kind: event.provenance.kind })
      }),
    message_dead: ({ id, reason }, at) => [this.#step(at, 'failed', `${id} is given up`, reason)],
    turn_started: (event, at) => {
      this.counts.turns += 1
      this.turnNumber += 1
      return [this.#step(at, null, `turn ${this.turnNumber}, because ${this.#because(event)}`)]
    },
    model_fell_back: ({ model, cause }, at) => [
      this.#step(at, 'waiting', `goes on with ${model}`, cause),
    ],
    turn_ended: (event, at) => this.#turnEnded(event, at),
    work_item_created: ({ id, objective }) => [
      { kind: 'title', text: safe(`${this.#ids.short(id)}  ${safeLine(objective)}`) },
    ],
    work_item_completed: (event, at) => [this.#step(at, 'done', completed(event))],
    wait_registered: (event, at) => {
      this.#known.waits.set(event.id, event.work_item_id)
      return this.#wait(event, at)
    },
    wait_resolved: ({ id, by }) =>
      this.#keep(() => {
        const item = this.#known.waits.get(id)
        if (item) this.#woken.set(item, endOfWait(by))
      }),
    brief_delivered: ({ kind, text }) => [
      { kind: 'words', brief: kind, text: safeLines(this.#ids.within(text.trim())) },
    ],
    task_queued: ({ id, label }) =>
      this.#keep(() => this.#known.tasks.set(id, { label, started_at: null, promoted: false })),
    task_started: ({ id, started_at }) =>
      this.#keep(() => {
        const task = this.#known.tasks.get(id)
        if (task) task.started_at = started_at
      }),
    task_promoted: ({ id }) =>
      this.#keep(() => {
        const task = this.#known.tasks.get(id)
        if (task) task.promoted = true
      }),
    task_ended: (event, at) => this.#taskEnded(event, at),
    // The end of its command is told as the end of the check.
    check_started: ({ task_id }) => this.#keep(() => this.#known.tasks.delete(task_id)),
    check_finished: (event, at) => [
      this.#step(at, checkMark[event.outcome], `check ${event.name}`, checkEnd(event)),
    ],
  }

  #keep(act: () => unknown): RunLine[] {
    act()
    return []
  }

  #step(at: string, mark: Mark | null, left: string, right = ''): RunLine & { kind: 'step' } {
    const shown = (text: string) => safeLine(this.#ids.within(text))
    return { kind: 'step', at, mark, left: shown(left), right: shown(right) }
  }

  #of(event: Event, at: string): RunLine[] {
    const handler = this.#handlers[event.type] as Handler<Event> | undefined
    const lines = handler?.(event, at) ?? []
    const folds = event.type === 'call_finished'
    return folds || lines.length === 0 ? lines : [...this.flush(), ...lines]
  }

  #call(event: Event & { type: 'call_finished' }, at: string): RunLine[] {
    const call = this.#known.calls.get(event.id)
    this.#known.calls.delete(event.id)
    if (!call) return []
    this.counts.calls += 1
    const found = callLine(call.tool, call.input, event.result)
    if (found === null) return []
    const isCommand = call.tool === 'ExecCommand' && found.mark !== 'waiting'
    const diffs = event.result.status === 'success' ? event.result.diffs : undefined
    const time = isCommand
      ? [changedWords(diffs), took(this.#msOf(call, at))].filter(Boolean).join(', ')
      : ''
    const right = [found.right, time].filter((part) => part !== '').join(', ')
    const line = this.#step(at, found.mark, found.left, timeFirst(found.right, time) ?? right)
    if (looks[call.tool] === undefined || found.mark !== 'done') return [...this.flush(), line]
    if (this.#looked?.tool === call.tool) {
      this.#looked = { tool: call.tool, line, count: this.#looked.count + 1 }
      return []
    }
    const before = this.flush()
    this.#looked = { tool: call.tool, line, count: 1 }
    return before
  }

  /** How long its command ran, as its runner says; a call without one until somebody looked. */
  #msOf({ task_id, started_at }: CallKnown, at: string): number {
    const ran = task_id === null ? undefined : this.#known.ran.get(task_id)
    this.#known.ran.delete(task_id ?? '')
    if (ran !== undefined) return ran
    return started_at === null ? 0 : Date.parse(at) - Date.parse(started_at)
  }

  #because(event: Event & { type: 'turn_started' }): string {
    const { cause } = event
    if (cause.kind === 'continue_current') {
      const woken = this.#woken.get(cause.work_item_id)
      this.#woken.delete(cause.work_item_id)
      return woken ?? `${cause.work_item_id} can go on`
    }
    if (cause.kind === 'queued_available') return queuedWords(cause.work_item_ids.length)
    const message = cause.kind === 'message' ? this.#known.messages.get(cause.message_id) : null
    if (!message) return event.because
    return messageWords(message, { answered: 'you answered', because: event.because })
  }

  #turnEnded(event: Event & { type: 'turn_ended' }, at: string): RunLine[] {
    const { usage } = this.counts
    this.counts.usage = usage === null ? event.usage : addUsage(usage, event.usage)
    const reason = event.reason ?? ''
    const turn = `turn ${this.turnNumber}`
    switch (event.outcome) {
      case 'failed':
        return [this.#step(at, 'failed', `${turn} failed`, reason)]
      case 'aborted':
        return [this.#step(at, 'failed', `${turn} was stopped`, reason)]
      case 'interrupted':
        return [this.#step(at, 'waiting', `${turn} was cut off before it began`, reason)]
      case 'completed':
        return /limit|errors/.test(reason)
          ? [this.#step(at, 'waiting', `${turn} ended early`, reason.replaceAll('_', ' '))]
          : []
      case 'waiting':
        return []
    }
  }

  /** Waits for the operator come as questions, holds as failures: those are words. */
  #wait(event: Event & { type: 'wait_registered' }, at: string): RunLine[] {
    switch (event.wake) {
      case 'operator_input':
      case 'system':
        return []
      case 'task_result': {
        const task = event.resource === null ? undefined : this.#known.tasks.get(event.resource)
        const name = task === undefined ? '' : ` (${cut(safeLine(task.label), labelCells)})`
        const left = `waits for ${event.resource}${name}; no cost`
        return [this.#step(at, 'waiting', left, 'ctrl+c leaves, it goes on')]
      }
      case 'timer': {
        const until = this.#until(event.wake_at ?? at, at)
        return [this.#step(at, 'waiting', `waits ${until}; no cost`, event.reason)]
      }
      case 'external': {
        const what = [event.source, event.resource].filter((part) => part !== null).join(' ')
        const name = what === '' ? 'an outside event' : what
        return [this.#step(at, 'waiting', `waits for ${name}; no cost`, event.reason)]
      }
    }
  }

  /** `2 s, until 14:02:13`; from an hour on without the seconds. */
  #until(due: string, at: string): string {
    const ms = Date.parse(due) - Date.parse(at)
    const zone = this.#zone()
    return `${span(ms)}, until ${ms < 3_600_000 ? clockSeconds(due, zone) : clock(due, zone)}`
  }

  #taskEnded(event: Event & { type: 'task_ended' }, at: string): RunLine[] {
    const task = this.#known.tasks.get(event.id)
    this.#known.tasks.delete(event.id)
    if (task === undefined) return []
    const ms = Date.parse(event.ended_at) - Date.parse(task.started_at ?? event.ended_at)
    if (!task.promoted) return this.#keep(() => this.#known.ran.set(event.id, ms))
    const mark = taskMark(event)
    const right = `${endWords(event)}, ${took(ms)}`
    return [this.#step(at, mark, `${event.id} ${task.label}`, right)]
  }
}

function endOfWait(by: (Event & { type: 'wait_resolved' })['by']): string {
  switch (by.kind) {
    case 'task':
      return `${by.task_id} ended`
    case 'timer':
      return by.late_by_ms < lateFrom ? 'the time came' : `the time came ${span(by.late_by_ms)} ago`
    case 'operator':
      return 'you answered'
    case 'runtime':
      return 'the question is settled'
  }
}

const checkMark = { passed: 'done', failed: 'failed', unknown: 'unknown' } as const

const checkEnd = ({ outcome, exit_status, reason }: Event & { type: 'check_finished' }): string => {
  const status = exit_status === null ? [] : [`status ${exit_status}`]
  return [outcome, ...status, ...(reason === null ? [] : [reason])].join(', ')
}

function taskMark(event: { status: Task['status']; exit_status: number | null }): Mark {
  if (event.status === 'interrupted') return 'unknown'
  return event.status === 'completed' && event.exit_status === 0 ? 'done' : 'failed'
}

/** `exit 3, 0.1 s: inactive`: the time stands before the last words, which may be long. */
function timeFirst(right: string, time: string): string | null {
  const exit = /^(exit \S+): (.*)$/s.exec(right)
  return exit === null || time === '' ? null : `${exit[1]}, ${time}: ${exit[2]}`
}

function completed(event: Event & { type: 'work_item_completed' }): string {
  const { unfinished_todo_count: left } = event
  const by = event.by === 'operator' ? ' by you' : ''
  return left === 0 ? `done${by}` : `done${by}; ${counted(left, 'todo')} not finished`
}
