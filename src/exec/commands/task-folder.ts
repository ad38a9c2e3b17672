/**
 * The folder of one task on disk: making it, claiming it, and reading what its runner wrote. The
 * files are small and local, so they are read synchronously: a thread-pool round trip costs several
 * times the read itself, at every command.
 */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND_MAX_CHARS } from '../limits.ts'
import { sizeOf } from './output.ts'
import type { CommandSpec, OutputSize, StdinMode } from '../ports.ts'
import { processFault, ProcessFault } from './process-fault.ts'
import type { NodeProgram } from '../program.ts'
import { type RunFileSettings, runFile } from './run-file.ts'
import { FORMAT } from './runner-script.ts'
import { parseRunnerState, type RunnerState } from './runner-state.ts'

export type TaskFolder = {
  path: string
  command: string
  confined: string
  run: string
  state: string
  input: string
  stdin: string
  stdin_new: string
  end: string
  /** The pipes of a command that has no terminal, as `runner-script.ts` tells. */
  out: string
  err: string
  hold: string
  told: string
  stdout: string
  stderr: string
}

/** Ids are names of folders and words of the spawner's protocol: no separators, no blanks. */
export function taskFolder(tasks_folder: string, task_id: string): TaskFolder {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(task_id)) {
    throw new ProcessFault('invalid_command', `not a task id: ${JSON.stringify(task_id)}`, 'never')
  }
  const path = join(tasks_folder, task_id)
  const at = (name: string) => join(path, name)
  return {
    path,
    command: at('command'),
    confined: at('confined'),
    run: at('run'),
    state: at('state'),
    input: at('input'),
    stdin: at('stdin'),
    stdin_new: at('stdin.new'),
    end: at('end'),
    out: at('out'),
    err: at('err'),
    hold: at('hold'),
    told: at('told'),
    stdout: at('stdout'),
    stderr: at('stderr'),
  }
}

/** Why a command cannot be run as given, or null. */
export function problemOf(spec: CommandSpec): string | null {
  const { cmd, workdir, timeout_ms } = spec
  if (cmd.includes('\0')) return 'the command contains a NUL character'
  if (cmd.length > COMMAND_MAX_CHARS) return `the command is over ${COMMAND_MAX_CHARS} characters`
  if (!workdir.startsWith('/') || workdir.includes('\0')) return 'workdir is not an absolute path'
  if (timeout_ms !== null && !(timeout_ms > 0)) return 'timeout_ms is not above zero'
  for (const [name, value] of Object.entries(spec.caps ?? {})) {
    if (value === undefined) continue
    if (!Number.isSafeInteger(value) || value < 1) return `the cap ${name} is not a whole number`
  }
  return null
}

/** Makes the folder and its files; leaves a claimed one as it is. */
export function writeFolder(
  folder: TaskFolder,
  cmd: string,
  settings: RunFileSettings,
  terminal: NodeProgram,
  confined: string | null,
): void {
  const made = makeFolder(folder.path)
  if (!made && statSync(folder.state, { throwIfNoEntry: false })) return
  const put = made ? write : replace
  put(folder.command, cmd.endsWith('\n') ? cmd : `${cmd}\n`)
  if (confined !== null) put(folder.confined, confined)
  // Kept beside `run`, which is emptied at the end: what the output is must be known then, too.
  if (settings.stdin !== 'none') put(folder.input, `${settings.stdin}\n`)
  put(folder.run, runFile(settings, terminal))
}

export function stdinOf(folder: TaskFolder): StdinMode {
  try {
    const mode = readFileSync(folder.input, 'utf8').trim()
    return mode === 'pipe' || mode === 'terminal' ? mode : 'none'
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return 'none'
    throw processFault(error, `cannot read ${folder.input}`)
  }
}

/** False when it was there already. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

const write = (path: string, text: string) => writeFileSync(path, text, { mode: 0o600 })

/** Renamed into place: a second `prepare` must not empty a file that a runner is reading. */
function replace(path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  write(draft, text)
  renameSync(draft, path)
}

/** What the runner wrote so far, or null when the folder is not claimed. */
export function readState(folder: TaskFolder): RunnerState | null {
  try {
    return parseRunnerState(readFileSync(folder.state, 'utf8'))
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return null
    throw processFault(error, `cannot read ${folder.state}`)
  }
}

/** Takes the claim in the runner's place, so that none can begin. False: somebody has it. */
export function claimAsStopped(folder: TaskFolder): boolean {
  const lines = [
    `holon-runner ${FORMAT} ps - ${process.pid} stopped before it began`,
    'could_not_start stopped',
    'exit 126',
    '',
  ]
  try {
    writeFileSync(folder.state, lines.join('\n'), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    if (isCode(error, 'ENOENT')) return true // no folder: nothing can start
    throw processFault(error, `cannot claim ${folder.path}`)
  }
}

export function outputSize(folder: TaskFolder): OutputSize {
  return { stdout_bytes: sizeOf(folder.stdout), stderr_bytes: sizeOf(folder.stderr) }
}

/** When the claim was made and when the last line was written, as far as the disk knows. */
export function stateTimes(folder: TaskFolder): { started_at: string; ended_at: string } {
  const { birthtimeMs, mtimeMs } = statSync(folder.state)
  // Some file systems have no birth time and give zero, or the last change.
  const born = birthtimeMs > 0 && birthtimeMs <= mtimeMs ? birthtimeMs : mtimeMs
  return { started_at: new Date(born).toISOString(), ended_at: new Date(mtimeMs).toISOString() }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
