/**
 * The lane of one agent: laps of `next` until nothing is left to start, then sleep until a commit
 * or a due time wakes it. Level-triggered: a lap looks at the facts again after everything it did,
 * so no wake is kept anywhere but in the ledger.
 */
import { lapseGrants } from '../../domain/approvals/grants.ts'
import { lapseHeld } from '../../domain/approvals/held-command.ts'
import { nextGrantEnd } from '../../domain/state/grant.ts'
import { nextLapse } from '../../domain/state/task.ts'
import type { Interruption } from '../../context/sections/notes.ts'
import {
  agentOf,
  callsOf,
  openTurn,
  roundsOf,
  type Draft,
  type Emitted,
} from '../../domain/facts/facts.ts'
import type { CallId, TurnId } from '../../domain/ids.ts'
import { budgetLine } from '../../domain/facts/budget.ts'
import { activeHold } from '../../domain/waits/hold.ts'
import { askOverBudget, holdForBudget } from '../../domain/budgets/settle.ts'
import {
  askAboutBucket,
  askAboutOwnTrigger,
  askAboutUnpaid,
  holdAgent,
  type AgentHold,
} from '../../domain/scheduler/park.ts'
import { allowanceNow, focusFor, overAllowance } from '../../domain/facts/payer.ts'
import { askForInput } from '../../domain/waits/plan-question.ts'
import { decideNext, next, type Next } from '../../domain/scheduler/next.ts'
import { alignSpending, holdForSpending } from '../../domain/budgets/spending.ts'
import { survey } from '../../domain/scheduler/survey.ts'
import { between, earliest, later, minute, type Timestamp } from '../../domain/time.ts'
import type { Turn } from '../../domain/state/turn.ts'
import { abortTurn, observePlan } from '../../domain/turns/end.ts'
import { abandonTurn, startTurn } from '../../domain/turns/start.ts'
import { fireDue } from '../../domain/waits/wait-end.ts'
import type { NewBlob } from '../../ledger/port.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { plansOf, readPlan } from '../gather/plans.ts'
import { runTurn } from './turn.ts'
import { TurnRun, type LaneState, type TurnParts } from './turn-run.ts'

/** A turn that rested this long is told how much time has passed. */
const longSleep = 10 * minute

export class Lane {
  readonly env: AgentPorts
  readonly #parts: TurnParts
  #state: LaneState = 'open'
  #lapping: Promise<void> | null = null
  #again = false
  #cancelTimer: (() => void) | null = null
  /** The run of the open turn; null while none runs here. */
  #run: TurnRun | null = null
  /** See `TurnRun`. */
  readonly #begun = new Set<CallId>()
  /** Resolves when the turn that runs now has come back. */
  #ended: Promise<void> = Promise.resolve()
  /** Seq when this process took the agent over: a turn opened before it was interrupted. */
  readonly #openedSeq: number
  #held: (Interruption & { kind: 'held' }) | null = null
  /** Aborts of a turn that only stands in the rows: no run of it begins beside them. */
  readonly #aborting = new Set<Promise<unknown>>()
  readonly #failed: (error: unknown) => void

  constructor(env: AgentPorts, parts: TurnParts, failed: (error: unknown) => void) {
    this.env = env
    this.#parts = parts
    this.#failed = failed
    this.#openedSeq = env.facts().seq
  }

