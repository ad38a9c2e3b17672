/**
 * A bench for tools: a real folder, real files and processes, and the smallest honest runtime
 * around them: facts that only change by committed events, an intent committed before its effect,
 * and the outcome committed with what the tool settles. A call can be left without its outcome, as
 * a crash leaves it, and recovered.
 */
import type { JudgedAgain } from '../../domain/approvals/held-command.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentFacts } from '../../domain/facts/agent-facts.ts'
import type { ToolResult } from '../../domain/state/call.ts'
import type { Event, Rows, Table } from '../../domain/state/event.ts'
import type { Draft } from '../../domain/facts/facts.ts'
import type { CallId, Mint, TurnId, WorkItemId } from '../../domain/ids.ts'
import { fromMs, type Timestamp } from '../../domain/time.ts'
import { isRejection } from '../../domain/rejection.ts'
import { systemClock, systemIds } from '../../exec/clock.ts'
import { systemFiles } from '../../exec/files/files.ts'
import { agentRoots, homeEntry } from '../../exec/files/path-policy.ts'
import type { Processes, Web } from '../../exec/ports.ts'
import { sha256 } from '../../exec/files/whole-file.ts'
import { createProcesses } from '../../exec/commands/processes.ts'
import { createWeb } from '../../exec/web/web.ts'
import {
  refused,
  type EffectOutcome,
  type EffectTool,
  type ToolContext,
} from '../../tools/tool/tool.ts'
import { World } from './agent-world.ts'
import { agentCreated, callRecorded, itemCreated, turnStarted } from '../events.ts'

export type BenchOptions = {
  processes?: (real: Processes) => Processes
  environment?: Record<string, string>
  web?: Web
}

/** Signals of a run; without them nothing interrupts it. */
export type Interruptions = { abort?: AbortSignal; interject?: AbortSignal; close?: AbortSignal }

/** A call whose intent is committed and whose outcome is not. */
export type Begun<N> = { call: CallId; intent: N }

/** A finished call; `settled` are the types of the events that came with its outcome. */
export type Finished = Omit<EffectOutcome, 'settle'> & { settled: string[] }

const agent_id = 'main'
const ids = systemIds()
const mint = ((prefix: string) => ids.mint(prefix)) as Mint

