/**
 * The daemon's side of a driver: it starts one where none runs, gives it orders, and follows its
 * journal. Everything is named by the supervising task and the id of a request, and read from disk,
 * so a later daemon finds the same answers and nothing is asked twice.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type {
  AcpEvent,
  AcpPlace,
  AcpPort,
  AcpProgram,
  AcpSight,
  AcpWords,
} from '../../ports/acp.ts'
import type { DriveSettings } from './drive.ts'
import type { LegState } from './fold.ts'
import { JOURNAL } from './journal.ts'
import {
  ACP_CANCEL_MS,
  ACP_LIVES,
  ACP_PROMPT_CHARS,
  ACP_PROMPT_MS,
  ACP_SILENCE_MS,
  ACP_START_MS,
} from './limits.ts'
import { type AcpOrder, isRequestId, orderLine, promptFileName } from './orders.ts'
import { JournalTail } from './tail.ts'
import { childEnvironment } from '../environment.ts'
import type { CommandSpec, Clock, Processes, StopOutcome, StopProof } from '../ports.ts'
import { canExecute } from '../program.ts'
import { quoted } from '../shell-word.ts'
import { ProcessFault } from '../commands/process-fault.ts'
import { replaceFile } from '../files/whole-file.ts'

/** `driver` is the path of the driver's program, for `node`. The four times are for tests. */
export type AcpSessionsOptions = {
  tasks_folder: string
  processes: Processes
  clock: Clock
  parent_env: Readonly<Record<string, string | undefined>>
  node?: string
  driver?: string
  start_ms?: number
  silence_ms?: number
  prompt_ms?: number
  cancel_ms?: number
}

/** The driver beside this file: a source, or a part of the bundle. */
const besideThis = (): string => {
  const name = import.meta.url.endsWith('.ts') ? './driver.ts' : './acp-driver.js'
  return decodeURIComponent(new URL(name, import.meta.url).pathname)
}

/** Who is stopped may not be started again by a request that comes late. */
const STOPPED = 'acp.stopped'

export class AcpSessions implements AcpPort {
  readonly #options: AcpSessionsOptions
  readonly #tails = new Map<string, JournalTail>()
  /** One start at a time per child. */
  readonly #starting = new Map<string, Promise<string>>()

  constructor(options: AcpSessionsOptions) {
    this.#options = options
  }

  /** Whether the program is there: at its absolute path, or in the PATH the agent will have. */
  finds({ command, env }: AcpProgram): boolean {
    if (command.includes('/')) return canExecute(command)
    const path = childEnvironment(env, this.#options.parent_env)['PATH'] ?? ''
    return path.split(':').some((folder) => canExecute(join(folder, command)))
  }

  async look(task_id: string): Promise<AcpSight> {
    const running = await this.#running(task_id)
    const fold = await this.#tail(task_id).now()
    const lost = running === null ? await this.#lost(task_id) : null
    return {
      // Nobody is left to answer to.
      question: lost === null ? fold.question : null,
      leg: (request_id) => {
        const now = fold.leg(request_id)?.now ?? null
        return now?.state === 'running' && lost !== null ? lost : now
      },
    }
  }

  /**
   * Gives the order unless some driver has it, and yields what is said until the leg is over: from
   * its beginning, whenever that was. Aborting leaves the agent at work. Throws `ProcessFault`, and
   * the signal's reason.
   */
  async *follow(
    place: AcpPlace,
    request_id: string,
    words: AcpWords,
    signal: AbortSignal,
  ): AsyncGenerator<AcpEvent> {
    if (!isRequestId(request_id)) throw new Error('that is no id for a request')
    const { task_id } = place
    const tail = this.#tail(task_id)
    const first = await tail.now()
    if (!first.taken.has(request_id)) await this.#order(place, request_id, words)
    const notices = tail.notices()
    let at = first.leg(request_id)?.from ?? null
    try {
      for (;;) {
        const running = await this.#running(task_id)
        const fold = await tail.now()
        const leg = fold.leg(request_id)
        at ??= leg?.from ?? null
        const to = leg?.to ?? fold.updates.length
        for (; at !== null && at < to; at += 1) {
          const update = fold.updates[at]
          if (update !== undefined) yield update
        }
        if (leg !== null && leg.now.state !== 'running') {
          yield { type: 'over', end: leg.now }
          return
        }
        if (running === null) {
          yield { type: 'over', end: await this.#lost(task_id) }
          return
        }
        // A driver that has just begun may have had no FIFO to write to.
        const seen = await notices.next(signal)
        if (seen === 'slowly' && !(await tail.now()).taken.has(request_id)) {
          await this.#order(place, request_id, words)
        }
      }
    } finally {
      notices.close()
    }
  }

  /** Asks the agent to end its turn; one that does not is ended. Nothing when none runs. */
  async cancel(task_id: string, request_id: string): Promise<void> {
    const running = await this.#running(task_id)
    if (running !== null) await this.#tell(running, { order: 'cancel', request_id })
  }

  /** Like `Processes.stop`, for all drivers of this child; none is started afterwards. */
  async stop(task_id: string, grace_ms: number): Promise<StopOutcome> {
    const { processes, tasks_folder } = this.#options
    mkdirSync(join(tasks_folder, task_id), { recursive: true, mode: 0o700 })
    writeFileSync(join(tasks_folder, task_id, STOPPED), '', { mode: 0o600 })
    await this.#starting.get(task_id)?.catch(() => undefined)
    const survivors: number[] = []
    const proofs = new Set<StopProof>()
    for (const life of this.#lives(task_id)) {
      const outcome = await processes.stop(life, grace_ms)
      if (outcome.stopped) proofs.add(outcome.proof)
      else survivors.push(...outcome.survivors)
    }
    if (survivors.length > 0) return { stopped: false, survivors }
    // No more is proven than of the least proven of them.
    const proof = proofs.has('scanned')
      ? 'scanned'
      : proofs.has('marked')
        ? 'marked'
        : 'never_began'
    return { stopped: true, proof }
  }

  #tail(task_id: string): JournalTail {
    const { tasks_folder, clock } = this.#options
    const known = this.#tails.get(task_id)
    const tail = known ?? new JournalTail(join(tasks_folder, task_id, JOURNAL), clock)
    this.#tails.set(task_id, tail)
    return tail
  }

  async #order(place: AcpPlace, request_id: string, words: AcpWords): Promise<void> {
    if (words.kind === 'answer') {
      const { permission_id, option } = words
      const life = await this.#started(place)
      return this.#tell(life, { order: 'answer', request_id, permission_id, option })
    }
    const { text, after_loss } = words
    const chars = Math.max(text.length, after_loss.length)
    if (chars > ACP_PROMPT_CHARS) {
      const said = `a prompt of ${chars} characters is over the limit of ${ACP_PROMPT_CHARS}`
      throw new ProcessFault('input_too_long', said, 'never')
    }
    const folder = join(this.#options.tasks_folder, place.task_id)
    const file = JSON.stringify({ text, after_loss })
    const life = await this.#started(place)
    await replaceFile(folder, promptFileName(request_id), file, 0o600)
    return this.#tell(life, { order: 'prompt', request_id })
  }

  async #tell(life: string, order: AcpOrder): Promise<void> {
    try {
      await this.#options.processes.input(life, orderLine(order))
    } catch (error) {
      // It ended, or has not made its FIFO yet: whoever follows sees the one and repeats the other.
      const known = error instanceof ProcessFault
      if (!known || (error.code !== 'not_running' && error.code !== 'input_refused')) throw error
    }
  }

