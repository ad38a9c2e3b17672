/**
 * Supervised children: what a parent and its child owe each other is brought in line after every
 * commit of either, and once after a start or a shortage (docs/spec/agent.md#delegation;
 * domain/agents/supervise.ts decides). Stopping a child ends its run, its commands and its own
 * supervised processes, with proof, before its task ends.
 */
import { isForeignModel, type Agent } from '../../domain/state/agent.ts'
import type { Brief } from '../../domain/state/brief.ts'
import type { AgentId, TaskId } from '../../domain/ids.ts'
import { openTurn, type Draft, type Emitted, type Facts } from '../../domain/facts/facts.ts'
import { limits } from '../../domain/limits.ts'
import { tellChild, toldBefore, type InputReceipt } from '../../domain/agents/child-input.ts'
import type { Delegation } from '../../domain/state/delegation.ts'
import type { Provenance } from '../../domain/state/provenance.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import { alignBudgets, wantsSpent } from '../../domain/budgets/settle.ts'
import { Drawers } from './drawers.ts'
import { tellsHold } from '../../domain/scheduler/park.ts'
import {
  finishChild,
  givenUpAt,
  mayEnd,
  relay,
  supervisionOf,
} from '../../domain/agents/supervise.ts'
import type { Legacy } from '../../domain/agents/supervise.ts'
import { spentOfAgent } from '../use-so-far.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import type { Next } from '../../domain/scheduler/next.ts'
import { overOrEnding } from '../../domain/agents/tasks.ts'
import { between, plus } from '../../domain/time.ts'
import type { StopOutcome } from '../../exec/ports.ts'
import type { HostPorts } from '../ports.ts'
import { isDeletion, type Store } from '../store.ts'
import type { WorktreeKeeper } from './worktree-keeper.ts'
import { lookAtWorktree } from './worktree-look.ts'

/** Foreign children that are over, looked at when the host starts: the newest. */
const sweptChildren = 50

/** Reports of one child that its result may quote. */
const reportsMax = 100

export type ChildText = { text: string; provenance: Provenance; key: string }
export type Word = { kind: string; text: string; at: string }

/** What was seen of a child's worktree, and the child's last event then. */
type Seen = { line: string | null; seq: number }

export type ChildrenPorts = {
  ports: Pick<HostPorts, 'clock' | 'foreign_agents' | 'worktrees'>
  store: Store
  keeper: WorktreeKeeper
  /** Ends the open run of an agent, and resolves when it has ended. */
  abort: (agent: AgentId) => Promise<unknown>
  /** Stops a command with proof; the pids that live. */
  stopCommand: (agent: AgentId, task: TaskId, because: string) => Promise<readonly number[]>
  /** What an agent does next, with its lane as it is; null: there is none. */
  next: (agent: AgentId) => Next | null
  failed: (agent: AgentId, error: unknown) => void
}

export class ChildSupervisor {
  readonly #with: ChildrenPorts
  /** Relays at work, and those to be looked at again when they are done. */
  readonly #running = new Map<AgentId, Promise<void>>()
  readonly #again = new Set<AgentId>()
  /** When a child that is held will be given up. */
  readonly #timers = new Map<AgentId, () => void>()
  /** Stops under way. */
  readonly #stopping = new Map<TaskId, Promise<StopOutcome>>()
  readonly #drawers: Drawers
  #open = false
  #sweeping: Promise<void> | null = null

  constructor(ports: ChildrenPorts) {
    this.#with = ports
    this.#drawers = new Drawers(ports)
  }

