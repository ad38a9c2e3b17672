/**
 * Runs the checks of items that are completed, or claimed to be, one at a time for each agent, as
 * the rows say: whatever is owed is begun, whatever began is followed to its end, in this process
 * or in a later one. A command is a task of the supervisor's with a clean environment; a file and a
 * URL are looked at here. Nothing of it asks the agent, and a stopped agent's checks are run all
 * the same.
 */
import {
  isUnderWay,
  type Check,
  type CheckSpec,
  type CheckRunEnd,
  type WorkspaceTree,
} from '../../domain/state/check.ts'
import { finishRun, nextRun, startCommand, type AliveRun } from '../../domain/checks/checks.ts'
import { agentOf, type Draft, type Emitted } from '../../domain/facts/facts.ts'
import type { AgentId, WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { standing } from '../../domain/agents/task-end.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { Inspect } from '../../exec/inspect/inspect-port.ts'
import type { Roots } from '../../exec/ports.ts'
import { taskPath } from '../home.ts'
import type { HostPorts } from '../ports.ts'
import { isDeletion, type Store } from '../store.ts'
import { tailOf } from './task-text.ts'

/** Bytes of a file that is looked through for a text. */
const fileBytes = 16 * 1024 * 1024

export type CheckPorts = {
  ports: Pick<HostPorts, 'home' | 'files' | 'processes' | 'effect_seam'> & { inspect: Inspect }
  store: Store
  roots: (agent: AgentId) => Roots
  /** Whether nothing can be written now: then they are looked at again when that is over. */
  waits: () => boolean
  failed: (agent: AgentId, error: unknown) => void
}

/** What a look of the runtime's own came to, without when and on what. */
type Seen = Pick<CheckRunEnd, 'outcome' | 'exit_status' | 'reason' | 'tail'>

/** Where an agent's checks are run. */
type Place = { agent: AgentId; root: string; roots: Roots }

export class CheckRunner {
  readonly #of: CheckPorts
  readonly #running = new Map<AgentId, Promise<void>>()
  /** Agents of which something was committed while a lap ran. */
  readonly #again = new Set<AgentId>()
  readonly #committing = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  /** Completions that wait for the checks of an item, by what ends their wait. */
  readonly #waiting = new Map<() => void, { agent: AgentId; item: WorkItemId }>()

  constructor(of: CheckPorts) {
    this.#of = of
  }

  /** After each commit. Only these change what is owed: looking walks all items of the agent. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    const concerns = ({ event: { type } }: Emitted) =>
      type === 'task_ended' || type === 'check_owed' || type === 'check_finished'
    if (this.#of.waits() || isDeletion(events) || !events.some(concerns)) return
    for (const [over, { agent: of, item }] of this.#waiting) {
      if (of === agent && !this.#isRun(agent, item)) over()
    }
    this.look(agent)
  }

  /** The workspace of an agent as it is now. */
  tree(agent: AgentId): Promise<WorkspaceTree> {
    return this.#of.ports.inspect.tree(agentOf(this.#of.store.mustFacts(agent)).workspace.root)
  }

  /** Resolves when none of the item's checks is to be run any more, or `signal` aborts. */
  async ended(agent: AgentId, item: WorkItemId, signal: AbortSignal): Promise<void> {
    if (signal.aborted || !this.#isRun(agent, item)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.set(resolve, { agent, item })
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    this.#waiting.delete(resolve)
  }

  /** Whether the runtime has still to run a check of the item, or runs one. */
  #isRun(agent: AgentId, id: WorkItemId): boolean {
    const item = this.#of.store.facts(agent)?.row('work_items', id)
    return item?.checks.some(isUnderWay) ?? false
  }

  /** Goes on with the agent's checks, if there are any; calls while it does are coalesced. */
  look(agent: AgentId): void {
    if (this.#closing.signal.aborted) return
    if (this.#running.has(agent)) {
      this.#again.add(agent)
      return
    }
    const facts = this.#of.store.facts(agent)
    if (facts === null || nextRun(facts) === null) return
    const laps = this.#laps(agent)
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#of.failed(agent, error)
      })
      .finally(() => {
        this.#running.delete(agent)
        if (this.#again.delete(agent)) this.look(agent)
      })
    this.#running.set(agent, laps)
  }

  /** What is being looked at is given up, and owed as before; a commit comes to its end first. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#committing)
  }

  async #commit(agent: AgentId, cause: string, decide: (d: Draft) => unknown): Promise<void> {
    if (this.#closing.signal.aborted) return
    const committed = this.#of.store.transact(agent, cause, decide)
    this.#committing.add(committed)
    await committed.finally(() => this.#committing.delete(committed))
  }

  async #laps(agent: AgentId): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#again.delete(agent)
      const facts = this.#of.store.facts(agent)
      const run = facts === null ? null : nextRun(facts)
      // Nothing is left, or a command runs: the commit of its end comes by here again.
      if (run === null || !(await this.#step(agent, run))) return
    }
  }

  /** One commit further. False: there is nothing to do before the next commit. */
  async #step(agent: AgentId, { item, check }: AliveRun): Promise<boolean> {
    const { run } = check
    // Taken now: the agent may be deleted while its files are looked at.
    const { root } = agentOf(this.#of.store.mustFacts(agent)).workspace
    const place: Place = { agent, root, roots: this.#of.roots(agent) }
    if (run?.state === 'running') {
      const task = await this.#of.store.row(agent, 'tasks', run.task_id)
      if (task === null) throw new Error(`${run.task_id} of "${check.name}" has no row`)
      if (!isTerminal(task)) return false
      await this.#ended(place, item, check, { task, before: run.tree, started_at: run.started_at })
      return true
    }
    if (check.kind === 'command') await this.#begin(place, item, check)
    else await this.#see(place, item, check)
    return true
  }

  /** The tree before, then the intent in one commit: what starts it is the task supervisor. */
  async #begin(place: Place, item: WorkItem, check: Check & { kind: 'command' }): Promise<void> {
    const { store, ports } = this.#of
    const tree = await this.#of.ports.inspect.tree(place.root)
    const task_id = store.mint('task')
    const workdir = within(place, check.workdir ?? '.')
    const output_path = taskPath(ports.home, task_id)
    const start_place = ports.processes.place()
    const start = { task_id, workdir, start_place, output_path, tree }
    await this.#commit(place.agent, 'check', (d) => startCommand(d, nameOf(item, check), start))
  }

  async #ended(
    place: Place,
    item: WorkItem,
    check: Check,
    { task, before, started_at }: { task: Task; before: WorkspaceTree; started_at: Timestamp },
  ): Promise<void> {
    const { processes } = this.#of.ports
    const tail = await tailOf(processes, task.id, limits.check_tail.value)
    const tree = { before, after: await this.#of.ports.inspect.tree(place.root) }
    const end = { ...commandEnd(task), tail, tree, started_at: task.started_at ?? started_at }
    await this.#commit(place.agent, task.id, (d) =>
      finishRun(d, nameOf(item, check), end, 'runtime'),
    )
  }

  /** Looking changes nothing, so after a crash it is done again: one commit, at its end. */
  async #see(place: Place, item: WorkItem, check: Check): Promise<void> {
    const { store, ports } = this.#of
    const before = await this.#of.ports.inspect.tree(place.root)
    const started_at = store.now()
    ports.effect_seam?.before_effect(`check ${check.name}`)
    const seen = await this.#look(place, check)
    ports.effect_seam?.after_effect(`check ${check.name}`)
    const tree = { before, after: await this.#of.ports.inspect.tree(place.root) }
    await this.#commit(place.agent, 'check', (d) =>
      finishRun(d, nameOf(item, check), { ...seen, tree, started_at }, 'runtime'),
    )
  }

  async #look(place: Place, check: CheckSpec): Promise<Seen> {
    switch (check.kind) {
      case 'file':
        return this.#file(place, check)
      case 'http':
        return answered(check, await this.#get(check.url))
      case 'command':
      case 'person':
        throw new Error(`"${check.name}" is a ${check.kind}, not looked at`)
    }
  }

  #get(url: string) {
    const { signal } = this.#closing
    return this.#of.ports.inspect.get(url, { ...getting, signal })
  }

  async #file(place: Place, check: CheckSpec & { kind: 'file' }): Promise<Seen> {
    const { files } = this.#of.ports
    const { expect } = check
    const path = within(place, check.path)
    try {
      const opened = await files.open_within(place.roots, path, 'read')
      try {
        if ('exists' in expect) return seen(expect.exists, 'it exists')
        const read = await opened.read(fileBytes)
        if ('sha256' in expect) {
          return seen(read.sha256 === expect.sha256, `its SHA-256 is ${read.sha256}`)
        }
        const text = new TextDecoder().decode(read.bytes)
        return text.includes(expect.contains)
          ? seen(true, 'it contains the text')
          : seen(false, `the text is not in its ${read.size} bytes`)
      } finally {
        await opened.close()
      }
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      return notOpened(error, expect)
    }
  }
}

