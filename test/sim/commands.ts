/**
 * The processes of a simulated machine, behind the real port: they outlive the process that started
 * them, end when they like, may be lost without a word, and may survive being stopped. Nothing of
 * a command is carried out; its text is kept, so that a second start of one call shows.
 */
import type { CommandSpec, Processes, StopOutcome, TaskProcess } from '../../src/exec/ports.ts'
import { ProcessFault } from '../../src/exec/commands/process-fault.ts'
import type { Random } from '../soak/random.ts'
import type { Agenda, Life } from './agenda.ts'

type Ended = Extract<TaskProcess, { state: 'ended' }>

type Task = {
  spec: CommandSpec
  process: TaskProcess
  /** Whoever waits for its end, in whatever life. */
  waiting: Set<() => void>
  output: string
  /** Ignores every signal until it is told to go. */
  survives: boolean
  inputEnded: boolean
}

const none = { stdout_bytes: 0, stderr_bytes: 0 }

export type ProcessFaults = {
  /** What goes wrong with the next start: nobody is told, or it is told and did begin. */
  start(task: string): 'refused' | 'unsure' | null
  survives(): boolean
  /** A command sends a word to the trigger of the agent that began it. */
  posts(task: string): void
  /** Which run of a check this task is; null: its text is the only one like it. */
  runOf(task: string): string | null
}

export class SimCommands {
  readonly #tasks = new Map<string, Task>()
  readonly #agenda: Agenda
  readonly #outside: Life
  readonly #random: Random
  readonly #faults: ProcessFaults
  /** Every start, by what was asked for: the text of the command, or the one run of a check. */
  readonly starts = new Map<string, number>()
  /** Every input that was taken, by its text. */
  readonly inputs = new Map<string, number>()
  #pids = 1_000

  constructor(agenda: Agenda, outside: Life, random: Random, faults: ProcessFaults) {
    this.#agenda = agenda
    this.#outside = outside
    this.#random = random
    this.#faults = faults
  }

  /** Ids of what runs now. */
  running(): string[] {
    return [...this.#tasks].flatMap(([id, { process }]) =>
      process.state === 'running' ? [id] : [],
    )
  }

  isRunning(id: string): boolean {
    return this.#tasks.get(id)?.process.state === 'running'
  }

  /** From now on it ignores every signal. */
  holdsOut(id: string): void {
    const task = this.#tasks.get(id)
    if (task) task.survives = true
  }

  /** Everything ends that can: a survivor is no more, and nothing runs for ever. */
  endAll(): void {
    for (const [id, task] of this.#tasks) {
      task.survives = false
      this.ends(id, { how: 'exited', exit_status: 0, signal: null })
    }
  }

  ends(id: string, end: Pick<Ended, 'how' | 'exit_status' | 'signal'>): void {
    const task = this.#tasks.get(id)
    if (task?.process.state !== 'running') return
    const { started_at, output } = task.process
    const ended_at = this.#time()
    task.process = { state: 'ended', ...end, problem: null, started_at, ended_at, output }
    this.#tell(task)
  }

  vanishes(id: string): void {
    const task = this.#tasks.get(id)
    if (task?.process.state !== 'running') return
    const { pid, output } = task.process
    task.process = { state: 'lost', pid, output }
    this.#tell(task)
  }

  portOf(life: Life): Processes {
    const act = <T>(label: string, body: () => T): Promise<T> =>
      this.#agenda.perform(life, 'process', label, body)
    const task = (id: string): Task | undefined => this.#tasks.get(id)
    const observe = (id: string): TaskProcess => task(id)?.process ?? { state: 'absent' }
    return {
      prepare: (spec) => act('prepare', () => this.#prepare(spec)),
      start: (id) => act('start', () => this.#start(id)),
      place: () => ({ boot: 'boot', tasks: 'tasks' }),
      observe: (id) => act('observe', () => observe(id)),
      ended: (id, signal) => this.#ended(life, id, signal),
      output: (id, range) =>
        act('output', () => {
          const all = range.stream === 'stdout' ? (task(id)?.output ?? '') : ''
          const from = range.tail ? Math.max(0, all.length - range.max_bytes) : (range.from ?? 0)
          const text = all.slice(from, from + range.max_bytes)
          const truncated = range.tail ? from > 0 : from + text.length < all.length
          return { text, bytes: text.length, from, truncated }
        }),
      output_at: () => null,
      stdin_of: (id) => task(id)?.spec.stdin ?? 'none',
      input: (id, text, options) => act('input', () => this.#input(id, text, options?.end)),
      terminal_problem: () => act('terminal', () => null),
      confinement: async () => ({ state: 'off' }),
      stop: (id) => act('stop', () => this.#stop(id)),
      close: async () => {},
    }
  }

  #prepare(spec: CommandSpec): void {
    const before = this.#tasks.get(spec.task_id)
    if (before && before.process.state !== 'absent') return
    this.#tasks.set(spec.task_id, {
      spec,
      process: { state: 'absent' },
      waiting: new Set(),
      output: '',
      survives: false,
      inputEnded: false,
    })
  }

  #start(id: string): void {
    const task = this.#tasks.get(id)
    if (!task) throw new ProcessFault('not_prepared', `injected? ${id} was not prepared`, 'never')
    if (task.process.state !== 'absent') return
    const wrong = this.#faults.start(id)
    if (wrong === 'refused') throw spawnerFailed()
    this.#begin(id, task)
    if (wrong === 'unsure') throw spawnerFailed()
  }

