/**
 * Supervises the tasks that outlived their call: each end becomes one commit (terminal row, result
 * message, resolved waits), learnt from the runner's notice while this process lives and from its
 * files after a restart (docs/spec/task.md#runner).
 */
import { askAnew, changedSince, endHeld, yesEnds } from '../../domain/approvals/held-command.ts'
import { isCommandOf } from '../../domain/state/check.ts'
import { callsOf, openTurn, type Emitted } from '../../domain/facts/facts.ts'
import { endTask } from '../../domain/inbox/admit.ts'
import type { AgentId, TaskId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { endOfTask, taskResultText, type Tail } from '../../domain/agents/task-end.ts'
import { isSamePlace } from '../../domain/start-place.ts'
import { isHeld, isTerminal, type Task } from '../../domain/state/task.ts'
import { minute, second } from '../../domain/time.ts'
import type { StopOutcome, TaskProcess } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import { terminalText } from '../../tools/commands/terminal-text.ts'
import { carryOut } from './carry-out.ts'
import { confineOf } from './confine.ts'
import type { AgentPorts } from '../agent-ports.ts'
import type { HostPorts } from '../ports.ts'
import type { Store } from '../store.ts'

/** Bytes of output that a result message quotes. */
const tailBytes = 2_000

/** Milliseconds between two tries to stop what survived: the first, then doubled up to the last. */
const firstPause = 5 * second
const lastPause = minute

export type SupervisorPorts = {
  ports: HostPorts
  store: Store
  /** Whose environment and folders a command of the agent has. */
  agent: (agent: AgentId) => AgentPorts
  /** Stops a supervised child: it is no process of its own. */
  stopChild: (agent: AgentId, task: TaskId, because: string) => Promise<StopOutcome>
  failed: (agent: AgentId, error: unknown) => void
}

export class Supervisor {
  readonly #ports: HostPorts
  readonly #store: Store
  readonly #watched = new Map<TaskId, Promise<void>>()
  readonly #closing = new AbortController()
  readonly #agent: SupervisorPorts['agent']
  readonly #stopChild: SupervisorPorts['stopChild']
  readonly #failed: SupervisorPorts['failed']

  constructor({ ports, store, agent, stopChild, failed }: SupervisorPorts) {
    this.#ports = ports
    this.#store = store
    this.#agent = agent
    this.#stopChild = stopChild
    this.#failed = failed
  }

  /** Follows every task of the agent that no call of its open turn is answering for. */
  watchAll(agent: AgentId): void {
    const facts = this.#store.mustFacts(agent)
    const turn = openTurn(facts)
    const answered = new Set(
      turn
        ? callsOf(facts, turn)
            .filter((call) => call.state === 'started')
            .map((call) => call.task_id)
        : [],
    )
    for (const task of facts.rows('tasks')) {
      if (!isTerminal(task) && !answered.has(task.id)) this.watch(agent, task.id)
    }
  }

  /** After each commit: tasks that no call answers for any more. */
  committed(agent: AgentId, events: readonly Emitted[]): void {
    for (const { event } of events) {
      if (event.type === 'task_promoted' || event.type === 'task_decided') {
        this.watch(agent, event.id)
      }
      if (event.type === 'turn_ended') this.watchAll(agent)
    }
  }

  watch(agent: AgentId, task: TaskId): void {
    if (this.#watched.has(task) || this.#closing.signal.aborted) return
    const following = this.#follow(agent, task)
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#failed(agent, error)
      })
      .finally(() => this.#watched.delete(task))
    this.#watched.set(task, following)
  }

  /** Stops with proof: TERM, grace, KILL; survivors keep the task `cancelling`. */
  async stop(agent: AgentId, id: TaskId, because: string): Promise<readonly number[]> {
    if ((await this.#store.row(agent, 'tasks', id))?.kind === 'child_agent') {
      const outcome = await this.#stopChild(agent, id, because)
      return outcome.stopped ? [] : outcome.survivors
    }
    const began = await this.#store.transact(agent, id, (d): Task['kind'] | null => {
      const task = d.row('tasks', id)
      if (!task || isTerminal(task) || task.status === 'cancelling') return 'command'
      const isCall = task.kind === 'tool_call'
      if (isHeld(task) || (isCall && task.status === 'queued')) {
        // Nothing of it runs: there is nothing to prove.
        endHeld(d, task, because)
        return null
      }
      if (!isCall) d.emit({ type: 'task_cancelling', id, survivors: [], because })
      return task.kind
    })
    if (began === null) return []
    if (began === 'tool_call') {
      // It is done, or over, in a moment: half of it is not left.
      await this.#watched.get(id)
      return []
    }
    const proof = await this.#ports.processes.stop(id, limits.stop_grace.value)
    if (!proof.stopped) {
      const { survivors } = proof
      await this.#store.transact(agent, id, (d) => {
        const task = d.row('tasks', id)
        if (!task || isTerminal(task) || isSame(task.survivors, survivors)) return
        d.emit({ type: 'task_cancelling', id, survivors, because })
      })
      return survivors
    }
    await this.#end(agent, id, await this.#ports.processes.observe(id), 'stopped')
    return []
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#watched.values())
  }

  async #follow(agent: AgentId, id: TaskId): Promise<void> {
    const row = this.#store.mustFacts(agent).row('tasks', id)
    if (row?.kind === 'tool_call') return this.#carryOut(agent, row)
    if (row?.status === 'cancelling') return this.#untilGone(agent, row)
    // A child's end is decided from its rows, not learnt from a process; a held command has none.
    if (row?.kind === 'child_agent' || row?.status === 'held') return
    if (row?.status === 'queued' && row.promoted && (await this.#mayBegin(agent, row))) {
      if (await this.#isHeldAnew(agent, id)) return
      // A stop may have come meanwhile, and its agent may be gone by now.
      const now = this.#store.facts(agent)?.row('tasks', id)
      if (now?.status === 'queued') await this.#begin(agent, now)
    }
    await this.#end(agent, id, await this.#ended(id), 'by_itself')
    const left = this.#store.facts(agent)?.row('tasks', id)
    if (left?.status === 'cancelling') await this.#untilGone(agent, left)
  }

  /** A call that a person said yes to, which is no process: what it meets is its outcome. */
  async #carryOut(agent: AgentId, { id, status }: Task): Promise<void> {
    if (status === 'held') return
    if (status === 'queued' && (await this.#isHeldAnew(agent, id))) return
    await carryOut(this.#agent(agent), id, this.#closing.signal)
  }

  /** A stop that left survivors is tried again until the proof is there: then they have gone. */
  async #untilGone(agent: AgentId, { id, reason }: Task): Promise<void> {
    const { clock } = this.#ports
    for (let pause = firstPause; ; pause = Math.min(pause * 2, lastPause)) {
      if ((await this.stop(agent, id, reason ?? 'stopped')).length === 0) return
      await clock.sleep(pause, this.#closing.signal)
    }
  }

  /**
   * Starts a command that no call began: the operator's own, whose row is its intent. The claim is
   * exclusive, so this after a crash is no second start.
   */
  async #begin(agent: AgentId, task: Task): Promise<void> {
    const { id, cmd, workdir, timeout_ms, input: stdin } = task
    if (cmd === null) return
    const { processes, effect_seam } = this.#ports
    effect_seam?.before_effect(`start ${id}`)
    try {
      const its = this.#agent(agent)
      // A check is the operator's: nothing of the agent's is in its environment.
      const env = this.#isOfCheck(agent, task) ? {} : { ...its.environment() }
      const within = { env, confine: await confineOf(its) }
      await processes.prepare({ task_id: id, cmd, workdir, timeout_ms, stdin, ...within })
      await processes.start(id)
    } catch (error) {
      if (!(error instanceof ProcessFault) || this.#closing.signal.aborted) throw error
      // What the system was short of it may have again: then this is tried anew.
      if (error.code === 'scarce') throw error
      // A failed hand-over may have been claimed all the same; if not, a stop makes it final.
      if ((await processes.observe(id)).state === 'absent') {
        await processes.stop(id, limits.stop_grace.value)
      }
    }
    effect_seam?.after_effect(`start ${id}`)
    const process = await processes.observe(id)
    if (process.state !== 'running') return
    const { pid, started_at } = process
    await this.#store.transact(agent, id, (d) => {
      if (d.row('tasks', id)?.status !== 'queued') return
      d.emit({ type: 'task_started', id, pid, started_at })
    })
  }

  /**
   * Whether the yes to a command that has not begun is none to what would run now: what it would do
   * changed, the policy did, or it was given too long ago. Then it is asked anew. One that somebody
   * claimed has begun, and its yes was good.
   */
  async #isHeldAnew(agent: AgentId, id: TaskId): Promise<boolean> {
    const task = this.#store.facts(agent)?.row('tasks', id)
    if (task?.status !== 'queued' || task.held === undefined) return false
    const { held, kind } = task
    const isClaimed =
      kind === 'command' && (await this.#ports.processes.observe(id)).state !== 'absent'
    if (isClaimed) return false
    const again = await this.#agent(agent).judgedAgain({ ...task, held })
    const late = (yesEnds(task) ?? '') <= this.#store.now()
    const changed = late ? 'the yes was given more than a day ago' : changedSince(held, again)
    if (changed === null) return false
    await this.#store.transact(agent, id, (d) => {
      const now = d.row('tasks', id)
      if (now?.status === 'queued') askAnew(d, now, changed, again)
    })
    return true
  }

  /**
   * Whether a start now cannot be a second one that matters: nobody claimed it and the claim cannot
   * have been lost, or somebody did and its runner is met; or it is a check, which looks only.
   */
  async #mayBegin(agent: AgentId, task: Task): Promise<boolean> {
    const { processes } = this.#ports
    if (isSamePlace(task.start_place, processes.place()) || this.#isOfCheck(agent, task))
      return true
    return (await processes.observe(task.id)).state !== 'absent'
  }

  #isOfCheck(agent: AgentId, { id, work_item_id }: Task): boolean {
    if (work_item_id === null) return false
    const item = this.#store.mustFacts(agent).row('work_items', work_item_id)
    return isCommandOf(item?.checks ?? [], id)
  }

  async #ended(id: TaskId): Promise<TaskProcess> {
    try {
      return await this.#ports.processes.ended(id, this.#closing.signal)
    } catch (error) {
      // Nobody started it: what its files say now is all there will be.
      if (error instanceof ProcessFault && error.code === 'not_started') {
        return this.#ports.processes.observe(id)
      }
      throw error
    }
  }

  /** A task that is being stopped ends by the proof of the stop alone, not by its process's end. */
  async #end(
    agent: AgentId,
    id: TaskId,
    process: TaskProcess,
    how: 'by_itself' | 'stopped',
  ): Promise<void> {
    const tail = await this.#tail(id)
    const here = this.#ports.processes.place()
    const ended_at = endedAt(process) ?? this.#store.now()
    await this.#store.transact(agent, id, (d) => {
      const task = d.row('tasks', id)
      if (!task || isTerminal(task)) return
      if (task.status === 'cancelling' && how === 'by_itself') return
      const started = task.status === 'queued' ? beginLate(process) : null
      if (started) d.emit({ type: 'task_started', id, pid: null, started_at: started })
      const end = endOfTask(process, task, here) ?? gone(process, task)
      if (end === null) return
      endTask(d, {
        task_id: id,
        ...end,
        output_bytes: outputBytes(process),
        ended_at,
        body: taskResultText(task, { ...end, ended_at }, tail),
      })
    })
  }

  async #tail(id: TaskId): Promise<Tail> {
    const read = (stream: 'stdout' | 'stderr') =>
      this.#ports.processes.output(id, { stream, max_bytes: tailBytes, tail: true })
    const [out, err] = await Promise.all([read('stdout'), read('stderr')])
    const inTerminal = this.#ports.processes.stdin_of(id) === 'terminal'
    const shown = inTerminal ? terminalText(out.text) : out.text
    const text = [shown, err.text].filter((one) => one.trim() !== '').join('\n')
    return { text, cut: out.from > 0 || err.from > 0 }
  }
}

/** A queued task that no runner ever claimed, found after its call was answered. */
function gone(process: TaskProcess, task: Task) {
  if (process.state !== 'absent' || task.status !== 'queued') return null
  return { status: 'interrupted', reason: 'it was never started', exit_status: null } as const
}

const isSame = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((pid) => others.includes(pid))

const beginLate = (process: TaskProcess): string | null =>
  process.state === 'ended' || process.state === 'running' ? process.started_at : null

const endedAt = (process: TaskProcess): string | null =>
  process.state === 'ended' ? process.ended_at : null

const outputBytes = (process: TaskProcess): number =>
  process.state === 'absent' ? 0 : process.output.stdout_bytes + process.output.stderr_bytes