  /** Looks again, soon; calls while a lap runs are coalesced into one more. */
  wake(): void {
    if (this.#state !== 'open') return
    if (this.#lapping) {
      this.#again = true
      return
    }
    this.#lapping = this.#laps()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        this.#lapping = null
        if (this.#again) {
          this.#again = false
          this.wake()
        }
      })
  }

  /** Nothing can be written: no lap begins, and an open turn is left at its next step. */
  suspend(): void {
    if (this.#state === 'open') this.#state = 'suspended'
  }

  /** Laps may begin again; `wake` begins one. */
  resume(): void {
    if (this.#state === 'suspended') this.#state = 'open'
  }

  /**
   * For good: no lap begins any more. The open turn is left at its next step; with `safe_point` at
   * its next commit, for which no foreground command is waited for; with `now` what runs is ended.
   */
  close(how: 'next_step' | 'safe_point' | 'now'): void {
    this.#state = 'closed'
    if (how !== 'next_step') this.#run?.leave()
    if (how === 'now') this.#run?.abort()
  }

  /** What a commit of the agent says to the turn that runs. Not a wake. */
  committed(events: readonly Emitted[]): void {
    for (const { event } of events) this.#run?.committed(event)
  }

  /** What `next` says now, asked from outside. */
  next(): Next {
    return next(this.env.facts(), this.env.now(), this.#run !== null)
  }

  /**
   * Ends the open turn, or only this one, whether it runs here or only stands in the rows. Whether
   * this one was aborted: it may have come to its end by itself before the abort had its place.
   */
  async abort(stop: boolean, only: TurnId | null): Promise<boolean> {
    await this.#abort(stop, only)
    return only !== null && (await this.env.load('turns', only))?.outcome === 'aborted'
  }

  async #abort(stop: boolean, only: TurnId | null): Promise<void> {
    const { env } = this
    if (this.#run !== null) {
      this.#run.abort(stop)
      await this.#ended
      return
    }
    const aborting = env.transact('operator', (d) => {
      const open = openTurn(d)
      if (open && (only ?? open.id) === open.id) abortTurn(d, { plan: null, stop })
    })
    this.#aborting.add(aborting)
    try {
      await aborting
    } finally {
      this.#aborting.delete(aborting)
    }
  }

  /** Resolves when no lap runs; `close` keeps a new one from starting. */
  async settled(): Promise<void> {
    this.#cancelTimer?.()
    await this.#lapping
  }

  async #laps(): Promise<void> {
    for (;;) {
      if (this.#state !== 'open') return
      this.#again = false
      const decision = await this.#lap()
      // Something came in while this lap looked: look again before resting.
      if (decision === null || this.#again) continue
      this.#rest(decision)
      return
    }
  }

  /** One lap. Null: a turn ran, or facts moved, so look again at once. */
  async #lap(): Promise<Next | null> {
    const { env } = this
    const { spending } = this.#parts
    await spending.load()
    const over = () => spending.over(env.agent_id)
    await env.transact('timer', (d) => {
      fireDue(d)
      lapseHeld(d)
      lapseGrants(d)
      alignSpending(d, over())
      askForInput(d)
      askOverBudget(d)
      askAboutOwnTrigger(d)
      askAboutUnpaid(d)
    })
    if (activeHold(env.facts(), 'spending') !== null) await spending.ask(over())
    const now = env.now()
    const seen = survey(env.facts(), now, this.#run !== null)
    const decision = decideNext(seen)
    if (decision.do === 'wait' && seen.bucketEmpty && hasRunnable(seen)) {
      if (await env.transact(null, askAboutBucket)) return null
    }
    if (decision.do === 'stop' && openTurn(env.facts())) {
      this.#held = null
      await this.#turn(null)
      return null
    }
    if (decision.do !== 'start_turn') return decision
    if (decision.start.rule === 'recover') await this.#resume()
    else await this.#start(decision)
    return null
  }

  async #start(decision: Next & { do: 'start_turn' }): Promise<void> {
    const { env } = this
    if (overAllowance(env.facts(), env.now()).length > 0) {
      await env.transact(null, holdForBudget)
      return
    }
    const over = () => this.#parts.spending.over(env.agent_id)
    if (over().length > 0) {
      await env.transact(null, (d) => holdForSpending(d, over()))
      return
    }
    const model = agentOf(env.facts()).model
    if (model === null) {
      await env.transact(null, (d) => holdAgent(d, noModel))
      return
    }
    const blobs: NewBlob[] = []
    const item = await this.#plan(decision, blobs)
    const decide = (d: Draft) => {
      // Facts may have moved since the decision; the commit decides again on what holds now.
      const seen = survey(d, d.now, this.#run !== null)
      const again = decideNext(seen)
      if (again.do !== 'start_turn' || again.start.rule === 'recover' || over().length > 0) return
      const row = item === null ? undefined : d.row('work_items', item.id)
      if (row && item) observePlan(d, row, item.plan)
      startTurn(d, seen, again, model)
    }
    await env.transact(null, decide, { blobs })
    if (openTurn(env.facts())) await this.#turn(null)
  }

  /** The plan file of the item a turn will be about, read before the turn starts. */
  async #plan(decision: Next & { do: 'start_turn' }, blobs: NewBlob[]) {
    const { start } = decision
    const id =
      start.rule === 'continue_current'
        ? start.work_item_id
        : start.rule === 'message'
          ? (start.message.work_item_id ?? focusFor(this.env.facts(), this.env.now()))
          : start.rule === 'review_triggered'
            ? (start.reviews[0]?.work_item_id ?? null)
            : null
    const item = id === null ? undefined : this.env.facts().row('work_items', id)
    if (!item || item.state === 'completed') return null
    const plans = plansOf(this.env, blobs)
    return { id: item.id, plan: (await readPlan(plans, item)).stored }
  }

  /** An open turn goes on where its rows say; one without a request is undone. */
  async #resume(): Promise<void> {
    const { env } = this
    const turn = openTurn(env.facts())
    if (!turn) return
    if (roundsOf(env.facts(), turn).length === 0) {
      await env.transact(null, (d) => {
        // An abort may have ended it since the look.
        if (openTurn(d)?.id === turn.id) abandonTurn(d)
      })
      return
    }
    await this.#turn(this.#interruption(turn))
  }

  #interruption(turn: Turn): Interruption | null {
    const held = this.#held
    this.#held = null
    if (held) return held.limits === null ? held : { ...held, limits: this.#limits() }
    const since = lastSign(this.env, turn)
    if (turn.input_cut < this.#openedSeq) return { kind: 'recovered', since, calls: [] }
    const slept = between(since, this.env.now()) >= longSleep
    return slept ? { kind: 'slept', since } : null
  }

  /** How every budget stands that the next request is paid from. */
  #limits(): string[] {
    const { env } = this
    const allowance = allowanceNow(env.facts(), env.now())
    const own = allowance === null ? [] : [budgetLine(allowance.allowed, allowance)]
    return [...own, ...this.#parts.spending.standing(env.agent_id)]
  }

  /** Runs the open turn until its run comes back. */
  async #turn(interruption: Interruption | null): Promise<void> {
    const { env } = this
    const [parts, begun] = [this.#parts, this.#begun]
    while (this.#aborting.size > 0) await Promise.allSettled(this.#aborting)
    if (openTurn(env.facts()) === null) return
    const ended = Promise.withResolvers<void>()
    this.#ended = ended.promise
    const run = new TurnRun(env, { parts, interruption, begun, lane: () => this.#state })
    this.#run = run
    // Stopped meanwhile, or found stopped with its turn open: the run ends, it does not go on.
    if (agentOf(env.facts()).state !== 'active') run.abort()
    try {
      const outcome = await runTurn(run)
      if (outcome === 'held') {
        const { reason: cause, runtime_cause } = activeHold(env.facts()) ?? noHold
        const limits = runtime_cause === 'budget' || runtime_cause === 'spending' ? [] : null
        this.#held = { kind: 'held', since: env.now(), cause, limits }
      }
    } catch (error) {
      // Only what passes leaves this process running: the turn then goes on from its rows.
      this.#held = { kind: 'held', since: env.now(), cause: sentenceOf(error), limits: null }
      throw error
    } finally {
      this.#run = null
      ended.resolve()
    }
  }

  /** Arms the in-memory hint of the next due time; the rows are the truth. */
  #rest(decision: Next): void {
    this.#cancelTimer?.()
    this.#cancelTimer = null
    this.env.notify({ kind: 'resting', agent_id: this.env.agent_id, next: decision })
    const until =
      decision.do === 'wait' || decision.do === 'sleep' ? decision.until : dueAnyway(this.env)
    if (until === null) return
    this.#arm(until)
  }

  /** At most a minute at a time: the wall clock may jump, and due times are wall-clock times. */
  #arm(until: string): void {
    const ms = between(this.env.now(), until)
    this.#cancelTimer = this.env.ports.clock.after(Math.min(Math.max(0, ms), minute), () => {
      if (this.env.now() >= until) this.wake()
      else this.#arm(until)
    })
  }
}

const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

const noHold = { reason: 'held', runtime_cause: null } as const

const noModel: AgentHold = {
  cause: 'provider_setup',
  message: 'The agent has no model.',
  until: null,
}

/** When the turn last came on: the newest time on its rows. */
function lastSign(env: AgentPorts, turn: Turn): Timestamp {
  const facts = env.facts()
  const rows = [...roundsOf(facts, turn), ...callsOf(facts, turn)]
  return rows.reduce((last, row) => {
    const at = 'n' in row ? (row.recorded_at ?? row.requested_at) : row.finished_at
    return later(last, at ?? last)
  }, turn.started_at)
}

const hasRunnable = (seen: ReturnType<typeof survey>): boolean =>
  seen.current !== null || seen.candidates.queued_runnable.length > 0

/** Timers also take effect on rows while the agent is stopped. */
function dueAnyway(env: AgentPorts): string | null {
  let first = earliest([nextLapse(env.facts()), nextGrantEnd(env.facts())])
  for (const wait of env.facts().rows('waits')) {
    if (wait.status !== 'active' || wait.wake !== 'timer' || wait.wake_at === null) continue
    if (first === null || wait.wake_at < first) first = wait.wake_at
  }
  return first
}
