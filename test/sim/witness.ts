/**
 * Watches everything that is committed and every effect that begins, and says which invariant of
 * docs/spec/invariants.md is broken, by its number: 4, 17 to 22 here, beside those that are
 * functions in the domain. It knows only what passed by, so it needs no read.
 */
import type { Emitted } from '../../src/domain/facts/facts.ts'
import type { StoredEvent } from '../../src/domain/state/event.ts'
import type { Change } from '../../src/ledger/port.ts'
import type { SeenIds } from './further-acts.ts'

type CallSeen = {
  turn: string
  round: number
  state: 'recorded' | 'started' | 'finished'
  tool: string
  provider: string
  /** The life in which it was started. */
  life: number
  task: string | null
}

type RoundSeen = { agent: string; state: 'requested' | 'recorded'; allowed: number; sent: number }

/** Opens the provider's id of a call that must never be carried out. */
export const neverRuns = 'never_'
/** Opens that of a call with a field that its tool does not know: it runs, and says so. */
export const fieldTooMany = 'spare_'

export class Witness {
  readonly found: string[] = []
  /** All events by agent, in order, as the ledger has them. */
  readonly history = new Map<string, StoredEvent[]>()
  readonly #calls = new Map<string, CallSeen>()
  readonly #rounds = new Map<string, RoundSeen>()
  readonly #openCalls = new Map<string, Set<string>>()
  readonly #unsure = new Set<string>()
  /** Held commands and calls without a yes that holds. */
  readonly #unallowed = new Set<string>()
  /** Calls whose outcome met a full disk: nobody has it any more. */
  readonly #lost = new Set<string>()
  /** By the task of a check's command. */
  readonly #runs = new Map<string, string>()
  /** When an act with a key was carried out, by the id of its receipt. */
  readonly #receipts = new Map<string, number>()
  readonly #seen = new Map<string, SeenIds>()
  #life = 0
  #events = 0

  get events(): number {
    return this.#events
  }

  /** A process begins: every open request may be sent once more. */
  lives(life: number): void {
    this.#life = life
    for (const round of this.#rounds.values()) if (round.state === 'requested') round.allowed += 1
  }

  agentOfRound(id: string): string | null {
    return this.#rounds.get(id)?.agent ?? null
  }

  /** What went by of an agent and is in no facts any more. */
  seenOf(agent: string): SeenIds {
    const known = this.#seen.get(agent) ?? { delivered: [], gone: [] }
    this.#seen.set(agent, known)
    return known
  }

  /** The run of a check that this task was recorded for: whoever runs it again has another one. */
  runOf(task: string): string | null {
    return this.#runs.get(task) ?? null
  }

  /** The machine failed under this task: what became of it nobody may know. */
  isUnsure(task: string): void {
    this.#unsure.add(task)
  }

  /** The disk had no room for it. */
  refused({ events }: Change): void {
    for (const { event } of events) if (event.type === 'call_finished') this.#lost.add(event.id)
  }

  /** Whether a policy asks about a call with this input; none is in force: nothing is asked. */
  asks: (input: unknown) => boolean = () => false

  /** 18: what a rule asks about is held, or a grant lets it begin. */
  #unasked({ events }: Change): void {
    for (const { event } of events) {
      if (event.type !== 'call_started' || event.task_id === null) continue
      const queued = events.find(
        ({ event: one }) => one.type === 'task_queued' && one.id === event.task_id,
      )?.event
      if (queued?.type !== 'task_queued' || queued.kind !== 'command') continue
      const { cmd, workdir, grant_id } = queued
      if (grant_id === undefined && this.asks({ cmd, workdir })) {
        this.found.push(`18: ${event.task_id} begins, a rule asks about it, and nobody said yes`)
      }
    }
  }

