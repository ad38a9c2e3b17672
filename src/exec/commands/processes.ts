/**
 * Commands that outlive the daemon: the real `Processes`. The contract is in `exec/ports.ts`, the
 * shell around each command in `runner-script.ts`. This file only joins the parts.
 */
import { mkdirSync } from 'node:fs'
import type { StartPlace } from '../../domain/start-place.ts'
import { Confinement, type ConfinementOptions, networkOf } from './confinement.ts'
import { withCaches } from './caches.ts'
import { childEnvironment } from '../environment.ts'
import { Doors } from '../hosts/doors.ts'
import { daemonNet } from '../hosts/net.ts'
import { giveInput } from './input.ts'
import { type ObservePorts, observeTask, treeOf, untilEnded } from './observe.ts'
import { readOutput, writtenAt } from './output.ts'
import type {
  Clock,
  CommandCaps,
  CommandSpec,
  ConfinementState,
  Processes,
  StopOutcome,
  TaskProcess,
} from '../ports.ts'
import { processFault, ProcessFault } from './process-fault.ts'
import { findProgram, type NodeProgram, programBeside } from '../program.ts'
import { personsUmask } from '../umask.ts'
import { type ProcessTable, processTable } from './process-table.ts'
import { Spawner } from './spawner.ts'
import { startPlace } from './start-place.ts'
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
import { terminalProblem } from './terminal-program.ts'
import { Watch } from './watch.ts'

/**
 * `tasks_folder` is absolute. `parent_env` is the daemon's environment, of which commands see the
 * allow-list and the names in `pass`; `caps` hold for every command. `shell` runs commands and the
 * spawner; `setsid` gives each command its own session, and null only its own group (what a system
 * without setsid gets); `terminal` makes terminals, `reader` keeps output, `place` is what a start
 * is committed under. The defaults are found on this machine.
 */
export type ProcessesOptions = {
  tasks_folder: string
  clock: Clock
  parent_env: Readonly<Record<string, string | undefined>>
  pass?: readonly string[]
  caps?: CommandCaps
  terminal?: NodeProgram
  reader?: NodeProgram
  confinement?: ConfinementOptions
  shell?: string
  setsid?: string | null
  table?: ProcessTable
  place?: () => StartPlace
}

/** What `prepare` needs beside the command. */
type Making = {
  options: ProcessesOptions
  terminal: NodeProgram
  confinement: Confinement | null
  doors: Doors | null
}

type Room = {
  machine: ObservePorts
  spawner: Spawner
  watch: Watch
  folderOf: FolderOf
  doors: Doors | null
}
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
  const { kind } = table
  const spawner = new Spawner({
    tasks_folder,
    shell,
    setsid,
    kind,
    path,
    clock,
    reader: options.reader ?? programBeside('output-reader', import.meta.url),
    onClaimed: (task_id) => watch.begun(task_id),
    onEnded: (task_id) => watch.told(task_id),
  })
  const watch = new Watch(folderOf, machine, (task_id) => spawner.read(task_id))
  const terminal = options.terminal ?? programBeside('terminal', import.meta.url)
  let problem: Promise<string | null> | null = null
  const asked = options.confinement
  const confinement = asked === undefined ? null : new Confinement(asked, { path, shell })
  const doors = doorsOf(asked, clock)
  const making: Making = { options, terminal, confinement, doors }
  const room: Room = { machine, spawner, watch, folderOf, doors }

  return {
    prepare: (spec) => prepare(folderOf(spec.task_id), spec, making),
    start: (task_id) => start(room, task_id),
    place: options.place ?? (() => startPlace(tasks_folder)),
    observe: async (task_id) => observeTask(folderOf(task_id), machine),
    ended: async (task_id, signal) => {
      if (doors !== null) await openDoor(room, doors, task_id)
      return watch.ended(task_id, signal)
    },
    output: async (task_id, range) => readOutput(folderOf(task_id)[range.stream], range),
    output_at: (task_id) => outputAt(folderOf(task_id)),
    stdin_of: (task_id) => stdinOf(folderOf(task_id)),
    input: async (task_id, text, given) =>
      giveInput(folderOf(task_id), machine, text, given?.end ?? false),
    terminal_problem: () => (problem ??= terminalProblem(terminal, path)),
    confinement: () => confinementOf(confinement, asked),
    stop: (task_id, grace_ms) => stop(room, task_id, grace_ms),
    close: async () => {
      spawner.close()
      watch.close()
      await doors?.close()
    },
    spawnerPid: () => spawner.pid,
  }
}