  /** Folders of the drivers so far, oldest first: a claimed folder is never used again. */
  #lives(task_id: string): string[] {
    const lives = [task_id]
    while (existsSync(join(this.#options.tasks_folder, lifeOf(task_id, lives.length + 1)))) {
      lives.push(lifeOf(task_id, lives.length + 1))
    }
    return lives
  }

  async #running(task_id: string): Promise<string | null> {
    const life = this.#lives(task_id).at(-1) ?? task_id
    const seen = await this.#options.processes.observe(life)
    return seen.state === 'running' ? life : null
  }

  async #lost(task_id: string): Promise<LegState & { state: 'failed' }> {
    const life = this.#lives(task_id).at(-1) ?? task_id
    const range = { stream: 'stderr' as const, max_bytes: 300, tail: true }
    const said = (await this.#options.processes.output(life, range)).text.trim()
    const message = `its driver is gone${said === '' ? '' : `: ${said}`}`
    return { state: 'failed', code: 'driver_lost', message }
  }

  #started(place: AcpPlace): Promise<string> {
    const { task_id } = place
    const known = this.#starting.get(task_id)
    if (known) return known
    const starting = this.#start(place).finally(() => this.#starting.delete(task_id))
    this.#starting.set(task_id, starting)
    return starting
  }

  async #start(place: AcpPlace): Promise<string> {
    const { processes, tasks_folder, node = process.execPath } = this.#options
    const { task_id, workdir } = place
    const folder = join(tasks_folder, task_id)
    const lives = this.#lives(task_id)
    let life = lives.at(-1) ?? task_id
    const seen = await processes.observe(life)
    if (seen.state === 'running') return life
    if (existsSync(join(folder, STOPPED))) {
      throw new ProcessFault('not_running', `${task_id} was stopped`, 'never')
    }
    if (seen.state !== 'absent') {
      if (lives.length >= ACP_LIVES) {
        const said = `${task_id} has had ${ACP_LIVES} drivers, and the last one ended as well`
        throw new ProcessFault('not_running', said, 'never')
      }
      life = lifeOf(task_id, lives.length + 1)
    }
    const settings = join(folder, `${life}.settings.json`)
    const words = [node, this.#options.driver ?? besideThis(), settings, folder]
    const cmd = `exec ${words.map(quoted).join(' ')}`
    const spec: CommandSpec = {
      task_id: life,
      cmd,
      workdir,
      env: {},
      timeout_ms: null,
      stdin: 'pipe',
      // A program of the operator's own choice, which talks to a provider of its own.
      confine: 'unconfined',
    }
    // The first life's folder is the journal's: it is made before the settings are put into it.
    if (life === task_id) await processes.prepare(spec)
    await replaceFile(folder, basename(settings), JSON.stringify(this.#settings(place)), 0o600)
    if (life !== task_id) await processes.prepare(spec)
    await processes.start(life)
    return life
  }

  #settings({ program, workdir }: AcpPlace): DriveSettings {
    const { parent_env, start_ms, silence_ms, prompt_ms, cancel_ms } = this.#options
    const { command, args } = program
    return {
      program: { command, args, env: childEnvironment(program.env, parent_env), workdir },
      start_ms: start_ms ?? ACP_START_MS,
      silence_ms: silence_ms ?? ACP_SILENCE_MS,
      prompt_ms: prompt_ms ?? ACP_PROMPT_MS,
      cancel_ms: cancel_ms ?? ACP_CANCEL_MS,
    }
  }
}

const lifeOf = (task_id: string, n: number): string => (n === 1 ? task_id : `${task_id}.${n}`)