  landed(change: Change): void {
    this.#unasked(change)
    const past = this.history.get(change.agent_id) ?? []
    this.history.set(change.agent_id, past)
    for (const { event, meta } of change.events) {
      this.#events += 1
      if (meta.seq !== past.length + 1) {
        this.found.push(`4: ${change.agent_id} got seq ${meta.seq} after ${past.length}`)
      }
      const place = { id: `evt_${this.#events}`, global_seq: this.#events, v: 1 } as const
      past.push({ ...meta, ...place, agent_id: change.agent_id, event })
      this.#event(change.agent_id, { event, meta })
    }
  }

  /** Just before an effect of the runtime begins (`EffectSeam`). */
  begins(what: string): void {
    const [word = '', id = ''] = what.split(' ')
    if (word === 'request') {
      const round = this.#rounds.get(id)
      if (round?.state !== 'requested') this.found.push(`18: ${id} is asked and was not recorded`)
      else if ((round.sent += 1) > round.allowed) {
        this.found.push(`22: ${id} was sent ${round.sent} times and may be ${round.allowed} times`)
      }
      const turn = id.slice(0, id.lastIndexOf(':'))
      const open = [...(this.#openCalls.get(turn) ?? [])]
      if (open.length > 0) this.found.push(`17: ${id} is asked and ${open[0]} has no result`)
      return
    }
    if (this.#unallowed.has(id)) {
      this.found.push(`18: ${what} begins and nobody said yes`)
    }
    const call = this.#calls.get(id)
    if (call && call.state !== 'started' && !isStore(call)) {
      this.found.push(`18: ${what} begins and is ${call.state}`)
    }
    if (call?.provider.startsWith(neverRuns)) this.found.push(`21: ${what} runs and never may`)
  }

  #event(agent: string, { event, meta: { at } }: Emitted): void {
    // Of all events, those by which something is told apart, counted or found again.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'task_queued':
        if (event.held !== undefined) this.#unallowed.add(event.id)
        return
      case 'task_held_again':
        this.#unallowed.add(event.id)
        return
      case 'task_decided':
        if (event.answer.allowed) this.#unallowed.delete(event.id)
        return
      case 'request_sent': {
        const before = this.#rounds.get(event.id)
        const allowed = (before?.allowed ?? 0) + 1
        this.#rounds.set(event.id, {
          agent,
          state: 'requested',
          allowed,
          sent: before?.sent ?? 0,
        })
        const open = [...(this.#openCalls.get(event.turn_id) ?? [])]
        if (open.length > 0) this.found.push(`17: ${event.id} is sent, ${open[0]} has no result`)
        return
      }
      case 'model_fell_back':
      case 'wait_resolved':
      case 'wait_cancelled':
      case 'agent_started':
      case 'agent_configured':
        // The same request to another model, or after a hold, or after the agent was stopped.
        this.#onceMore(agent)
        return
      case 'round_recorded': {
        const round = this.#rounds.get(event.id)
        if (round?.state !== 'requested') this.found.push(`21: ${event.id} answers no request`)
        if (round) round.state = 'recorded'
        return
      }
      case 'call_recorded':
        this.#recorded(event)
        return
      case 'call_started': {
        const call = this.#calls.get(event.id)
        if (!call || call.state === 'finished') this.found.push(`18: ${event.id} starts over`)
        if (call?.provider.startsWith(neverRuns)) {
          this.found.push(`21: ${event.id} (${call.tool}) starts and was invalid`)
        }
        if (call) Object.assign(call, { state: 'started', life: this.#life, task: event.task_id })
        return
      }
      case 'call_finished':
        this.#finished(event)
        return
      case 'check_started':
        this.#runs.set(event.task_id, `run ${event.n} of ${event.name} of ${event.id}`)
        return
      case 'receipt_kept':
        this.#kept(event.id, Date.parse(at))
        return
      case 'delivery_accepted':
        this.seenOf(agent).delivered.push(event.id)
        return
      case 'worktree_discarded':
        this.seenOf(agent).gone.push(event.id)
        return
      default:
        return
    }
  }

  /** 2, of an act with a key: once in a day, by the ledger's own time. */
  #kept(id: string, at: number): void {
    const before = this.#receipts.get(id)
    if (before !== undefined && at - before < day) this.found.push(`2: ${id} was carried out twice`)
    this.#receipts.set(id, at)
  }

  #recorded(event: Extract<Emitted['event'], { type: 'call_recorded' }>): void {
    const { id, turn_id, round, tool_name, provider_call_id } = event
    this.#calls.set(id, {
      turn: turn_id,
      round,
      state: 'recorded',
      tool: tool_name,
      provider: provider_call_id,
      life: this.#life,
      task: null,
    })
    const open = this.#openCalls.get(turn_id) ?? new Set()
    this.#openCalls.set(turn_id, open.add(id))
  }

  #finished(event: Extract<Emitted['event'], { type: 'call_finished' }>): void {
    const call = this.#calls.get(event.id)
    if (!call || call.state === 'finished') {
      this.found.push(`17: ${event.id} has a second result`)
      return
    }
    const { result } = event
    const isWarned = result.warnings?.some(({ kind }) => kind === 'unknown_fields') ?? false
    if (call.provider.startsWith(fieldTooMany) && result.status === 'success' && !isWarned) {
      this.found.push(`21: ${event.id} (${call.tool}) ran without a field, and does not say so`)
    }
    const isUnknown = result.status === 'error' && result.error.kind === 'outcome_unknown'
    const isOpen = call.state === 'started'
    const mayBe =
      call.life < this.#life ||
      this.#lost.has(event.id) ||
      this.#unsure.has(call.task ?? '') ||
      othersWrite.has(call.tool)
    if (isUnknown && !(isOpen && mayBe)) {
      this.found.push(`20: ${event.id} (${call.tool}) is unknown and was ${call.state}`)
    }
    call.state = 'finished'
    const open = this.#openCalls.get(call.turn)
    open?.delete(event.id)
    if (open?.size === 0) this.#openCalls.delete(call.turn)
  }

  #onceMore(agent: string): void {
    for (const round of this.#rounds.values()) {
      if (round.agent === agent && round.state === 'requested') round.allowed += 1
    }
  }
}

const day = 86_400_000

const storeTools: ReadonlySet<string> = new Set([
  'CreateWorkItem',
  'UpdateWorkItem',
  'PickWorkItem',
  'CompleteWorkItem',
  'WaitFor',
])

/** Files change under their hands: another agent, or a person, writes the same ones. */
const othersWrite: ReadonlySet<string> = new Set(['EditFile', 'ApplyPatch'])
const isStore = ({ tool }: CallSeen): boolean => storeTools.has(tool)
