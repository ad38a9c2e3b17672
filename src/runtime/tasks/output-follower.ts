/**
 * The output of running commands as it grows, for who looks on: pieces of text with their place in
 * the stream, read from the output files. One timer while somebody follows and a command runs, none
 * otherwise; nothing is stored, and a piece may be missing: the file has everything.
 */
import type { Facts } from '../../domain/facts/facts.ts'
import type { AgentId, TaskId } from '../../domain/ids.ts'
import type { Redactor, RedactedStream } from '../../domain/secrets/redact.ts'
import { isTerminal } from '../../domain/state/task.ts'
import type { Clock, Processes } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import type { HostNotice, OutputPiece } from '../ports.ts'

/** Milliseconds between two looks: what a person takes for at once. */
const lookEvery = 500
/** Bytes of one piece. A command that writes faster is followed by its newest. */
const pieceBytes = 16_384

export type FollowerPorts = {
  clock: Clock
  processes: Pick<Processes, 'observe' | 'output' | 'output_at'>
  redactor?: Redactor | undefined
}

const streams = ['stdout', 'stderr'] as const
type Followed = {
  agent_id: AgentId
  /** `output_at` of the last look. */
  seen: number | null
  at: Record<(typeof streams)[number], { offset: number; clean: RedactedStream | null }>
}

export class TaskFollower {
  readonly #ports: FollowerPorts
  readonly #running = new Map<TaskId, Followed>()
  readonly #listeners = new Set<(piece: OutputPiece) => void>()
  #cancel: (() => void) | null = null
  #looking: Promise<void> | null = null

  constructor(ports: FollowerPorts) {
    this.#ports = ports
  }

  /** Pieces from now on; the function returned ends it. The listener must not throw. */
  follow(listener: (piece: OutputPiece) => void): () => void {
    this.#listeners.add(listener)
    this.#arm()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#disarm()
    }
  }

  /** The tasks of an agent that was taken over. */
  adopt(facts: Facts): void {
    for (const task of facts.rows('tasks')) {
      if (!isTerminal(task)) this.#begin(facts.agent_id, task.id)
    }
  }

  notice(notice: HostNotice): void {
    if (notice.kind !== 'committed') return
    for (const { event } of notice.events) {
      if (event.type === 'task_queued') this.#begin(notice.agent_id, event.id)
      if (event.type === 'task_ended') this.#end(event.id)
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#running.clear()
    this.#disarm()
  }

  #begin(agent_id: AgentId, id: TaskId): void {
    const from = () => ({ offset: 0, clean: this.#ports.redactor?.stream() ?? null })
    if (this.#running.has(id)) return
    this.#running.set(id, { agent_id, seen: null, at: { stdout: from(), stderr: from() } })
    this.#arm()
  }

  /** What it wrote last is told, too. */
  #end(id: TaskId): void {
    const task = this.#running.get(id)
    this.#running.delete(id)
    if (task && this.#listeners.size > 0) void this.#look(id, task)
    if (this.#running.size === 0) this.#disarm()
  }

  #arm(): void {
    if (this.#cancel !== null || this.#looking !== null) return
    if (this.#listeners.size === 0 || this.#running.size === 0) return
    this.#cancel = this.#ports.clock.after(lookEvery, () => {
      this.#cancel = null
      this.#looking = this.#lookAtAll().finally(() => {
        this.#looking = null
        this.#arm()
      })
    })
  }

  #disarm(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  async #lookAtAll(): Promise<void> {
    for (const [id, task] of [...this.#running]) await this.#look(id, task)
  }

  async #look(id: TaskId, task: Followed): Promise<void> {
    try {
      const at = this.#ports.processes.output_at(id)
      if (at === null) return
      // The time of a file is coarse: what was written this moment may still be missing.
      if (at === task.seen && this.#ports.clock.now() - at > 2 * lookEvery) return
      task.seen = at
      const process = await this.#ports.processes.observe(id)
      if (process.state === 'absent') return
      for (const stream of streams) {
        await this.#read(id, task, stream, process.output[`${stream}_bytes`])
      }
    } catch (error) {
      // Looking on is no reason to end: who wants the output can read the file.
      if (!(error instanceof ProcessFault)) throw error
    }
  }

  async #read(id: TaskId, task: Followed, stream: OutputPiece['stream'], size: number) {
    const place = task.at[stream]
    // Cut since, or far behind: go on with the newest.
    if (size < place.offset) place.offset = size
    const from = Math.max(place.offset, size - pieceBytes)
    if (from >= size) return
    const range = { stream, from, max_bytes: pieceBytes }
    const read = await this.#ports.processes.output(id, range)
    place.offset = read.from + read.bytes
    const text = place.clean?.push(read.text) ?? read.text
    if (text === '') return
    const { agent_id } = task
    const piece = { kind: 'task_output', agent_id, task_id: id, stream, offset: read.from, text }
    for (const listener of this.#listeners) listener(piece as OutputPiece)
  }
}
