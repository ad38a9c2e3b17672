/**
 * What became of a task, read from its folder and checked against the machine's processes: the
 * same answer in every process, at any time. The contract is `TaskProcess` in `exec/ports.ts`.
 */
import { statSync } from 'node:fs'
import { CLAIM_SETTLES_MS, OUTPUT_AFTER_END_MS, READER_OPENS_MS } from '../limits.ts'
import type { Clock, TaskProcess } from '../ports.ts'
import { ProcessFault } from './process-fault.ts'
import { type ProcessTable, sameProcess } from './process-table.ts'
import type { RunnerState } from './runner-state.ts'
import type { ProcessTree } from './stop.ts'
import { outputSize, readState, stateTimes, type TaskFolder } from './task-folder.ts'

export type ObservePorts = { table: ProcessTable; clock: Clock }

type WholeState = Extract<RunnerState, { claim: 'whole' }>

/** Milliseconds between two looks at what will be there in a moment. */
const MOMENT_MS = 2

export async function observeTask(folder: TaskFolder, machine: ObservePorts): Promise<TaskProcess> {
  const until = machine.clock.monotonic() + CLAIM_SETTLES_MS
  let state = readState(folder)
  // Between the runner's open and its write the file is empty, for microseconds.
  for (; state?.claim === 'torn' && machine.clock.monotonic() < until; state = readState(folder)) {
    await machine.clock.sleep(MOMENT_MS)
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
      return observeClaimed(folder, state, machine)
  }
}

async function observeClaimed(
  folder: TaskFolder,
  state: WholeState,
  machine: ObservePorts,
): Promise<TaskProcess> {
  const { table } = machine
  if (state.end) return ended(folder, state.end)
  const pid = (state.session ?? state.command ?? state.runner).pid
  if (await someoneLives(state, table)) {
    const { started_at } = stateTimes(folder)
    return { state: 'running', pid, started_at, output: outputSize(folder) }
  }
  // It may have written its last lines, and gone, since the file was read.
  const again = readState(folder)
  if (again?.claim === 'whole') {
    if (again.end) return ended(folder, again.end)
    const follows = (!state.command && again.command) || (!state.session && again.session)
    if (follows) return observeClaimed(folder, again, machine)
    await untilRead(folder, again, machine)
  }
  return { state: 'lost', pid, output: outputSize(folder) }
}

function ended(folder: TaskFolder, end: NonNullable<WholeState['end']>): TaskProcess {
  return { state: 'ended', ...end, ...stateTimes(folder), output: outputSize(folder) }
}

/** The runner, or the command it left behind when it was killed. */
async function someoneLives(state: WholeState, table: ProcessTable): Promise<boolean> {
  if (state.kind !== table.kind || state.boot !== table.boot) return false
  for (const one of [state.runner, state.command, state.session]) {
    if (one && sameProcess(await table.identity(one.pid), one)) return true
  }
  return false
}

/**
 * What a stop has to look for. No leaders when the command never had a process (or only numbers
 * that may be another's by now). Waits for a runner that has claimed the folder and is just about
 * to begin the command; one that is held up longer is named, for no scan proves anything before it.
 */
export async function treeOf(
  task_id: string,
  folder: TaskFolder,
  machine: ObservePorts,
): Promise<ProcessTree> {
  const { table, clock } = machine
  const until = clock.monotonic() + CLAIM_SETTLES_MS
  for (;;) {
    const state = readState(folder)
    if (state?.claim !== 'whole' || state.boot !== table.boot) {
      return { task_id, leaders: [], mark: null, begins: null }
    }
    const comes = !state.command && !state.end && (await someoneLives(state, table))
    if (comes && clock.monotonic() < until) {
      await clock.sleep(MOMENT_MS)
      continue
    }
    const begins = comes ? state.runner.pid : null
    const leaders = [state.command, state.session].filter((one) => one !== null)
    // A mark that cannot be looked for proves nothing.
    return { task_id, leaders, mark: table.kind === 'proc' ? state.mark : null, begins }
  }
}

/** Resolves when the task no longer runs; gives up after `CLAIM_SETTLES_MS`. */
export async function untilEnded(folder: TaskFolder, machine: ObservePorts): Promise<void> {
  const until = machine.clock.monotonic() + CLAIM_SETTLES_MS
  while (machine.clock.monotonic() < until) {
    if ((await observeTask(folder, machine)).state !== 'running') return
    await machine.clock.sleep(MOMENT_MS)
  }
}

/** What a command wrote last, before it died without its runner, is on its way to the files. */
async function untilRead(folder: TaskFolder, { reader }: WholeState, machine: ObservePorts) {
  const until = machine.clock.monotonic() + OUTPUT_AFTER_END_MS
  const isReading = async () =>
    reader !== null &&
    statSync(folder.out, { throwIfNoEntry: false }) !== undefined &&
    sameProcess(await machine.table.identity(reader.pid), reader)
  while (machine.clock.monotonic() < until && (await isReading())) {
    await machine.clock.sleep(MOMENT_MS)
  }
}

/** Whether nobody reads what a running command writes: its reader is gone, or never came. */
export async function isUnread(
  folder: TaskFolder,
  { table, clock }: ObservePorts,
): Promise<boolean> {
  const pipe = statSync(folder.out, { throwIfNoEntry: false })
  if (pipe === undefined) return false
  const state = readState(folder)
  if (state?.claim !== 'whole' || state.end || state.boot !== table.boot) return false
  const { reader } = state
  if (reader === null) return clock.now() - pipe.ctimeMs > READER_OPENS_MS
  return !sameProcess(await table.identity(reader.pid), reader)
}
