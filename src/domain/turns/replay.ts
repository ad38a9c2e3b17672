/**
 * A turn decided once more from its events (docs/spec/ledger.md#rows-equal-the-fold): the agent's
 * history is folded event by event, and wherever the scheduler or the turn's next step was asked,
 * the same rules are asked again on the facts of that moment. Pure: no model is asked and nothing
 * is written. What people and tools decided (an abort, a call that ends the turn) is input here,
 * not compared.
 */
import { AgentFacts } from '../facts/agent-facts.ts'
import {
  evolve,
  tableOf,
  type Event,
  type Rows,
  type StoredEvent,
  type Table,
} from '../state/event.ts'
import { Draft } from '../facts/facts.ts'
import type { AgentId, Mint, TurnId } from '../ids.ts'
import { decideNext } from '../scheduler/next.ts'
import { survey, type Survey } from '../scheduler/survey.ts'
import { nextStep, type Step } from './step.ts'
import { startTurn } from './start.ts'

/** The first event that the rules of today would not have made as it is stored. */
export type Divergence = { seq: number; what: string; stored: string; again: string }

export class Replay {
  /** Decisions made again and found the same. */
  decisions = 0
  divergence: Divergence | null = null
  readonly #turn_id: TurnId
  readonly #facts: AgentFacts
  readonly #rows = new Map<string, Rows[Table]>()
  /** What the scheduler saw before the plan of its item was noted in the same commit. */
  #before: Survey | null = null
  /** What the start of the turn made again, and is still to be seen among the events. */
  #expected: Event[] = []

  constructor(agent_id: AgentId, turn_id: TurnId) {
    this.#turn_id = turn_id
    this.#facts = new AgentFacts(agent_id)
  }

  /** A row as it is after the last event that was pushed. */
  row<T extends Table>(table: T, id: string): Rows[T] | undefined {
    return this.#rows.get(`${table} ${id}`) as Rows[T] | undefined
  }

  rows<T extends Table>(table: T): Rows[T][] {
    const start = `${table} `
    return [...this.#rows].flatMap(([key, row]) => (key.startsWith(start) ? [row as Rows[T]] : []))
  }

  /** Compares, then folds. `starts`: the events that follow it, as far as they are known. */
  push(stored: StoredEvent, starts: readonly StoredEvent[]): void {
    const { event } = stored
    if (this.divergence === null) this.#compare(stored, starts)
    const table = tableOf[event.type]
    const key = `${table} ${event.id}`
    const row = evolve(this.#rows.get(key) ?? null, event, stored)
    this.#rows.set(key, row)
    this.#facts.apply([[table, row]], stored.seq, stored.at)
  }

  #compare(stored: StoredEvent, starts: readonly StoredEvent[]): void {
    const { event, at } = stored
    if (event.type === 'plan_changed') {
      this.#before = survey(this.#facts, at, false)
      return
    }
    if (event.type === 'decision_made') this.#start(stored, starts)
    else if (isStep(event)) {
      if (stored.turn_id === this.#turn_id || event.id === this.#turn_id) this.#step(stored, event)
    } else if (this.#expected.length > 0) this.#same(stored, this.#expected.shift() ?? null)
    this.#before = null
  }

  /** The turn is started again: its decision with every verdict, its claims, its reviews. */
  #start(stored: StoredEvent, starts: readonly StoredEvent[]): void {
    const started = starts.find(({ event }) => event.type === 'turn_started')
    if (started?.event.type !== 'turn_started' || started.event.id !== this.#turn_id) return
    const { at } = stored
    const ids: Readonly<Record<string, string>> = { dec: stored.event.id, turn: this.#turn_id }
    const mint = ((prefix: string) => ids[prefix] ?? `${prefix}_again`) as Mint
    const draft = new Draft(this.#facts, { now: at, mint })
    const seen = this.#before ?? survey(this.#facts, at, false)
    const next = decideNext(seen)
    if (next.do !== 'start_turn' || next.start.rule === 'recover') {
      this.#differs(stored, 'the decision', said(stored.event), `${next.do}: ${next.because}`)
      return
    }
    startTurn(draft, seen, next, started.event.model)
    const [decision, ...others] = draft.emitted.map(({ event }) => event)
    this.#expected = others
    this.#same(stored, decision ?? null)
    if (this.divergence === null) this.decisions++
  }

  #same(stored: StoredEvent, again: Event | null): void {
    if (again !== null && said(again) === said(stored.event)) return
    const what = stored.event.type === 'decision_made' ? 'the decision' : 'what it made'
    this.#differs(stored, what, said(stored.event), again === null ? 'nothing' : said(again))
    this.#expected = []
  }

  #step(stored: StoredEvent, event: StepEvent): void {
    const [missing] = this.#expected
    if (missing !== undefined) {
      this.#differs(stored, 'what the start made', event.type, said(missing))
      return
    }
    const step = nextStep(this.#facts, stored.at)
    const again = saidStep(step)
    const wanted = wantedBy(event, step, this.row('rounds', event.id) !== undefined)
    if (wanted === null) return
    if (wanted === again) this.decisions++
    else this.#differs(stored, 'the next step', wanted, again)
  }

  #differs({ seq }: StoredEvent, what: string, stored: string, again: string): void {
    this.divergence = { seq, what, stored, again }
  }
}

/** A field that is not there and one that is undefined are the same in the ledger. */
const said = (event: Event): string => JSON.stringify(sorted(event))

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, one]) => one !== undefined)
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, sorted(one)]),
        )
      : value

function saidStep(step: Step): string {
  switch (step.do) {
    case 'open':
      return 'request 1'
    case 'stream':
      return `request ${step.round.n} again`
    case 'start_call':
      return `start ${step.call.id}`
    case 'run_call':
      return `run ${step.call.id}`
    case 'request':
      return `a request for ${step.kind}`
    case 'hold':
    case 'report':
      return step.do
    case 'end':
      return `end ${step.outcome}${step.reason === null ? '' : `: ${step.reason}`}`
  }
}

type StepEvent = Extract<Event, { type: 'request_sent' | 'call_started' | 'turn_ended' }>

const isStep = (event: Event): event is StepEvent =>
  event.type === 'request_sent' || event.type === 'call_started' || event.type === 'turn_ended'

/** What the step must have been for this event; null: something else decided it. */
function wantedBy(event: StepEvent, step: Step, is_again: boolean): string | null {
  switch (event.type) {
    case 'request_sent':
      if (is_again) return `request ${event.n} again`
      return event.n === 1 ? 'request 1' : `a request for ${event.kind}`
    case 'call_started':
      return `start ${event.id}`
    case 'turn_ended':
      // A call that closes the turn, an abort and a refusal end it without asking for a step.
      if (step.do !== 'end' || event.outcome !== 'completed') return null
      return `end ${event.outcome}${event.reason === null ? '' : `: ${event.reason}`}`
  }
}