  #begin(id: string, task: Task): void {
    const { cmd, timeout_ms } = task.spec
    const asked = this.#faults.runOf(id) ?? cmd
    this.starts.set(asked, (this.starts.get(asked) ?? 0) + 1)
    task.output = `out of ${cmd}\n`
    task.survives = this.#faults.survives()
    const output = { ...none, stdout_bytes: task.output.length }
    task.process = { state: 'running', pid: (this.#pids += 1), started_at: this.#time(), output }
    const later = (ms: number, fn: () => void) =>
      this.#agenda.after(this.#outside, `process of ${id}`, ms, fn)
    if (timeout_ms !== null) {
      later(timeout_ms, () => this.ends(id, { how: 'timed_out', exit_status: 143, signal: null }))
    }
    if (cmd.startsWith('post')) {
      const post = (): void => {
        if (!this.isRunning(id)) return
        this.#faults.posts(id)
        later(this.#random.between(20_000, 120_000), post)
      }
      later(this.#random.between(0, 1_000), post)
    }
    const takes = this.#takes(cmd)
    if (takes === null) return
    const exit_status = this.#random.chance(0.2) ? 1 : 0
    later(takes, () => this.ends(id, { how: 'exited', exit_status, signal: null }))
  }

  /** Milliseconds, or null: it goes on until somebody ends it. */
  #takes(cmd: string): number | null {
    if (cmd.startsWith('quick')) return this.#random.between(0, 200)
    if (cmd.startsWith('slow')) return this.#random.between(1_000, 300_000)
    return null
  }

  #ended(life: Life, id: string, signal: AbortSignal): Promise<TaskProcess> {
    const task = this.#tasks.get(id)
    const isOver = (): boolean => task?.process.state === 'ended' || task?.process.state === 'lost'
    const now = (): TaskProcess => {
      if (!task || task.process.state === 'absent') {
        throw new ProcessFault('not_started', `${id} was not started`, 'never')
      }
      return task.process
    }
    if (!task || task.process.state === 'absent' || isOver()) {
      return this.#agenda.perform(life, 'process', 'ended', now)
    }
    return new Promise((resolve, reject) => {
      const abort = () => {
        task.waiting.delete(tell)
        reject(signal.reason as Error)
      }
      const tell = () => {
        signal.removeEventListener('abort', abort)
        const told = this.#agenda.perform(life, 'process', 'told of an end', now)
        void told.then(resolve, reject)
      }
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort, { once: true })
      task.waiting.add(tell)
    })
  }

  #tell(task: Task): void {
    const waiting = [...task.waiting]
    task.waiting.clear()
    for (const tell of waiting) tell()
  }

  #input(id: string, text: string, end = false): void {
    const task = this.#tasks.get(id)
    if (task?.process.state !== 'running') {
      throw new ProcessFault('not_running', `${id} does not run`, 'never')
    }
    if (task.spec.stdin === 'none') {
      throw new ProcessFault('input_refused', `${id} takes no input`, 'never')
    }
    if (task.inputEnded) throw new ProcessFault('input_ended', `${id} has its end`, 'never')
    this.inputs.set(text, (this.inputs.get(text) ?? 0) + 1)
    task.output += text
    task.inputEnded = end
  }

  #stop(id: string): StopOutcome {
    const task = this.#tasks.get(id)
    if (!task || task.process.state === 'absent') {
      const started_at = null
      const ended_at = this.#time()
      const process: Ended = {
        state: 'ended',
        how: 'could_not_start',
        exit_status: null,
        signal: null,
        problem: 'it was stopped before it began',
        started_at,
        ended_at,
        output: none,
      }
      if (task) {
        task.process = process
        this.#tell(task)
      }
      return { stopped: true, proof: 'never_began' }
    }
    if (task.process.state === 'running' && task.survives) {
      return { stopped: false, survivors: [task.process.pid] }
    }
    this.ends(id, { how: 'signalled', exit_status: 143, signal: 'SIGTERM' })
    return { stopped: true, proof: 'marked' }
  }

  #time(): string {
    return new Date(this.#agenda.now()).toISOString()
  }
}

const spawnerFailed = (): ProcessFault =>
  new ProcessFault('spawner_failed', 'injected: the spawner ended twice', 'later')
