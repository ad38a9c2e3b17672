/**
 * A bench for tools: a real folder, real files and processes, and the smallest honest runtime around
 * them: facts that only change by committed events, an intent committed before its effect, and the
 * outcome committed with what the tool settles. A call can be left without its outcome, as a crash
 * leaves it, and recovered.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ToolResult } from '../domain/call.ts'
import type { Event, Rows, Table } from '../domain/event.ts'
import { AgentFacts, Draft } from '../domain/facts.ts'
import type { CallId, Mint, TurnId, WorkItemId } from '../domain/ids.ts'
import { fromMs } from '../domain/time.ts'
import { isRejection } from '../domain/verdict.ts'
import { systemClock, systemIds } from '../exec/clock.ts'
import { systemFiles } from '../exec/files.ts'
import { agentRoots } from '../exec/path-policy.ts'
import type { Files, Processes } from '../exec/ports.ts'
import { createProcesses } from '../exec/processes.ts'
import { refused, type EffectOutcome, type EffectTool, type ToolContext } from '../tools/tool.ts'

export type BenchOptions = {
  processes?: (real: Processes) => Processes
  files?: (real: Files) => Files
  environment?: Record<string, string>
}

export type Interruptions = { abort?: AbortSignal; interject?: AbortSignal }

/** A call whose intent is committed and whose outcome is not. */
export type Begun<N> = { call: CallId; intent: N }

export type ToolBench = ReturnType<typeof toolBench>

const agent_id = 'main'

