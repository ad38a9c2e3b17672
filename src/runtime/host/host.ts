/**
 * The host: every agent of a home, its lane, its tasks, its schedules, and what comes in for it.
 * Opening is recovery: the same code whether the last process ended well or was killed. While
 * nothing can be written it waits, where it is told to (docs/spec/recovery.md#disk-full).
 */
import { configureAgent, createAgent, isKept, stopAgent } from '../../domain/agents/lifecycle.ts'
import { openTurn, type Emitted, type Facts } from '../../domain/facts/facts.ts'
import { isAgentId, type AgentId, type TaskId } from '../../domain/ids.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import { isTerminal, type HeldTask } from '../../domain/state/task.ts'
import { abortableRun, notAborted } from '../../domain/agents/tasks.ts'
import { done } from '../../domain/state/reply.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import type { Agent } from '../../domain/state/agent.ts'
import type { Rows } from '../../domain/state/event.ts'
import { timetable } from '../../exec/cron.ts'
import { describePlan } from '../../exec/files/plan-file.ts'
import type { OperatorReply } from '../../protocol/acts/operator.ts'
import { AgentPorts } from '../agent-ports.ts'
import { CheckRunner } from '../tasks/check-runner.ts'
import { carryOut, refused } from '../operator/act.ts'
import { DegradedMode, unwritable } from './degraded.ts'
import { agentHome } from '../home.ts'
import { Lane } from '../turn/lane.ts'
import { LiveSigns } from './live-signs.ts'
import { LiveTexts } from './live-texts.ts'
import type { AgentSettings, Shortage } from '../../ports/host.ts'
import type { Host, HostNotice, HostPorts, OutputPiece, TaskRange, TaskText } from '../ports.ts'
import { OwnTriggers } from '../timers/own-triggers.ts'
import { redactedNotices } from '../redact-notices.ts'
import { isShortage } from '../shortage.ts'
import { SlotTimer } from '../timers/slot-timer.ts'
import { Spending } from '../spending.ts'
import { isDeletion, Store } from '../store.ts'
import { ChildSupervisor } from '../children/child-supervisor.ts'
import { Supervisor, type SupervisorPorts } from '../tasks/task-supervisor.ts'
import { WorktreeKeeper } from '../children/worktree-keeper.ts'
import { TreeChangeRecorder } from '../tasks/tree-changes.ts'
import { TaskFollower } from '../tasks/output-follower.ts'
import { taskText } from '../tasks/task-text.ts'
import { TriggerUrls } from '../trigger-urls.ts'

export function createHost(ports: HostPorts): Host {
  return new HomeHost(ports)
}

/** What follows commits beside the lanes. It may begin something, and throws nothing. */
type Part = { committed(agent: AgentId, events: readonly Emitted[]): void }

class HomeHost implements Host {
  readonly #ports: HostPorts
  readonly #store: Store
  readonly #supervisor: Supervisor
  readonly #children: ChildSupervisor
  readonly #spending: Spending
  readonly #keeper: WorktreeKeeper
  readonly #urls: TriggerUrls
  readonly #triggers: OwnTriggers
  readonly #checks: CheckRunner
  readonly #trees: TreeChangeRecorder
  readonly #slots: SlotTimer
  readonly #degraded: DegradedMode
  readonly #signs: LiveSigns
  readonly #texts = new LiveTexts()
  readonly #follower: TaskFollower
  /** Told of each commit, in this order. */
  readonly #parts: Part[]
  readonly #lanes = new Map<AgentId, Lane>()
  readonly #listeners = new Set<(notice: HostNotice) => void>()
  #state: 'made' | 'opening' | 'ready' | 'closed' = 'made'
  /** A bug or a dead store: nothing runs after it, and `close` throws it. */
  #broken: Error | null = null

