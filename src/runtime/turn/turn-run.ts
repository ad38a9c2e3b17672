/**
 * One run of an open turn, from where it begins or goes on until it comes back: the signals that
 * end it or cut its waiting short, and what is known only while it runs. It is written to by its
 * lane and by what it runs, dies with the run, and keeps nothing that a row has.
 */
import type { Interruption } from '../../context/sections/notes.ts'
import type { Event } from '../../domain/state/event.ts'
import type { CallId } from '../../domain/ids.ts'
import type { Message } from '../../domain/state/message.ts'
import type { Tried } from '../../models/retry.ts'
import type { StepInputs } from './advance.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { CheckRunner } from '../tasks/check-runner.ts'
import type { ChildSupervisor } from '../children/child-supervisor.ts'
import { imagePathIn, outputPath } from '../home.ts'
import type { Spending } from '../spending.ts'

/** What a turn uses of the parts that serve all agents. */
export type TurnParts = { children: ChildSupervisor; spending: Spending; checks: CheckRunner }

/** `suspended`: nothing can be written now. `closed`: for good. Either way no lap begins. */
export type LaneState = 'open' | 'suspended' | 'closed'

export type RunOf = {
  parts: TurnParts
  /** What interrupted the turn, for the model's next request. */
  interruption: Interruption | null
  /**
   * Calls whose effect this process began: any other `started` call is one to recover. They are
   * the lane's: a turn that was left for want of room goes on with them.
   */
  begun: Set<CallId>
  /** The lane as it is now. */
  lane: () => LaneState
}

export class TurnRun {
  readonly env: AgentPorts
  readonly parts: TurnParts
  readonly begun: Set<CallId>
  readonly #lane: () => LaneState
  /** Ends the run: its model stream and its foreground command. */
  readonly #abort = new AbortController()
  /** The operator aborts the run and, with it, stops the agent. */
  #stopsAgent = false
  /** An interjected message waits for the next safe point. */
  #interjected = new AbortController()
  readonly #closing = new AbortController()
  #interruption: Interruption | null
  #tried: readonly Tried[] = []

  constructor(env: AgentPorts, { parts, interruption, begun, lane }: RunOf) {
    this.env = env
    this.parts = parts
    this.begun = begun
    this.#lane = lane
    this.#interruption = interruption
  }

  /** Ends it. `stop` is the operator's word, whether the agent is to stop with it. */
  abort(stop: boolean | null = null): void {
    if (stop !== null) this.#stopsAgent = stop
    this.#abort.abort()
  }

  /** The runtime closes: what runs in the foreground goes on behind. */
  leave(): void {
    this.#closing.abort()
    this.#interjected.abort()
  }

  /** Signals that a commit of the agent gives to its running turn. */
  committed(event: Event): void {
    if (event.type === 'request_sent') {
      this.#interruption = null
      this.#interjected = new AbortController()
      if (this.#closing.signal.aborted) this.#interjected.abort()
    }
    if (event.type === 'message_admitted' && event.priority === 'interject') {
      this.#interjected.abort()
    }
    if (event.type === 'agent_stopped') this.abort()
  }

  /** Aborts when the run is to end. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Aborts when an interjected message waits; another one after each request. */
  get interjected(): AbortSignal {
    return this.#interjected.signal
  }

  /** Aborts when the runtime closes. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The operator aborted it: nothing further begins. Of a lane that closes it is left open. */
  get isAborted(): boolean {
    return this.#abort.signal.aborted && !this.isClosing
  }

  get stopsAgent(): boolean {
    return this.#stopsAgent
  }

  /** The host closes, or the agent is gone: go on to the next commit and leave the turn open. */
  get isClosing(): boolean {
    return this.#lane() === 'closed'
  }

  /** The turn is to be left open at its next step. */
  get isLeft(): boolean {
    return this.#lane() !== 'open'
  }

  /** What interrupted the turn, until a request has told the model. */
  get interruption(): Interruption | null {
    return this.#interruption
  }

  /** A call that was under way when the last process ended has come to its outcome. */
  recovered(call: (Interruption & { kind: 'recovered' })['calls'][number]): void {
    const before = this.#interruption
    if (before?.kind !== 'recovered') return
    this.#interruption = { ...before, calls: [...before.calls, call] }
  }

  /** Models that failed for the open request, in order. */
  get tried(): readonly Tried[] {
    return this.#tried
  }

  failed(tried: Tried): void {
    this.#tried = [...this.#tried, tried]
  }

  answered(): void {
    this.#tried = []
  }

  /** What keeps the agent from sending a request now, beyond its own rows. */
  over() {
    return this.parts.spending.over(this.env.agent_id)
  }

  /** What a decision needs to move the turn on, as far as it is known already. */
  stepInputs(known: Partial<StepInputs>): StepInputs {
    const { interruption, isAborted: aborted } = this
    const { home } = this.env.ports
    const message_path = ({ id }: Message) => outputPath(home, id)
    const image_path = imagePathIn(home)
    const over = () => this.over()
    return {
      ready: null,
      plan: null,
      interruption,
      message_path,
      image_path,
      over,
      aborted,
      ...known,
    }
  }
}
