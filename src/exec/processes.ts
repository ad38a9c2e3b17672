/**
 * Commands that outlive the daemon: the real `Processes`. The contract is in `ports.ts`, the shell
 * around each command in `runner-script.ts`. This file only joins the parts.
 */
import { accessSync, constants, mkdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { childEnvironment } from './environment.ts'
import { giveInput } from './input.ts'
import { type Machine, observeTask, treeOf, untilEnded } from './observe.ts'
import { readOutput, writtenAt } from './output.ts'
import type { Clock, CommandCaps, CommandSpec, Processes, StopOutcome } from './ports.ts'
import { ProcessFault } from './process-fault.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import type { TerminalProgram } from './run-file.ts'
import { Spawner } from './spawner.ts'
import { stopTree } from './stop.ts'
import {
  claimAsStopped,
  problemOf,
  readState,
  stdinOf,
  type TaskFolder,
  taskFolder,
  writeFolder,
} from './task-folder.ts'
import { terminalProblem, terminalProgram } from './terminal-program.ts'
import { Watch } from './watch.ts'

/**
 * `tasks_folder` is absolute. `parent_env` is the daemon's environment, of which commands see the
 * allow-list and the names in `pass`; `caps` hold for every command. `shell` runs commands and the
 * spawner; `setsid` gives each command its own session, and null only its own group (what a system
 * without setsid gets); `terminal` makes terminals. The defaults are found on this machine.
 */
export type ProcessesOptions = {
  tasks_folder: string
  clock: Clock
  parent_env: Readonly<Record<string, string | undefined>>
  pass?: readonly string[]
  caps?: CommandCaps
  terminal?: TerminalProgram
  shell?: string
  setsid?: string | null
  table?: ProcessTable
}

type Room = { machine: Machine; spawner: Spawner; watch: Watch; folderOf: FolderOf }
type FolderOf = (task_id: string) => TaskFolder

/** Throws `no_shell` when the machine has neither bash nor sh. `spawnerPid` is for inspection. */
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

  const machine = { table, clock }
  const folderOf = (task_id: string) => taskFolder(tasks_folder, task_id)
  const watch = new Watch(folderOf, machine)
  const { kind } = table
  const spawner = new Spawner({
    tasks_folder,
    shell,
    setsid,
    kind,
    path,
    clock,
    onClaimed: (task_id) => watch.begun(task_id),
    onEnded: (task_id) => watch.told(task_id),
  })
  const room: Room = { machine, spawner, watch, folderOf }
  const terminal = options.terminal ?? terminalProgram()
  let problem: Promise<string | null> | null = null

  return {
    prepare: async (spec) => prepare(folderOf(spec.task_id), spec, options, terminal),
    start: (task_id) => start(room, task_id),
    observe: async (task_id) => observeTask(folderOf(task_id), machine),
    ended: async (task_id, signal) => watch.ended(task_id, signal),
    output: async (task_id, range) => readOutput(folderOf(task_id)[range.stream], range),
    output_at: (task_id) => outputAt(folderOf(task_id)),
    stdin_of: (task_id) => stdinOf(folderOf(task_id)),
    input: async (task_id, text, given) =>
      giveInput(folderOf(task_id), machine, text, given?.end ?? false),
    terminal_problem: () => (problem ??= terminalProblem(terminal, path)),
    stop: (task_id, grace_ms) => stop(room, task_id, grace_ms),
    close: async () => {
      spawner.close()
      watch.close()
    },
    spawnerPid: () => spawner.pid,
  }
}

function outputAt({ stdout, stderr }: TaskFolder): number | null {
  const times = [writtenAt(stdout), writtenAt(stderr)].filter((at) => at !== null)
  return times.length === 0 ? null : Math.max(...times)
}

function prepare(
  folder: TaskFolder,
  spec: CommandSpec,
  options: ProcessesOptions,
  terminal: TerminalProgram,
): void {
  const problem = problemOf(spec)
  if (problem) throw new ProcessFault('invalid_command', problem, 'never')
  const declared = { pass: options.pass ?? [], set: spec.env }
  const env = { ...childEnvironment(declared, options.parent_env), HOLON_TASK_ID: spec.task_id }
  const caps = { ...options.caps, ...spec.caps }
  try {
    writeFolder(folder, spec.cmd, { ...spec, env, caps }, terminal)
  } catch (error) {
    throw new ProcessFault('io', `cannot write ${folder.path}`, 'later', error)
  }
}

async function start({ spawner, watch, folderOf }: Room, task_id: string): Promise<void> {
  const folder = folderOf(task_id)
  // One more try for a spawner that died with the line in its pipe; the claim is exclusive.
  for (let tries = 1; !readState(folder); tries++) {
    const outcome = await spawner.hand(task_id)
    if (outcome === 'claimed') break
    if (outcome === 'refused' && !readState(folder)) {
      throw new ProcessFault('not_prepared', `${folder.path} was not prepared`, 'never')
    }
    if (outcome === 'died' && tries === 2 && !readState(folder)) {
      throw new ProcessFault('spawner_failed', 'the spawner ended twice', 'later')
    }
  }
  watch.add(task_id)
}

async function stop(room: Room, task_id: string, grace_ms: number): Promise<StopOutcome> {
  const { machine, watch, folderOf } = room
  const folder = folderOf(task_id)
  if (!readState(folder) && claimAsStopped(folder)) {
    await watch.look(task_id)
    return { stopped: true, proof: 'never_began' }
  }
  const before = await observeTask(folder, machine)
  const tree = await treeOf(task_id, folder, machine)
  const outcome = await stopTree(tree, grace_ms, machine.table, machine.clock)
  if (outcome.stopped && before.state === 'running') {
    // The tree is gone; the runner has only its last line to write.
    await untilEnded(folder, machine)
    await watch.look(task_id)
  }
  return outcome
}

/** The first of `names` that can be executed, as an absolute path; null when there is none. */
export function findProgram(names: readonly string[], path: string): string | null {
  const folders = ['/bin', '/usr/bin', '/usr/local/bin', ...path.split(':').filter(isAbsolute)]
  for (const name of names) {
    const found = folders.map((folder) => join(folder, name)).find(canExecute)
    if (found) return found
  }
  return null
}

/** Whether this process may execute the file. */
export function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