function doorsOf(asked: ConfinementOptions | undefined, clock: Clock): Doors | null {
  if (asked === undefined || typeof asked.network === 'string') return null
  const { gate, net = daemonNet } = asked.network
  return new Doors({ gate, net, clock })
}

function outputAt({ stdout, stderr }: TaskFolder): number | null {
  const times = [writtenAt(stdout), writtenAt(stderr)].filter((at) => at !== null)
  return times.length === 0 ? null : Math.max(...times)
}

async function confinementOf(
  confinement: Confinement | null,
  asked: ConfinementOptions | undefined,
): Promise<ConfinementState> {
  if (confinement === null || asked === undefined) return { state: 'off' }
  const { network, whom } = asked
  const why = await confinement.problem()
  if (why === null) return { state: 'on', network: networkOf(network), whom }
  return { state: whom === 'everyone' ? 'unavailable' : 'missing', why }
}

const cannotBeConfined = (why: string): ProcessFault =>
  new ProcessFault(
    'unconfined',
    `commands are to be confined, and this one cannot be: ${why}`,
    'never',
  )

/** The script that shuts the command in; null: it is not to be. */
async function confined(
  folder: TaskFolder,
  { confine, workdir }: CommandSpec,
  { confinement, options }: Pick<Making, 'confinement' | 'options'>,
): Promise<string | null> {
  if (confinement === null || confine === 'unconfined') return null
  if (confine === undefined) throw cannotBeConfined('nothing says what it may touch')
  const problem = await confinement.problem()
  if (problem !== null) {
    if (options.confinement?.whom === 'models') return null
    throw cannotBeConfined(problem)
  }
  return confinement.script(confine, folder.path, workdir)
}

async function prepare(folder: TaskFolder, spec: CommandSpec, making: Making): Promise<void> {
  const { options, terminal, doors } = making
  const problem = problemOf(spec)
  if (problem) throw new ProcessFault('invalid_command', problem, 'never')
  const declared = { pass: options.pass ?? [], set: spec.env }
  const env = { ...childEnvironment(declared, options.parent_env), HOLON_TASK_ID: spec.task_id }
  const caps = { ...options.caps, ...spec.caps }
  try {
    const script = await confined(folder, spec, making)
    const within = script === null ? env : withCaches(env, options.confinement?.writable ?? [])
    const umask = personsUmask()
    const settings = { ...spec, env: within, caps, umask, confined: script !== null }
    writeFolder(folder, spec.cmd, settings, terminal, script)
    if (script !== null && typeof spec.confine === 'object') {
      doors?.make(folder.path, spec.confine.agent_id)
    }
  } catch (error) {
    throw processFault(error, `cannot write ${folder.path}`)
  }
}

async function start(room: Room, task_id: string): Promise<void> {
  const { doors, watch, folderOf } = room
  if (doors === null) return begin(room, task_id)
  const { path } = folderOf(task_id)
  try {
    // What it connects to is there before it is.
    await doors.open(path)
    await begin(room, task_id)
  } catch (error) {
    await doors.shut(path)
    throw processFault(error, `cannot open the door of ${path}`)
  }
  shutAtEnd(doors, path, watch.ended(task_id, never))
}

/** Of a command that an earlier daemon started. */
async function openDoor({ watch, folderOf }: Room, doors: Doors, task_id: string): Promise<void> {
  const { path } = folderOf(task_id)
  try {
    if (!(await doors.open(path))) return
  } catch (error) {
    throw processFault(error, `cannot open the door of ${path}`)
  }
  shutAtEnd(doors, path, watch.ended(task_id, never))
}

const never = new AbortController().signal

/** How it ended, or that it is not followed any more, is told to whoever asked. */
function shutAtEnd(doors: Doors, path: string, end: Promise<TaskProcess>): void {
  const shut = () => doors.shut(path)
  void end.then(shut, shut)
}

async function begin({ spawner, watch, folderOf }: Room, task_id: string): Promise<void> {
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
