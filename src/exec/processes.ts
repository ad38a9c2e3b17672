/**
 * Commands that outlive the daemon: the real `Processes`. The contract is in `ports.ts`, the shell
 * around each command in `runner-script.ts`. This file only joins them: hand a folder to the
 * spawner, learn of its end, and look after what runs (one timer for all, none when nothing runs).
 */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { childEnvironment } from './environment.ts'
import { ADOPTED_CHECK_MS, CLAIM_SETTLES_MS } from './limits.ts'
import { keepUnderCap, readOutput } from './output.ts'
import type { Clock, CommandSpec, Processes, TaskProcess } from './ports.ts'
import { ProcessFault } from './process-fault.ts'
import { type ProcessTable, processTable, sameProcess } from './process-table.ts'
import type { Identity, RunnerState } from './runner-state.ts'
import { createSpawner } from './spawner.ts'
import { stopTree } from './stop.ts'
import {
  claimAsStopped,
  outputSize,
  problemOf,
  readState,
  stateTimes,
  taskFolder,
  type TaskFolder,
  writeFolder,
} from './task-folder.ts'

/**
 * `tasks_folder` is absolute. `parent_env` is the daemon's environment, of which commands see the
 * allow-list and `pass`. `shell` runs commands and the spawner; `setsid` gives each command its own
 * session, and null only its own group (what a system without setsid gets). The defaults are found
 * on this machine.
 */
export type ProcessesOptions = {
  tasks_folder: string
  clock: Clock
  parent_env: Readonly<Record<string, string | undefined>>
  pass?: readonly string[]
  shell?: string
  setsid?: string | null
  table?: ProcessTable
}

type WholeState = Extract<RunnerState, { claim: 'whole' }>
type Waiter = { resolve(end: TaskProcess): void; reject(error: unknown): void }

