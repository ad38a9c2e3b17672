/**
 * The daemon's end of the spawner: starts it when there is none, hands task ids to it, and passes
 * its notices on. A spawner that died is replaced at the next start; the runners it left go on and
 * keep reporting by the old pipe, which is read until the last of them has closed it.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { HAND_OVER_MS } from '../limits.ts'
import type { Clock } from '../ports.ts'
import { ProcessFault } from './process-fault.ts'
import type { NodeProgram } from '../program.ts'
import { type IdentityKind, spawnerLoader, spawnerScript } from './runner-script.ts'

/** `refused`: the folder is claimed already, or does not exist. `died`: the spawner ended first. */
export type HandOver = 'claimed' | 'refused' | 'died'

/** Called for every task of this spawner that a runner claims, and whose runner reached its end. */
export type SpawnerOptions = {
  tasks_folder: string
  shell: string
  setsid: string | null
  kind: IdentityKind
  path: string
  clock: Clock
  reader: NodeProgram
  onClaimed: (task_id: string) => void
  onEnded: (task_id: string) => void
}

type Child = ChildProcessByStdio<Writable, Readable, null>
type Reader = ChildProcessByStdio<Writable, null, null>
type Pending = { child: Child; settle: (outcome: HandOver | ProcessFault) => void }

export class Spawner {
  readonly #options: SpawnerOptions
  /** Ids handed over and not yet answered; the same id may be there several times. */
  readonly #pending = new Map<string, Pending[]>()
  /** Children whose notices still come, the current one among them. */
  readonly #reading = new Set<Child>()
  #current: Child | null = null
  /** Reads the output of what the current spawner starts. */
  #reader: Reader | null = null

  constructor(options: SpawnerOptions) {
    this.#options = options
  }

  get pid(): number | null {
    return this.#current?.pid ?? null
  }

  /**
   * What became of the id. Rejects with a `spawner_failed` fault when the spawner stays silent for
   * `HAND_OVER_MS`.
   */
  async hand(task_id: string): Promise<HandOver> {
    const child = (this.#current ??= this.#launch())
    return new Promise((resolve, reject) => {
      const settle = (outcome: HandOver | ProcessFault) => {
        cancel()
        this.#forget(task_id, entry)
        if (outcome instanceof ProcessFault) reject(outcome)
        else resolve(outcome)
      }
      const cancel = this.#options.clock.after(HAND_OVER_MS, () => {
        // It may be stopped or starved; a new one costs little, and the claim is exclusive.
        if (this.#current === child) this.#retire()
        const said = `the spawner did not take ${task_id} within ${HAND_OVER_MS} ms`
        settle(new ProcessFault('spawner_failed', said, 'later'))
      })
      const entry = { child, settle }
      this.#pending.set(task_id, [...(this.#pending.get(task_id) ?? []), entry])
      child.stdin.write(`${task_id}\n`)
    })
  }

  /** A task whose reader is gone has another one from now on. Telling twice is nothing. */
  read(task_id: string): void {
    this.#current ??= this.#launch()
    this.#reader?.stdin.write(`${task_id}\n`)
  }

  close(): void {
    this.#retire()
    for (const child of this.#reading) child.stdout.destroy()
  }

  #forget(task_id: string, entry: Pending): void {
    const left = (this.#pending.get(task_id) ?? []).filter((one) => one !== entry)
    if (left.length > 0) this.#pending.set(task_id, left)
    else this.#pending.delete(task_id)
  }

  /** Who has a spawner and a reader goes on; both end when what they look after has ended. */
  #retire(): void {
    this.#current?.stdin.end()
    this.#current = null
    // Others hold the same socket: only our end is closed, and nothing shut down.
    this.#reader?.stdin.destroy()
    this.#reader = null
  }

  #launchReader(): Reader {
    const { reader, tasks_folder, kind, path } = this.#options
    const child: Reader = spawn(reader.node, [reader.script, tasks_folder, kind], {
      detached: true,
      cwd: '/',
      env: { PATH: path },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    if ((child.stdin as Writable | undefined) === undefined) throw noDescriptors(child)
    // What it left unread is given to the next one; who is told of a task by this spawner never is.
    const gone = () => {
      if (this.#reader === child) this.#retire()
    }
    child.on('error', gone).on('exit', gone)
    child.stdin.on('error', gone)
    if (child.pid === undefined) {
      const said = `the program that reads the output of commands, ${reader.node}, cannot be run`
      throw new ProcessFault('spawner_failed', said, 'later')
    }
    child.unref()
    if (child.stdin instanceof Socket) child.stdin.unref()
    return child
  }

  #launch(): Child {
    const { shell, setsid, kind, tasks_folder, path } = this.#options
    const reader = this.#launchReader()
    this.#reader = reader
    const norc = shell.endsWith('bash') ? ['--norc'] : []
    const loader = [...norc, '-c', spawnerLoader, 'holon-spawner']
    const child = spawn(shell, [...loader, tasks_folder, shell, setsid ?? ''], {
      detached: true,
      cwd: '/',
      // bash would read ~/.bashrc when its input is a socket and SHLVL is not set.
      env: { PATH: path, SHLVL: '1' },
      stdio: ['pipe', 'pipe', 'ignore', 'ignore', reader.stdin],
    }) as Child
    if ((child.stdin as Writable | undefined) === undefined) {
      this.#retire()
      throw noDescriptors(child)
    }
    this.#reading.add(child)
    const gone = () => this.#gone(child)
    child.on('error', gone).on('exit', gone)
    // A write to a spawner that just died; its `exit` says so to whoever waits.
    child.stdin.on('error', gone)
    child.stdout.on('error', gone).on('close', () => this.#reading.delete(child))
    readLines(child.stdout, (line) => this.#notice(line))
    child.stdin.write(spawnerScript(kind))
    // What keeps the daemon alive is what it waits for, not its spawner.
    child.unref()
    for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref()
    return child
  }

  #gone(child: Child): void {
    if (this.#current === child) this.#retire()
    for (const waiting of this.#pending.values()) {
      for (const one of waiting) if (one.child === child) one.settle('died')
    }
  }

  #notice(line: string): void {
    const [word = '', id = ''] = line.split(' ')
    if (word === 'claimed') this.#options.onClaimed(id)
    if (word === 'claimed' || word === 'refused') this.#pending.get(id)?.[0]?.settle(word)
    else if (word === 'ended') this.#options.onEnded(id)
    else throw new Error(`the spawner said ${JSON.stringify(line)}`)
  }
}

/** Without a descriptor Node gives back a child that has no streams, and says why in its error. */
function noDescriptors(child: Child | Reader): ProcessFault {
  child.on('error', () => {})
  const said = 'the system is out of open files: no command can be started'
  return new ProcessFault('scarce', said, 'later')
}

/** Calls `line` for every whole line; what is left without a newline at the end was torn. */
function readLines(stream: Readable, line: (text: string) => void) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const one of lines) line(one)
  })
}