export class ToolBench {
  /** Real, because what a tool opened is named by its real path. */
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'holon-tools-')))
  readonly home = join(this.#root, 'state')
  readonly workspace = join(this.#root, 'workspace')
  readonly clock = systemClock()
  readonly files = systemFiles()
  readonly processes: Processes
  readonly #real: Processes
  readonly #web: Web
  readonly #environment: Record<string, string>
  readonly #world = new World(agent_id, false)
  readonly #turn: TurnId = mint('turn')
  #calls = 0
  #ahead_ms = 0

  constructor(options: BenchOptions = {}) {
    const folders = ['tasks', 'outputs', `agents/${agent_id}`].map((name) => join(this.home, name))
    for (const folder of [this.workspace, ...folders]) mkdirSync(folder, { recursive: true })
    const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.#root, LANG: 'C.UTF-8' }
    const tasks_folder = join(this.home, 'tasks')
    this.#real = createProcesses({ tasks_folder, clock: this.clock, parent_env })
    this.processes = options.processes?.(this.#real) ?? this.#real
    this.#web = options.web ?? createWeb({ clock: this.clock })
    this.#environment = options.environment ?? {}
    this.#openTurn()
  }

  #openTurn(): void {
    this.emit(
      agentCreated(agent_id, { workspace: { mode: 'inherit', root: this.workspace } }),
      turnStarted({ id: this.#turn, model: 'scripted/one', input_cut: 1 }),
    )
  }

  async close(): Promise<void> {
    await this.#real.close()
    rmSync(this.#root, { recursive: true, force: true })
  }

  now(): Timestamp {
    return fromMs(this.clock.now() + this.#ahead_ms)
  }

  /** Moves the wall clock ahead, as time that passed while nothing ran. */
  passTime(ms: number): void {
    this.#ahead_ms += ms
  }

  get facts(): AgentFacts {
    return this.#world.facts
  }

  get events(): Event[] {
    return this.#world.events.map(({ event }) => event)
  }

  /** Everything `decide` emitted becomes true at once, or nothing when it throws or refuses. */
  commit<T>(decide: (d: Draft) => T): T {
    this.#world.now = this.now()
    return this.#world.try(decide)
  }

  emit(...events: Event[]): void {
    this.commit((d) => events.forEach((event) => d.emit(event)))
  }

  row<T extends Table>(table: T, id: string): Rows[T] {
    return this.#world.row(table, id)
  }

  /** An open work item that the turn is about. */
  bindItem(): WorkItemId {
    const id = mint('work')
    const path = join(this.home, 'agents', agent_id, 'work-items', id, 'plan.md')
    this.emit(itemCreated({ id, plan: { path, sha256: null, bytes: 0, good_sha256: null } }), {
      type: 'turn_bound',
      id: this.#turn,
      work_item_id: id,
    })
    return id
  }

  /** A whole call, as the runtime makes it. */
  async call<I, N>(
    tool: EffectTool<I, N>,
    input: I,
    signals: Interruptions = {},
  ): Promise<Finished> {
    const begun = await this.begin(tool, input)
    if ('call' in begun) return this.run(tool, input, begun, signals)
    return { result: begun.refused, result_hash: null, changed_something: false, settled: [] }
  }

  /** Commits the intent of a call and stops there: what a crash before or in the effect leaves. */
  async begin<I, N>(tool: EffectTool<I, N>, input: I): Promise<Begun<N> | { refused: ToolResult }> {
    const call = this.#record(tool, input)
    const wanted = await tool.intent(input, this.#contextOf(call))
    if (!wanted.ok) return { refused: wanted.result }
    const { intent, task_id, queue } = wanted
    const no = this.commit((d) => {
      const rejection = queue?.(d)
      if (isRejection(rejection)) return rejection
      d.emit({ type: 'call_started', id: call, intent, task_id, work_item_id: null })
      return null
    })
    // What an intent keeps must survive being written down.
    const kept: N = JSON.parse(JSON.stringify(intent))
    return no === null ? { call, intent: kept } : { refused: refused(tool.name, no) }
  }

  async run<I, N>(
    tool: EffectTool<I, N>,
    input: I,
    begun: Begun<N>,
    signals: Interruptions = {},
  ): Promise<Finished> {
    const ctx = this.#contextOf(begun.call, signals)
    return this.#finish(begun.call, await tool.run(input, begun.intent, ctx))
  }

  async recover<I, N>(
    tool: EffectTool<I, N>,
    input: I,
    begun: Begun<N>,
    signals: Interruptions = {},
  ): Promise<Finished> {
    const ctx = this.#contextOf(begun.call, signals)
    return this.#finish(begun.call, await tool.recover(input, begun.intent, ctx))
  }

  /** A context for a function below the tools. */
  context(): ToolContext {
    return this.#contextOf(this.#record({ name: 'None', effect_class: 'pure' }, {}))
  }

  #record(tool: Pick<EffectTool, 'name' | 'effect_class'>, input: unknown): CallId {
    const { work_item_id } = this.row('turns', this.#turn)
    const { name: tool_name, effect_class } = tool
    const given = { work_item_id, tool_name, input, effect_class }
    const recorded = callRecorded(this.#turn, 1, this.#calls++, given)
    this.emit(recorded)
    return recorded.id
  }

  /** What the policy says of every command. */
  verdict: JudgedAgain | null = null

  #finish(call: CallId, outcome: EffectOutcome): Finished {
    const from = this.events.length
    const { settle, ...finished } = outcome
    this.commit((d) => {
      d.emit({ type: 'call_finished', id: call, ...finished })
      settle?.(d)
    })
    return { ...finished, settled: this.events.slice(from + 1).map(({ type }) => type) }
  }

  /** As the runtime does it: a path in `tasks/` or `outputs/` is open to the agent that owns it. */
  #rootsFor(path: string) {
    const { home, workspace } = this
    const entry = homeEntry(home, path)
    const owned = entry !== null && this.#world.find(entry.table, entry.id) !== null ? [path] : []
    return agentRoots({ home, agent_id, workspace, user_home: this.#root, owned })
  }

  #contextOf(call: CallId, signals: Interruptions = {}): ToolContext {
    const never = new AbortController().signal
    return {
      agent_id,
      turn: this.row('turns', this.#turn),
      call: this.row('calls', call),
      facts: () => this.facts,
      load: async (table, id) => this.#world.find(table, id),
      list: async (table, { limit }) => this.#world.all(table).slice(-limit),
      commit: async (decide) => this.commit(decide),
      now: () => this.now(),
      monotonic: () => this.clock.monotonic(),
      sleep: (ms, signal) => this.clock.sleep(ms, signal),
      mint,
      signal: signals.abort ?? never,
      interjected: signals.interject ?? never,
      closing: signals.close ?? never,
      files: this.files,
      processes: this.processes,
      judged: async () => this.verdict,
      web: this.#web,
      checks: noChecks,
      children: noChildren,
      memory: noMemory,
      open: (path, mode) => this.files.open_within(this.#rootsFor(path), path, mode),
      workdir: this.workspace,
      agent_home: join(this.home, 'agents', agent_id),
      environment: this.#environment,
      trees: null,
      confine: async () => ({ agent_id, roots: this.#rootsFor(this.workspace), repository: null }),
      readPlan: () => Promise.reject(new Error('no plan on this bench')),
      makePlan: () => Promise.reject(new Error('no plan on this bench')),
      taskFolder: (id) => join(this.home, 'tasks', id),
      keepOutput: async (text) => {
        const path = join(this.home, 'outputs', `${call}.txt`)
        await this.files.write_atomic(path, text)
        return path
      },
      keepBlob: (bytes) => sha256(bytes),
      holdsSecret: (bytes) => Buffer.from(bytes).includes('a-known-secret'),
    }
  }
}

const noPlane = () => Promise.reject(new Error('no other agents and no memory on this bench'))
const noMemory: ToolContext['memory'] = { search: noPlane, get: noPlane }
const noChecks: ToolContext['checks'] = {
  tree: async () => ({ hash: null, problem: 'nobody looked' }),
  ended: () => Promise.reject(new Error('no check is run here')),
}

const noChildren: ToolContext['children'] = {
  prepare: noPlane,
  queue: () => undefined,
  spawn: noPlane,
  tell: noPlane,
  stop: noPlane,
  ended: noPlane,
  see: noPlane,
  words: noPlane,
  worktree: noPlane,
}