export function toolBench(options: BenchOptions = {}) {
  // Real, because what a tool opened is named by its real path.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'holon-tools-')))
  const home = join(root, 'home')
  const workspace = join(root, 'workspace')
  const folders = ['tasks', 'outputs', `agents/${agent_id}`].map((name) => join(home, name))
  for (const folder of [workspace, ...folders]) mkdirSync(folder, { recursive: true })

  const clock = systemClock()
  const ids = systemIds()
  const mint = ((prefix: string) => ids.mint(prefix)) as Mint
  const parent_env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: root, LANG: 'C.UTF-8' }
  const real = createProcesses({ tasks_folder: join(home, 'tasks'), clock, parent_env })
  const processes = options.processes?.(real) ?? real
  const files = options.files?.(systemFiles()) ?? systemFiles()

  const facts = new AgentFacts(agent_id)
  const stored = new Map<string, Rows[Table]>()
  const events: Event[] = []
  let calls = 0
  let ahead_ms = 0
  const now = () => fromMs(clock.now() + ahead_ms)

  /** Everything `decide` emitted becomes true at once, or nothing when it throws. */
  function commit<T>(decide: (d: Draft) => T): T {
    const d = new Draft(facts, { now: now(), mint })
    const value = decide(d)
    for (const [table, row] of d.changed()) stored.set(`${table} ${row.id}`, row)
    facts.apply(d.changed(), d.seq, d.last_at)
    events.push(...d.emitted.map(({ event }) => event))
    return value
  }

  const emit = (...list: Event[]) => commit((d) => list.forEach((event) => d.emit(event)))

  const turn_id: TurnId = mint('turn')
  emit(
    {
      type: 'agent_created',
      id: agent_id,
      model: null,
      workspace: { mode: 'inherit', root: workspace },
      preset: 'public_named',
    },
    {
      type: 'turn_started',
      id: turn_id,
      work_item_id: null,
      cause: { kind: 'queued_available', work_item_ids: [] },
      because: 'a test',
      model: 'scripted/one',
      input_cut: 1,
      self_started: false,
    },
  )

  const row = <T extends Table>(table: T, id: string): Rows[T] => {
    const found = stored.get(`${table} ${id}`)
    if (!found) throw new Error(`no row ${id} in ${table}`)
    return found as Rows[T]
  }

  function context(call: CallId, signals: Interruptions = {}): ToolContext {
    const never = new AbortController().signal
    return {
      turn: row('turns', turn_id),
      call: row('calls', call),
      facts: () => facts,
      load: async (table, id) => (stored.get(`${table} ${id}`) as never) ?? null,
      list: async (table, { limit }) =>
        [...stored]
          .filter(([key]) => key.startsWith(`${table} `))
          .map(([, found]) => found as never)
          .slice(-limit),
      commit: async (decide) => commit(decide),
      now,
      monotonic: () => clock.monotonic(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      mint,
      signal: signals.abort ?? never,
      interjected: signals.interject ?? never,
      files,
      processes,
      roots: agentRoots({
        home,
        agent_id,
        workspace,
        user_home: root,
        owned: [join(home, 'tasks'), join(home, 'outputs')],
      }),
      workdir: workspace,
      environment: options.environment ?? {},
      readPlan: () => Promise.reject(new Error('no plan on this bench')),
      makePlan: () => Promise.reject(new Error('no plan on this bench')),
      taskFolder: (id) => join(home, 'tasks', id),
      keepOutput: async (text) => {
        const path = join(home, 'outputs', `${call}.txt`)
        await files.write_atomic(path, text)
        return path
      },
    }
  }

  function record(
    tool: { name: string; effect_class: EffectTool['effect_class'] },
    input: unknown,
  ) {
    const id: CallId = mint('call')
    emit({
      type: 'call_recorded',
      id,
      turn_id,
      work_item_id: row('turns', turn_id).work_item_id,
      round: 1,
      index: calls++,
      provider_call_id: `toolu_${calls}`,
      tool_name: tool.name,
      input,
      effect_class: tool.effect_class,
    })
    return id
  }

  /** Commits the intent of a call and stops there: what a crash before or in the effect leaves. */
  async function begin<I, N>(
    tool: EffectTool<I, N>,
    input: I,
  ): Promise<Begun<N> | { refused: ToolResult }> {
    const call = record(tool, input)
    const wanted = await tool.intent(input, context(call))
    if (!wanted.ok) return { refused: wanted.result }
    const { intent, task_id, queue } = wanted
    const no = commit((d) => {
      const rejection = queue?.(d)
      if (isRejection(rejection)) return rejection
      d.emit({ type: 'call_started', id: call, intent, task_id, work_item_id: null })
      return null
    })
    // What an intent keeps must survive being written down.
    const kept: N = JSON.parse(JSON.stringify(intent))
    return no === null ? { call, intent: kept } : { refused: refused(tool.name, no) }
  }

  /** Commits the outcome of a call, and returns its result and the outcome's events. */
  function finish(call: CallId, outcome: EffectOutcome) {
    const from = events.length
    commit((d) => {
      const { result, result_hash, changed_something } = outcome
      d.emit({ type: 'call_finished', id: call, result, result_hash, changed_something })
      outcome.settle?.(d)
    })
    const settled = events.slice(from + 1).map(({ type }) => type)
    const { result, result_hash, changed_something } = outcome
    return { result, result_hash, changed_something, settled }
  }

  async function run<I, N>(
    tool: EffectTool<I, N>,
    input: I,
    begun: Begun<N>,
    signals: Interruptions = {},
  ) {
    return finish(begun.call, await tool.run(input, begun.intent, context(begun.call, signals)))
  }

  async function recover<I, N>(
    tool: EffectTool<I, N>,
    input: I,
    begun: Begun<N>,
    signals: Interruptions = {},
  ) {
    return finish(begun.call, await tool.recover(input, begun.intent, context(begun.call, signals)))
  }

  /** A whole call, as the runtime makes it. */
  async function call<I, N>(tool: EffectTool<I, N>, input: I, signals: Interruptions = {}) {
    const begun = await begin(tool, input)
    if ('refused' in begun) {
      return { result: begun.refused, result_hash: null, changed_something: false, settled: [] }
    }
    return run(tool, input, begun, signals)
  }

  /** An open work item that the turn is about. */
  function bindItem(): WorkItemId {
    const id = mint('work')
    const path = join(home, 'agents', agent_id, 'work-items', id, 'plan.md')
    emit(
      {
        type: 'work_item_created',
        id,
        by: 'agent',
        objective: 'Try the tools',
        plan_status: 'draft',
        todo_list: [],
        plan: { path, sha256: null, bytes: 0, good_sha256: null },
        budget: null,
      },
      { type: 'turn_bound', id: turn_id, work_item_id: id },
    )
    return id
  }

  return {
    home,
    workspace,
    clock,
    files,
    processes,
    facts,
    events,
    row,
    emit,
    commit,
    /** A context for a function below the tools. */
    context: () => context(record({ name: 'none', effect_class: 'pure' }, {})),
    begin,
    run,
    recover,
    call,
    bindItem,
    /** Moves the wall clock ahead of the machine's, as time that passed while nothing ran. */
    passTime: (ms: number) => {
      ahead_ms += ms
    },
    async close() {
      await real.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