const getting = { timeout_ms: limits.check_get.value, max_bytes: limits.check_body.value }

const within = ({ root }: Place, path: string): string =>
  path.startsWith('/') ? path : `${root}/${path}`

const nameOf = (item: WorkItem, { name, run }: Check) => ({
  work_item_id: item.id,
  name,
  n: run?.n ?? 0,
})

const seen = (passed: boolean, reason: string): Seen => ({
  outcome: passed ? 'passed' : 'failed',
  exit_status: null,
  reason,
  tail: '',
})

/** A file that is not there answers the question whether it is; every other fault is a failure. */
function notOpened(fault: FileFault, expect: (CheckSpec & { kind: 'file' })['expect']): Seen {
  if (fault.code === 'is_folder' && 'exists' in expect) return seen(expect.exists, 'it is a folder')
  const absent = fault.code === 'not_found' && 'exists' in expect && !expect.exists
  return absent ? seen(true, 'it does not exist') : seen(false, fault.message)
}

function answered(
  { status }: CheckSpec & { kind: 'http' },
  answer: Awaited<ReturnType<Inspect['get']>>,
): Seen {
  if (!answer.ok) return seen(false, answer.why)
  const passed = answer.status === status
  const reason = passed ? null : `HTTP ${answer.status} came, ${status} was wanted`
  const tail = answer.text
  return { outcome: passed ? 'passed' : 'failed', exit_status: answer.status, reason, tail }
}

/** Exit status 0 and nothing else passes; what nobody saw the end of is not known. */
export function commandEnd(
  task: Pick<Task, 'status' | 'reason' | 'exit_status' | 'started_at' | 'ended_at'>,
): Omit<Seen, 'tail'> {
  const { exit_status, reason } = task
  switch (task.status) {
    case 'completed': {
      const passed = exit_status === 0
      return { outcome: passed ? 'passed' : 'failed', exit_status, reason }
    }
    case 'failed':
      return { outcome: 'failed', exit_status, reason }
    case 'cancelled':
    case 'interrupted':
      return { outcome: 'unknown', exit_status, reason: reason ?? task.status }
    case 'held':
    case 'queued':
    case 'running':
    case 'cancelling':
      throw new Error(`a task has not ended: ${standing(task)}`)
  }
}
