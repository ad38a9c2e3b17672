/** What a tool gets of the runtime: the ToolContext of one call. */
import type { Call } from '../../domain/state/call.ts'
import { originOf } from '../../domain/turns/shown.ts'
import { mustTurn } from '../../domain/facts/facts.ts'
import type { Rows, Table } from '../../domain/state/event.ts'
import type { TaskId } from '../../domain/ids.ts'
import { treeDiffs } from '../../tools/files/tree-diffs.ts'
import type { CommandTrees, ToolContext } from '../../tools/tool/tool.ts'
import { taskPath } from '../home.ts'
import type { NewBlob } from '../../ledger/port.ts'
import { confineOf } from '../tasks/confine.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { TurnRun } from './turn-run.ts'
import { handoffProvenance } from '../../domain/agents/spawn.ts'
import type { Children } from '../../tools/tool/children-port.ts'
import { seeAgent } from '../children/agent-seen.ts'
import { makePlan, plansOf, readPlan, unlessLinked } from '../gather/plans.ts'
import { carryOutSpawn, prepareSpawn, queueSpawn } from '../children/spawning.ts'

/**
 * `blobs` gets what was read or made and is named by what the tool decides, for the commit of that;
 * without it nothing the tool reads is stored. `kept` gets what the outcome of the call names.
 */
export function toolContext(
  run: TurnRun,
  call: Call,
  blobs: NewBlob[] | null = null,
  kept: NewBlob[] = [],
): ToolContext {
  const { env } = run
  const { checks } = run.parts
  const { ports, store } = env
  const turn = mustTurn(env.facts())
  const plans = plansOf(env, blobs)
  return {
    agent_id: env.agent_id,
    turn,
    call,
    facts: () => env.facts(),
    load: async <T extends Table>(table: T, id: string): Promise<Rows[T] | null> => {
      const row = await env.load(table, id)
      return row !== null && 'agent_id' in row && row.agent_id !== env.agent_id ? null : row
    },
    list: (table, filter) => store.ledger.list(table, { ...filter, agent_id: env.agent_id }),
    commit: (decide) => env.transact(call.id, decide),
    now: () => store.now(),
    monotonic: () => ports.clock.monotonic(),
    sleep: (ms, signal) => ports.clock.sleep(ms, signal),
    mint: store.mint,
    signal: run.signal,
    interjected: run.interjected,
    closing: run.closing,
    files: ports.files,
    processes: ports.processes,
    judged: (input) => {
      const { tool_name, effect_class } = call
      const about = { item: turn.work_item_id, origin: originOf(env.facts(), turn) }
      return env.judged({ tool_name, class: effect_class, input, ...about })
    },
    web: ports.web,
    checks: {
      tree: () => checks.tree(env.agent_id),
      ended: (item, signal) => checks.ended(env.agent_id, item, signal),
    },
    children: childrenOf(run, blobs),
    memory: {
      search: (asked) => {
        const { turn_id, round } = call
        return ports.memory.search(env.agent_id, { ...asked, asking: { turn_id, round } })
      },
      get: (source_ref) => ports.memory.get(env.agent_id, source_ref, call.id),
    },
    open: (path, mode) => env.open(path, mode),
    workdir: env.workdir(),
    agent_home: env.home(),
    environment: env.environment(),
    trees: treesOf(env, kept),
    confine: () => confineOf(env),
    readPlan: (item) => readPlan(plans, item),
    async makePlan(id, text) {
      const made = await unlessLinked(makePlan(plans, env.agent_id, id, text))
      return 'ok' in made ? made : { ok: true, ...made }
    },
    taskFolder: (id: TaskId) => taskPath(ports.home, id),
    keepOutput: (text) => env.keepOutput(call.id, text),
    keepBlob: (bytes) => store.keep(kept, bytes),
    holdsSecret: (bytes) => store.holdsSecret(bytes),
  }
}

function treesOf(env: AgentPorts, kept: NewBlob[]): CommandTrees | null {
  const { trees } = env.ports
  if (trees === undefined) return null
  return {
    before: (id, workdir) => trees.before(id, workdir, env.roots()),
    async changes(id) {
      const seen = await trees.changes(id, env.roots())
      const keepBlob = (bytes: Uint8Array) => env.store.keep(kept, bytes)
      const holdsSecret = (bytes: Uint8Array) => env.store.holdsSecret(bytes)
      return seen && treeDiffs({ keepBlob, holdsSecret, workdir: env.workdir() }, seen)
    },
  }
}

/** The agent plane, as seen from this agent. */
function childrenOf({ env, parts }: TurnRun, blobs: NewBlob[] | null): Children {
  const { agent_id, store } = env
  const { children } = parts
  return {
    prepare: (asked) => prepareSpawn(env, asked, blobs),
    queue: queueSpawn,
    spawn: (intent) => carryOutSpawn(env, intent),
    tell: (task_id, text, key) =>
      children.tell(agent_id, task_id, { text, key, provenance: handoffProvenance(env.facts()) }),
    stop: (task_id, because) => children.stop(agent_id, task_id, because),
    ended: (task_id, signal) => children.ended(agent_id, task_id, signal),
    see: (other) => seeAgent(store, agent_id, other, (agent) => children.next(agent)),
    words: (child) => children.words(child),
    worktree: (task_id) => children.worktree(agent_id, task_id),
  }
}