  /** From now on; and once for everything that happened before. `known`: as the start read them. */
  start(known: readonly Agent[]): void {
    this.#open = true
    this.#drawers.open()
    this.lookAgain()
    this.#sweeping = this.#sweepForeign(known).catch((error: unknown) =>
      this.#with.failed('', error),
    )
  }

  async close(): Promise<void> {
    this.#open = false
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    await Promise.all([this.#sweeping, this.#drawers.close(), ...this.#running.values()])
  }

  /** Once more everybody: what they owe each other may have met a full disk. */
  lookAgain(): void {
    for (const facts of this.#with.store.all()) this.#look(facts)
    this.#drawers.lookAgain()
  }

  /** After each commit: a child's own, and what of its parent's concerns it. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    if (!this.#open || isDeletion(events)) return
    const facts = this.#with.store.facts(agent)
    if (facts === null) return
    this.#look(facts, events)
  }

  /** With proof: its run, its commands, what runs in its name. A second stop is the first one. */
  stop(parent: AgentId, id: TaskId, because: string): Promise<StopOutcome> {
    const under = this.#stopping.get(id)
    if (under !== undefined) return under
    const mine = this.#stop(parent, id, because).finally(() => this.#stopping.delete(id))
    this.#stopping.set(id, mine)
    return mine
  }

  async #stop(parent: AgentId, id: TaskId, because: string): Promise<StopOutcome> {
    const { store } = this.#with
    await store.transact(parent, id, (d) => beginStop(d, id, because))
    const task = await store.row(parent, 'tasks', id)
    const child = task?.child_agent_id ?? null
    if (!task || child === null || isTerminal(task)) return stopped
    const survivors = await this.#stopAll(child, id, because)
    if (survivors.length > 0) {
      await store.transact(parent, id, (d) => {
        if (d.row('tasks', id)?.status !== 'cancelling') return
        d.emit({ type: 'task_cancelling', id, survivors, because })
      })
      return { stopped: false, survivors: [...survivors] }
    }
    await this.#finish(parent, child, id, because)
    return stopped
  }

  /** What an agent does next, with its lane as it is. */
  next(agent: AgentId): Next | null {
    return this.#with.next(agent)
  }

  /** An answer to what the child asks, else one more message; with the same key once. */
  async tell(parent: AgentId, id: TaskId, said: ChildText): Promise<InputReceipt | Rejection> {
    const { store } = this.#with
    const task = await store.row(parent, 'tasks', id)
    const child = task?.agent_id === parent ? task.child_agent_id : null
    if (child === null) return no('task_not_found', `${id} supervises no child of ${parent}.`)
    await store.loaded(child)
    const since = plus(store.now(), -limits.dedupe.value)
    return store.together(
      [parent, child],
      said.key,
      async ([p]) => {
        const over = task && p && !p.row('tasks', id) ? task : null
        const earlier = await store.ledger.messageByKey(child, said.key, since)
        return { over, earlier }
      },
      ([p, c], { over, earlier }) => {
        if (!p || !c) throw new Error('a word to a child is decided over two agents')
        if (over && earlier !== null) return toldBefore(earlier)
        return (over && overOrEnding(over)) ?? tellChild(p, c, id, { ...said, earlier })
      },
    )
  }

  /** What it has told so far, oldest first; that it is held only while it is. */
  async words(child: AgentId): Promise<readonly Word[]> {
    const { store } = this.#with
    const briefs = await store.ledger.list('briefs', { agent_id: child, limit: reportsMax })
    const waits = store.facts(child)
    const isHeld = (id: Brief['wait_id']) => waits?.row('waits', id ?? '')?.status === 'active'
    return briefs
      .filter((brief) => !tellsHold(brief) || isHeld(brief.wait_id))
      .map(({ kind, text, created_at }) => ({ kind, text, at: created_at }))
  }

  /** Resolves when the task has its end. */
  async ended(parent: AgentId, id: TaskId, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const look = () => {
      const task = this.#with.store.facts(parent)?.row('tasks', id)
      if (!task || isTerminal(task)) resolve()
    }
    const abort = () => reject(signal.reason as Error)
    const over = this.#with.store.onCommit((agent) => {
      if (agent === parent) look()
    })
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) abort()
      look()
      await promise
    } finally {
      over()
      signal.removeEventListener('abort', abort)
    }
  }

  async #stopAll(child: AgentId, id: TaskId, because: string): Promise<readonly number[]> {
    const { store, abort, stopCommand } = this.#with
    const facts = await store.loaded(child)
    const survivors: number[] = []
    if (facts !== null && facts.row('agents', child)?.state !== 'deleted') {
      await store.transact(child, id, (d) => {
        if (d.row('agents', child)?.state !== 'active') return
        d.emit({ type: 'agent_stopped', id: child, by: 'runtime' })
      })
      await abort(child)
      for (const task of [...(store.facts(child)?.rows('tasks') ?? [])]) {
        if (!isTerminal(task)) survivors.push(...(await stopCommand(child, task.id, because)))
      }
    }
    return [...survivors, ...(await this.#stopForeign(child, id))]
  }

  /** An agent of another maker runs under the task itself. The pids that live. */
  async #stopForeign(child: AgentId, id: TaskId): Promise<readonly number[]> {
    const { store, ports } = this.#with
    const agent = await store.row(child, 'agents', child)
    if (!agent || !isForeignModel(agent.model) || !ports.foreign_agents) return []
    const outcome = await ports.foreign_agents.stop(id, limits.stop_grace.value)
    return outcome.stopped ? [] : outcome.survivors
  }

  /** A kill may have come between the end of a foreign agent's task and that of its process. */
  async #sweepForeign(known: readonly Agent[]): Promise<void> {
    const over = known.filter((agent) => agent.state === 'deleted' && isForeignModel(agent.model))
    for (const { id, supervising_task_id } of over.slice(-sweptChildren)) {
      if (supervising_task_id !== null) await this.#stopForeign(id, supervising_task_id)
    }
  }

  async #finish(parent: AgentId, child: AgentId, id: TaskId, because: string): Promise<void> {
    const worktree = await this.worktree(parent, id)
    const legacy = await this.#legacy(child, worktree)
    const text = legacy.reports.map((report) => report.text).join('\n\n')
    await this.#both(parent, child, id, null, (p, c) => {
      if (openTurn(c) !== null) return
      finishChild(p, c, id, { status: 'cancelled', reason: because, text }, worktree)
    })
    await this.#with.keeper.settle(parent)
  }

  /** A child looks itself up; a parent's children are looked at when it was stopped or started. */
  #look(facts: Facts, events: readonly Emitted[] | null = null): void {
    const agent = facts.row('agents', facts.agent_id)
    if (!agent) return
    if (agent.supervisor_agent_id !== null && agent.state !== 'deleted') this.#soon(agent.id)
    const moved = events === null || events.some(({ event }) => parentMoves.has(event.type))
    if (!moved) return
    for (const task of facts.rows('tasks')) if (isLiveChild(task)) this.#soon(task.child_agent_id)
  }

  #soon(child: AgentId): void {
    if (!this.#open) return
    if (this.#running.has(child)) {
      this.#again.add(child)
      return
    }
    const mine = this.#relay(child)
      .catch((error: unknown) => this.#with.failed(child, error))
      .finally(() => {
        this.#running.delete(child)
        if (this.#again.delete(child)) this.#soon(child)
      })
    this.#running.set(child, mine)
  }

  async #relay(child: AgentId): Promise<void> {
    const { store, keeper } = this.#with
    const facts = await store.loaded(child)
    const agent = facts?.row('agents', child)
    const parent = agent?.supervisor_agent_id ?? null
    if (!facts || !agent || parent === null || agent.state === 'deleted') return
    await store.loaded(parent)
    const id = agent.supervising_task_id
    // Looked at before the commit: git takes its time, and nobody is kept waiting for it.
    const { seq } = facts
    const looks = id === null || mayEnd(facts, store.now())
    const line = looks && id !== null ? await this.worktree(parent, id) : null
    const seen = looks ? { line, seq } : null
    const over = await this.#both(parent, child, id, seen, (p, c, legacy) => {
      // It went on behind the look: once more, so that its end has what it left.
      if (legacy === null && mayEnd(c, store.now())) this.#again.add(child)
      relay(p, c, legacy)
      return c.row('agents', child)?.state === 'deleted'
    })
    this.#arm(child)
    if (!over) return this.#stopOn(parent, child, id)
    if (id !== null) await this.#stopForeign(child, id)
    await keeper.settle(parent)
  }

  /** A stop that left survivors, or came upon a turn: now that nothing is left, it has its end. */
  async #stopOn(parent: AgentId, child: AgentId, id: TaskId | null): Promise<void> {
    const { store } = this.#with
    const task = id === null ? null : store.facts(parent)?.row('tasks', id)
    const c = store.facts(child)
    if (!task || !c || task.status !== 'cancelling' || this.#stopping.has(task.id)) return
    if (openTurn(c) !== null || [...c.rows('tasks')].some((one) => !isTerminal(one))) return
    await this.stop(parent, task.id, task.reason ?? 'stopped')
  }

  #both<T>(
    parent: AgentId,
    child: AgentId,
    cause: TaskId | null,
    seen: Seen | null,
    decide: (p: Draft, c: Draft, legacy: Legacy | null) => T,
  ): Promise<T> {
    const { store } = this.#with
    return store.together(
      [parent, child],
      cause,
      async ([p, c]) => {
        const ends = c !== undefined && mayEnd(c, store.now())
        const fresh = seen !== null && seen.seq === c?.seq
        return {
          legacy: ends && fresh ? await this.#legacy(child, seen.line) : null,
          spent: p && c && startsMeter(p, c) ? await spentOfAgent(store.ledger, child) : null,
        }
      },
      ([p, c], { legacy, spent }) => {
        if (!p || !c) throw new Error('a relay is decided over two agents')
        const delegation = delegationOf(p, c)
        if (delegation !== null) alignBudgets(p, c, delegation, spent)
        return decide(p, c, legacy)
      },
    )
  }

  /** What a parent is told of the worktree of a child; null: it has none. */
  worktree(parent: AgentId, task: TaskId): Promise<string | null> {
    const { ports, store } = this.#with
    return lookAtWorktree({ worktrees: ports.worktrees, store }, parent, task)
  }

  async #legacy(child: AgentId, worktree: string | null): Promise<Legacy> {
    const { ledger } = this.#with.store
    const of = { agent_id: child }
    const [reports, words, failures, [turn]] = await Promise.all([
      ledger.list('briefs', { ...of, kind: ['result'], limit: reportsMax }),
      ledger.list('briefs', { ...of, kind: ['reply', 'progress'], limit: 1 }),
      ledger.list('briefs', { ...of, kind: ['failure'], limit: 1 }),
      ledger.list('turns', { ...of, limit: 1 }),
    ])
    const said = [...words, ...failures].sort((a, b) => (a.created_at > b.created_at ? -1 : 1))
    const last_turn = turn ? { outcome: turn.outcome, reason: turn.reason } : null
    return { reports, said, last_turn, worktree }
  }

  #arm(child: AgentId): void {
    this.#timers.get(child)?.()
    this.#timers.delete(child)
    const { store, ports } = this.#with
    const facts = store.facts(child)
    const at = facts === null ? null : givenUpAt(facts)
    if (at === null || !this.#open) return
    const cancel = ports.clock.after(Math.max(1, between(store.now(), at)), () => this.#soon(child))
    this.#timers.set(child, cancel)
  }
}