export function createProcesses(
  options: ProcessesOptions,
): Processes & { spawnerPid(): number | null } {
  const { tasks_folder, clock, parent_env } = options
  const table = options.table ?? processTable()
  const path = childEnvironment({ pass: [], set: {} }, parent_env)['PATH'] ?? ''
  const shell = options.shell ?? findProgram(['bash', 'sh'], path)
  if (!shell) throw new ProcessFault('no_shell', 'neither bash nor sh was found', 'never')
  const setsid = options.setsid === undefined ? findProgram(['setsid'], path) : options.setsid
  mkdirSync(tasks_folder, { recursive: true, mode: 0o700 })

  /** Tasks to look after: started here, or awaited. A watched task with no waiter is only capped. */
  const watched = new Map<string, Set<Waiter>>()
  let cancelTick: (() => void) | null = null
  let closed = false

  const kind = table.kind
  const onEnded = (task_id: string) => void check(task_id)
  const spawner = createSpawner({ tasks_folder, shell, setsid, kind, path, clock, onEnded })
  const folderOf = (task_id: string) => taskFolder(tasks_folder, task_id)

  async function prepare(spec: CommandSpec): Promise<void> {
    const folder = folderOf(spec.task_id)
    const problem = problemOf(spec)
    if (problem) throw new ProcessFault('invalid_command', problem, 'never')
    const declared = { pass: options.pass ?? [], set: spec.env }
    const env = { ...childEnvironment(declared, parent_env), HOLON_TASK_ID: spec.task_id }
    try {
      writeFolder(folder, spec, env)
    } catch (error) {
      throw new ProcessFault('io', `cannot write ${folder.path}`, 'later', error)
    }
  }

  async function start(task_id: string): Promise<void> {
    const folder = folderOf(task_id)
    // One more try for a spawner that died with the line in its pipe; the claim is exclusive.
    for (const last of [false, true]) {
      if (readState(folder)) break
      const outcome = await spawner.hand(task_id)
      if (outcome === 'claimed') break
      if (outcome === 'refused') {
        if (readState(folder)) break
        throw new ProcessFault('not_prepared', `${folder.path} was not prepared`, 'never')
      }
      if (last && !readState(folder)) {
        throw new ProcessFault('spawner_failed', 'the spawner ended twice', 'later')
      }
    }
    watch(task_id)
  }

  async function observe(task_id: string): Promise<TaskProcess> {
    const folder = folderOf(task_id)
    const until = clock.monotonic() + CLAIM_SETTLES_MS
    let state = readState(folder)
    // Between the runner's open and its write the file is empty, for microseconds.
    while (state?.claim === 'torn' && clock.monotonic() < until) {
      await clock.sleep(2)
      state = readState(folder)
    }
    if (!state) return { state: 'absent' }
    switch (state.claim) {
      case 'torn':
        return { state: 'lost', pid: null, output: outputSize(folder) }
      case 'foreign': {
        const said = `${folder.state} has format ${state.format}, which this version cannot read`
        throw new ProcessFault('foreign_format', said, 'never')
      }
      case 'whole':
        return observeClaimed(folder, state)
    }
  }

  async function observeClaimed(folder: TaskFolder, state: WholeState): Promise<TaskProcess> {
    if (state.end) return endedProcess(folder, state.end)
    const pid = state.command?.pid ?? state.runner.pid
    if (await someoneLives(state)) {
      const { started_at } = stateTimes(folder)
      return { state: 'running', pid, started_at, output: outputSize(folder) }
    }
    // It may have written its last lines, and gone, since the file was read.
    const again = readState(folder)
    if (again?.claim !== 'whole') return { state: 'lost', pid, output: outputSize(folder) }
    if (again.end) return endedProcess(folder, again.end)
    if (!state.command && again.command) return observeClaimed(folder, again)
    return { state: 'lost', pid, output: outputSize(folder) }
  }

  async function someoneLives(state: WholeState): Promise<boolean> {
    if (state.kind !== table.kind || state.boot !== table.boot) return false
    const candidates = [state.runner, ...(state.command ? [state.command] : [])]
    for (const one of candidates) {
      if (sameProcess(await table.identity(one.pid), one)) return true
    }
    return false
  }

  function ended(task_id: string, signal: AbortSignal): Promise<TaskProcess> {
    if (closed) throw new Error('ended after close')
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const waiters = watch(task_id)
      const onAbort = () => waiter.reject(signal.reason)
      const done = () => {
        waiters.delete(waiter)
        signal.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        resolve: (end) => (done(), resolve(end)),
        reject: (error) => (done(), reject(error)),
      }
      waiters.add(waiter)
      signal.addEventListener('abort', onAbort, { once: true })
      void check(task_id)
    })
  }

  function watch(task_id: string): Set<Waiter> {
    const waiters = watched.get(task_id) ?? new Set<Waiter>()
    if (!closed) watched.set(task_id, waiters)
    if (!closed && !cancelTick) cancelTick = clock.after(ADOPTED_CHECK_MS, tick)
    return waiters
  }

  function tick(): void {
    cancelTick = null
    void Promise.all([...watched.keys()].map(check)).then(() => {
      if (!closed && watched.size > 0 && !cancelTick) {
        cancelTick = clock.after(ADOPTED_CHECK_MS, tick)
      }
    })
  }

  /** Looks at one watched task, keeps its output under the cap, and answers its waiters. */
  async function check(task_id: string): Promise<void> {
    const waiters = watched.get(task_id)
    if (!waiters) return
    const folder = folderOf(task_id)
    const answer = (tell: (waiter: Waiter) => void) => {
      if (watched.get(task_id) === waiters) watched.delete(task_id)
      for (const waiter of [...waiters]) tell(waiter)
    }
    try {
      const dropped = (await keepUnderCap(folder.stdout)) + (await keepUnderCap(folder.stderr))
      const seen = await observe(task_id)
      switch (seen.state) {
        case 'running':
          return
        case 'absent': {
          const said = `nobody started ${task_id}`
          return answer((waiter) => waiter.reject(new ProcessFault('not_started', said, 'never')))
        }
        case 'ended':
        case 'lost':
          if (dropped === 0) return answer((waiter) => waiter.resolve(seen))
          // Written while the file was being cut: look once more, with the final sizes.
          return check(task_id)
      }
    } catch (error) {
      const fault = error instanceof ProcessFault
      const said = `cannot look after ${task_id}`
      const reason = fault ? error : new ProcessFault('io', said, 'later', error)
      answer((waiter) => waiter.reject(reason))
    }
  }

  async function input(task_id: string, text: string): Promise<void> {
    const seen = await observe(task_id)
    if (seen.state !== 'running') {
      throw new ProcessFault('not_running', `${task_id} is not running`, 'never')
    }
    try {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK
      const fifo = await open(folderOf(task_id).stdin, flags)
      try {
        await fifo.writeFile(text)
      } finally {
        await fifo.close()
      }
    } catch (error) {
      const said = `${task_id} takes no input, or its buffer is full`
      throw new ProcessFault('input_refused', said, 'later', error)
    }
  }

  async function stop(task_id: string, grace_ms: number) {
    const folder = folderOf(task_id)
    if (!readState(folder) && claimAsStopped(folder)) {
      void check(task_id)
      return { stopped: true } as const
    }
    const before = await observe(task_id)
    const command = before.state === 'absent' ? null : await commandOf(task_id)
    const outcome = await stopTree({ task_id, command }, grace_ms, table, clock)
    if (outcome.stopped && before.state === 'running') await settled(task_id)
    return outcome
  }

  /** The command's process; waits for a runner that claimed and is just about to begin it. */
  async function commandOf(task_id: string): Promise<Identity | null> {
    const until = clock.monotonic() + CLAIM_SETTLES_MS
    for (;;) {
      const state = readState(folderOf(task_id))
      if (state?.claim !== 'whole' || state.boot !== table.boot) return null
      const pending = !state.command && !state.end && (await someoneLives(state))
      if (!pending || clock.monotonic() >= until) return state.command
      await clock.sleep(2)
    }
  }

  /** The tree is gone; the runner has only its last line to write. */
  async function settled(task_id: string): Promise<void> {
    const until = clock.monotonic() + CLAIM_SETTLES_MS
    while (clock.monotonic() < until && (await observe(task_id)).state === 'running') {
      await clock.sleep(2)
    }
    await check(task_id)
  }

  async function close(): Promise<void> {
    closed = true
    cancelTick?.()
    spawner.close()
    const fault = new ProcessFault('closed', 'the processes of this daemon were closed', 'later')
    for (const waiters of watched.values()) for (const one of [...waiters]) one.reject(fault)
    watched.clear()
  }

  return {
    prepare,
    start,
    observe,
    ended,
    output: (task_id, range) => readOutput(folderOf(task_id)[range.stream], range),
    input,
    stop,
    close,
    spawnerPid: () => spawner.pid(),
  }
}

function endedProcess(folder: TaskFolder, end: NonNullable<WholeState['end']>): TaskProcess {
  return { state: 'ended', ...end, ...stateTimes(folder), output: outputSize(folder) }
}

/** The first of `names` that can be executed, as an absolute path; null when there is none. */
export function findProgram(names: readonly string[], path: string): string | null {
  const folders = ['/bin', '/usr/bin', '/usr/local/bin', ...path.split(':').filter(isAbsolute)]
  for (const name of names) {
    for (const folder of folders) {
      const candidate = join(folder, name)
      try {
        accessSync(candidate, constants.X_OK)
        return candidate
      } catch {
        // Not here: the next folder.
      }
    }
  }
  return null
}
