/**
 * Giving input to a running command, by a FIFO in its folder, so that any process can at any time.
 *
 * The runner makes it as `stdin.new`; it is called `stdin` once its reader is there. Of a pipe the
 * runner's keeper holds the writing end, so that the command sees no end between two writers. To
 * end a pipe, its name is removed, so that nobody writes behind the end, and the keeper is told to
 * let go by a line in the FIFO `end`. A terminal's input ends as people end it: by Ctrl-D.
 *
 * Pieces of `INPUT_CHUNK_BYTES` are taken whole or not at all, so what was taken is always known.
 */
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import {
  INPUT_CHECK_MS,
  INPUT_CHUNK_BYTES,
  INPUT_MAX_BYTES,
  INPUT_READY_MS,
  INPUT_ROOM_MS,
  TERMINAL_LINE_BYTES,
} from '../limits.ts'
import { type ObservePorts, observeTask } from './observe.ts'
import type { StdinMode } from '../ports.ts'
import { processFault, ProcessFault, type ProcessFaultCode } from './process-fault.ts'
import { isCode, stdinOf, type TaskFolder } from './task-folder.ts'

/** Contract: `Processes.input` in `exec/ports.ts`. */
export async function giveInput(
  folder: TaskFolder,
  machine: ObservePorts,
  text: string,
  end: boolean,
): Promise<void> {
  await mustRun(folder, machine)
  const mode = stdinOf(folder)
  switch (mode) {
    case 'none':
      throw refused(`${folder.path} was started without input`, 'never')
    case 'terminal':
      return write(folder, machine, mode, end ? text + ctrlD(text) : text)
    case 'pipe':
      if (text !== '') await write(folder, machine, mode, text)
      if (end) await endPipe(folder, machine)
  }
}

/** In the middle of a line the first one only sends what was typed so far. */
const ctrlD = (text: string): string => (text === '' || text.endsWith('\n') ? '\x04' : '\x04\x04')

async function mustRun(folder: TaskFolder, machine: ObservePorts): Promise<void> {
  if ((await observeTask(folder, machine)).state === 'running') return
  throw new ProcessFault('not_running', `${folder.path} is not running`, 'never')
}

async function write(
  folder: TaskFolder,
  machine: ObservePorts,
  mode: StdinMode,
  text: string,
): Promise<void> {
  const bytes = Buffer.from(text)
  const problem = tooLong(bytes, mode)
  if (problem) throw new ProcessFault('input_too_long', problem, 'never')
  await ready(folder, machine, mode)
  const fifo = openToWrite(folder.stdin)
  if (fifo === null) throw refused('the command has closed its input', 'never')
  try {
    await writeAll(fifo, bytes, machine)
  } finally {
    closeSync(fifo)
  }
}

function tooLong(bytes: Buffer, mode: StdinMode): string | null {
  if (bytes.length > INPUT_MAX_BYTES) {
    return `the input is ${bytes.length} bytes; the limit is ${INPUT_MAX_BYTES} at a time`
  }
  if (mode !== 'terminal') return null
  for (let from = 0; from < bytes.length;) {
    const line_end = bytes.subarray(from).findIndex((byte) => byte === 10 || byte === 13)
    const length = line_end < 0 ? bytes.length - from : line_end
    if (length > TERMINAL_LINE_BYTES) {
      return `a line of the input is ${length} bytes; a terminal takes ${TERMINAL_LINE_BYTES}`
    }
    from += length + 1
  }
  return null
}

/** Resolves once the reader is there. */
async function ready(folder: TaskFolder, machine: ObservePorts, mode: StdinMode): Promise<void> {
  const until = machine.clock.monotonic() + INPUT_READY_MS
  while (!existsSync(folder.stdin)) {
    if (mode === 'pipe' && wasEnded(folder)) {
      throw new ProcessFault('input_ended', 'its input was ended before', 'never')
    }
    await mustRun(folder, machine)
    if (machine.clock.monotonic() >= until) throw refused('it is not ready for input', 'later')
    await machine.clock.sleep(INPUT_CHECK_MS)
  }
}

/** The FIFO goes from `stdin.new` to `stdin` to nothing; `end` is made behind the first. */
const wasEnded = (folder: TaskFolder): boolean =>
  existsSync(folder.end) && !existsSync(folder.stdin_new) && !existsSync(folder.stdin)

/** Null when nobody reads there any more. */
function openToWrite(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (isCode(error, 'ENXIO') || isCode(error, 'ENOENT')) return null
    throw processFault(error, `cannot open ${path}`)
  }
}

async function writeAll(fifo: number, bytes: Buffer, { clock }: ObservePorts): Promise<void> {
  const until = clock.monotonic() + INPUT_ROOM_MS
  for (let taken = 0; taken < bytes.length;) {
    try {
      taken += writeSync(fifo, bytes.subarray(taken, taken + INPUT_CHUNK_BYTES))
    } catch (error) {
      const gone = isCode(error, 'EPIPE')
      if (!gone && !isCode(error, 'EAGAIN')) throw error
      if (!gone && clock.monotonic() < until) await clock.sleep(INPUT_CHECK_MS)
      else throw notTaken(taken, bytes.length, gone)
    }
  }
}

function notTaken(taken: number, of: number, gone: boolean): ProcessFault {
  const why = gone ? 'the command has closed its input' : 'the command does not read its input'
  if (taken === 0) return refused(why, gone ? 'never' : 'later')
  const said = `${why}: the first ${taken} of ${of} bytes were given to it, the rest was not`
  return fault('input_partly_taken', said, 'never')
}

/** A crash in the middle, and a second call, are no harm: each step is true already or is done. */
async function endPipe(folder: TaskFolder, machine: ObservePorts): Promise<void> {
  if (!wasEnded(folder)) {
    await ready(folder, machine, 'pipe')
    rmSync(folder.stdin, { force: true })
  }
  const end = openToWrite(folder.end)
  if (end === null) return
  try {
    writeSync(end, '\n')
  } catch (error) {
    // The keeper has gone, or has this line already: the input is at its end.
    if (!isCode(error, 'EPIPE') && !isCode(error, 'EAGAIN')) throw error
  } finally {
    closeSync(end)
  }
}

const fault = (code: ProcessFaultCode, message: string, retry: 'later' | 'never') =>
  new ProcessFault(code, message, retry)

const refused = (message: string, retry: 'later' | 'never') =>
  fault('input_refused', message, retry)