const stopped: StopOutcome = { stopped: true, proof: 'scanned' }

/** What of a parent its children follow: its posture, and the budget they draw on. */
const parentMoves: ReadonlySet<string> = new Set([
  'agent_started',
  'agent_stopped',
  'work_item_updated',
  'work_item_completed',
  'meter_opened',
  'meter_reserved',
  'meter_settled',
  'meter_released',
  'meter_drawn',
])

/** The delegation of a child whose task goes on. */
function delegationOf(p: Facts, c: Facts): Delegation | null {
  const child = c.row('agents', c.agent_id)
  const found = child && child.state !== 'deleted' ? supervisionOf(p, child) : null
  return found === null || isTerminal(found.task) ? null : found.delegation
}

function startsMeter(p: Facts, c: Facts): boolean {
  const delegation = delegationOf(p, c)
  return delegation !== null && wantsSpent(p, c, delegation)
}

const isLiveChild = (task: Task): task is Task & { child_agent_id: AgentId } =>
  task.kind === 'child_agent' && task.child_agent_id !== null && !isTerminal(task)

function beginStop(d: Draft, id: TaskId, because: string): void {
  const task = d.row('tasks', id)
  if (!task || isTerminal(task) || task.status === 'cancelling') return
  d.emit({ type: 'task_cancelling', id, survivors: [], because })
}