  constructor(ports: HostPorts) {
    this.#ports = ports
    const failed = (agent: AgentId, error: unknown) => this.#fail(agent, error)
    const { home, ledger, clock, ids, files, processes, redactor } = ports
    const store = (this.#store = new Store(ledger, clock, ids, redactor))
    const readable = () => this.#triggers.giveAll()
    const urls = (this.#urls = new TriggerUrls({ home, files, ids, clock, readable }))
    this.#triggers = new OwnTriggers({ store, urls, runs: () => this.#runs(), failed })
    const env = (agent: AgentId) => this.#lane(agent).env
    this.#keeper = new WorktreeKeeper({ ports, store, failed })
    this.#children = new ChildSupervisor({
      ports,
      store,
      keeper: this.#keeper,
      abort: (agent) => this.#lane(agent).abort(false, null),
      stopCommand: (agent, task, because) => this.#supervisor.stop(agent, task, because),
      next: (agent) => this.next(agent),
      failed,
    })
    const stopChild: SupervisorPorts['stopChild'] = (...of) => this.#children.stop(...of)
    this.#supervisor = new Supervisor({ ports, store, agent: env, stopChild, failed })
    const roots = (agent: AgentId) => env(agent).roots()
    this.#trees = new TreeChangeRecorder({ trees: ports.trees, store, roots, failed })
    const waits = () => this.#degraded.now !== null
    this.#checks = new CheckRunner({ ports, store, roots, waits, failed })
    const wake = (agent: AgentId) => this.#lane(agent).wake()
    this.#spending = new Spending({ store, budget: ports.budget ?? null, wake })
    this.#slots = new SlotTimer({ clock, store, timetable, failed })
    this.#degraded = new DegradedMode({ home, clock, files, changed: (now) => this.#turned(now) })
    this.#follower = new TaskFollower({ clock, processes, redactor })
    this.#signs = new LiveSigns({
      now: () => store.now(),
      output_at: (task) => processes.output_at(task),
    })
    this.#parts = [this.#supervisor, this.#triggers, this.#slots, this.#keeper]
    this.#parts.push(this.#children, this.#checks, this.#trees)
    store.onCommit((agent, events) => this.#committed(agent, events))
  }

  /**
   * Each agent is taken over as soon as it is read: the first need not wait for the last, and the
   * first are those that have something to go on with.
   */
  async open(): Promise<void> {
    this.#state = 'opening'
    await this.#urls.load()
    const { ledger } = this.#store
    const known = await ledger.agents()
    const alive = known.flatMap(({ id, state }) => (state === 'deleted' ? [] : id))
    const first = new Set(alive).intersection(new Set(await ledger.agentsAtWork()))
    for (const id of first.union(new Set(alive))) {
      await this.#adopt(id)
      // Reads of the ledger let nobody else in: the turns that begin want their turn too.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (this.#state !== 'opening') return
    if (this.#degraded.now === null) this.#slots.start()
    this.#state = 'ready'
    this.#children.start(known)
    this.#keeper.settleAll()
    await this.#trees.open()
  }

  async ensureAgent(settings: AgentSettings): Promise<{ ok: true; agent: Agent } | Rejection> {
    const { id, ...given } = settings
    if (!isAgentId(id)) return no('agent_id_invalid', `"${id}" cannot name an agent.`)
    await this.#urls.load()
    const home = agentHome(this.#ports.home, id)
    await this.#ports.files.make_folder(home, 0o700)
    const { hash } = this.#urls
    const made = await this.#store.transact(id, 'operator', (d) => {
      const agent = d.row('agents', id)
      if (!agent) return createAgent(d, given, home, hash)
      if (Object.keys(given).length > 0 || agent.state === 'deleted')
        return configureAgent(d, given)
      return { ok: true, agent } as const
    })
    if (isRejection(made)) return made
    await this.#store.loaded(id)
    return { ok: true, agent: made.agent }
  }

  act(command: OperatorAct): Promise<OperatorReply> {
    return this.#accepting(() => this.#route(command))
  }

  facts(agent: AgentId): Facts | null {
    return this.#store.facts(agent)
  }

  next(agent: AgentId) {
    return this.#store.facts(agent) === null ? null : this.#lane(agent).next()
  }

  subscribe(listener: (notice: HostNotice) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  listens(base_url: string | null): void {
    this.#urls.base_url = base_url
  }

  triggerUrl(trigger: Rows['triggers']): string | null {
    return this.#urls.urlOf(trigger)
  }

  triggerProblem(): string | null {
    return this.#urls.problem
  }

  liveSigns(agent: AgentId) {
    const facts = this.#store.facts(agent)
    return facts === null ? [] : this.#signs.of(facts)
  }

  liveTexts(agent: AgentId | null) {
    return this.#texts.of(agent)
  }

  plan({ plan_artifact: { path, good_sha256 } }: Rows['work_items']): Promise<PlanDescriptor> {
    const { files, ledger } = this.#ports
    if (good_sha256 === null) return describePlan(files, path)
    const file = () => ledger.blobFile(good_sha256)
    return describePlan(files, path, { sha256: good_sha256, file })
  }

  async taskOutput(task_id: TaskId, range: TaskRange): Promise<TaskText | null> {
    const { processes, redactor } = this.#ports
    const read = await taskText(processes, task_id, range)
    return read && redactor ? { ...read, text: redactor.text(read.text) } : read
  }

  followOutput(listener: (piece: OutputPiece) => void): () => void {
    return this.#follower.follow(listener)
  }

  ready(): boolean {
    return this.#state === 'ready'
  }

  degraded(): Shortage | null {
    return this.#degraded.now
  }

  async close(how: 'safe_point' | 'now'): Promise<void> {
    this.#state = 'closed'
    this.#degraded.close()
    this.#follower.close()
    const lanes = [...this.#lanes.values()]
    for (const lane of lanes) lane.close(how)
    this.#urls.close()
    await Promise.all([this.#slots.stop(), ...lanes.map((lane) => lane.settled())])
    await this.#triggers.settled()
    const parts = [this.#checks, this.#children, this.#keeper, this.#supervisor, this.#trees]
    for (const part of parts) await part.close()
    if (this.#broken !== null) throw this.#broken
  }

  /** An abort and a deletion begin at what runs; every other act is the rows' alone. */
  async #route(command: OperatorAct): Promise<OperatorReply> {
    await this.#urls.load()
    const { agent_id } = command
    const facts = await this.#store.loaded(agent_id)
    if (facts === null) {
      if (command.do !== 'create_agent') {
        return refused(no('agent_not_found', `There is no agent "${agent_id}".`))
      }
    } else if (command.do === 'abort') return this.#abort(command, facts)
    else if (command.do === 'delete_agent') await this.#wind(facts)
    const roots = (agent: AgentId) => this.#lane(agent).env.roots()
    const own = {
      store: this.#store,
      supervisor: this.#supervisor,
      children: this.#children,
      roots,
      judged: (task: HeldTask) => this.#lane(task.agent_id).env.judgedAgain(task),
    }
    return carryOut({ ...this.#ports, ...own, token_hash: this.#urls.hash }, command)
  }

  /** The id of the open turn is the guard: a run that is over is not aborted again. */
  async #abort(command: OperatorAct & { do: 'abort' }, facts: Facts): Promise<OperatorReply> {
    const { agent_id, run_id, stop = true } = command
    const run = abortableRun(facts, run_id)
    if (isRejection(run)) return refused(run)
    const isAborted = await this.#lane(agent_id).abort(stop, run.turn.id)
    if (!isAborted) return refused(notAborted(this.#store.facts(agent_id), run_id))
    return done(`${run_id} is aborted${stop ? `, and ${agent_id} is stopped` : ''}.`)
  }

  /** What still runs of an agent that is to be deleted ends first. */
  async #wind(facts: Facts): Promise<void> {
    const agent = facts.agent_id
    const row = facts.row('agents', agent)
    if (row === undefined || row.state === 'deleted' || isKept(row)) return
    await this.#store.transact(agent, 'operator', stopAgent)
    // Whoever else deletes it may have been faster: then nothing of it is in memory any more.
    const stopped = this.#store.facts(agent)
    if (stopped && openTurn(stopped)) await this.#lane(agent).abort(true, null)
    for (const task of [...(this.#store.facts(agent)?.rows('tasks') ?? [])]) {
      if (!isTerminal(task)) await this.#supervisor.stop(agent, task.id, 'its agent is deleted')
    }
  }

  /** Runs what writes, unless nothing can be written; a shortage it meets is its refusal. */
  async #accepting(body: () => Promise<OperatorReply>): Promise<OperatorReply> {
    const before = this.#degraded.now
    if (before !== null) return unwritable(before)
    try {
      return await body()
    } catch (error) {
      if (!this.#waitsFor(error)) throw error
      this.#degraded.enter(error)
      return unwritable(this.#degraded.now ?? error)
    }
  }

  #waitsFor(error: unknown): error is Parameters<DegradedMode['enter']>[0] {
    return this.#ports.waits_for_room === true && isShortage(error)
  }

  /** Takes an agent over: its own trigger, its tasks, its schedules, its lane. */
  async #adopt(agent: AgentId): Promise<void> {
    const facts = await this.#store.loaded(agent)
    if (facts === null || !this.#runs()) return
    await this.#triggers.give(agent)
    if (this.#store.facts(agent) === null) return // its parent, adopted before it, ended it
    this.#slots.follow(facts)
    this.#follower.adopt(facts)
    this.#supervisor.watchAll(agent)
    this.#checks.look(agent)
    this.#lane(agent).wake()
  }

  /** Whether laps may run: it was opened, and is not being closed. */
  #runs(): boolean {
    return this.#state === 'opening' || this.#state === 'ready'
  }

  #lane(agent: AgentId): Lane {
    const known = this.#lanes.get(agent)
    if (known) return known
    const tell = redactedNotices(this.#ports.redactor, (notice) => this.#tell(notice))
    const env = new AgentPorts(agent, this.#ports, this.#store, tell, this.#urls)
    const parts = { children: this.#children, spending: this.#spending, checks: this.#checks }
    const lane = new Lane(env, parts, (error) => this.#fail(agent, error))
    if (this.#degraded.now !== null) lane.suspend()
    this.#lanes.set(agent, lane)
    return lane
  }

  #tell(notice: HostNotice): void {
    this.#signs.notice(notice)
    this.#texts.notice(notice)
    this.#follower.notice(notice)
    for (const listener of this.#listeners) listener(notice)
  }

  /** Follows a commit: the turn that runs, the other parts, and a wake. */
  #committed(agent: AgentId, events: readonly Emitted[]): void {
    this.#tell({ kind: 'committed', agent_id: agent, events })
    if (!this.#runs()) return
    const lane = this.#lane(agent)
    lane.committed(events)
    for (const part of this.#parts) part.committed(agent, events)
    if (isDeletion(events)) this.#retire(agent, lane)
    else lane.wake()
  }

  /** A deleted agent keeps its rows and nothing else. */
  #retire(agent: AgentId, lane: Lane): void {
    lane.close('next_step')
    void lane.settled().then(() => {
      this.#lanes.delete(agent)
      this.#store.forget(agent)
    })
  }

  /** Into degraded mode, or out of it: whatever waited looks at its rows again. */
  #turned(now: Shortage | null): void {
    if (now !== null) {
      for (const lane of this.#lanes.values()) lane.suspend()
      this.#slots.pause()
      this.#tell({ kind: 'degraded_entered', code: now.code, message: now.message })
      return
    }
    for (const lane of this.#lanes.values()) lane.resume()
    this.#tell({ kind: 'degraded_left' })
    if (!this.#runs()) return
    for (const facts of this.#store.all()) void this.#adopt(facts.agent_id)
    if (this.#state !== 'ready') return
    this.#slots.start()
    this.#children.lookAgain()
    this.#keeper.settleAll()
  }

  #fail(agent: AgentId, error: unknown): void {
    if (this.#waitsFor(error)) return this.#degraded.enter(error)
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#broken ??= failure
    for (const lane of this.#lanes.values()) lane.close('next_step')
    this.#slots.pause()
    this.#tell({ kind: 'fault', agent_id: agent, message: failure.message })
  }
}
