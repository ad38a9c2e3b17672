/**
 * What became of a task, read from its folder and checked against the machine's processes: the
 * same answer in every process, at any time. The contract is `TaskProcess` in `ports.ts`.
 */
import { CLAIM_SETTLES_MS } from './limits.ts'
import type { Clock, TaskProcess } from './ports.ts'
import { ProcessFault } from './process-fault.ts'
import { type ProcessTable, sameProcess } from './process-table.ts'
import type { Identity, RunnerState } from './runner-state.ts'
import { outputSize, readState, stateTimes, type TaskFolder } from './task-folder.ts'

export type Machine = { table: ProcessTable; clock: Clock }

type WholeState = Extract<RunnerState, { claim: 'whole' }>

/** Milliseconds between two looks at what will be there in a moment. */
const MOMENT_MS = 2

export async function observeTask(folder: TaskFolder, machine: Machine): Promise<TaskProcess> {
  const until = machine.clock.monotonic() + CLAIM_SETTLES_MS
  let state = readState(folder)
  // Between the runner's open and its write the file is empty, for microseconds.
  while (state?.claim === 'torn' && machine.clock.monotonic() < until) {
    await machine.clock.sleep(MOMENT_MS)
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
      return observeClaimed(folder, state, machine.table)
  }
}

async function observeClaimed(
  folder: TaskFolder,
  state: WholeState,
  table: ProcessTable,
): Promise<TaskProcess> {
  if (state.end) return ended(folder, state.end)
  const pid = state.command?.pid ?? state.runner.pid
  if (await someoneLives(state, table)) {
    const { started_at } = stateTimes(folder)
    return { state: 'running', pid, started_at, output: outputSize(folder) }
  }
  // It may have written its last lines, and gone, since the file was read.
  const again = readState(folder)
  if (again?.claim === 'whole') {
    if (again.end) return ended(folder, again.end)
    if (!state.command && again.command) return observeClaimed(folder, again, table)
  }
  return { state: 'lost', pid, output: outputSize(folder) }
}

function ended(folder: TaskFolder, end: NonNullable<WholeState['end']>): TaskProcess {
  return { state: 'ended', ...end, ...stateTimes(folder), output: outputSize(folder) }
}

/** The runner, or the command it left behind when it was killed. */
async function someoneLives(state: WholeState, table: ProcessTable): Promise<boolean> {
  if (state.kind !== table.kind || state.boot !== table.boot) return false
  for (const one of [state.runner, state.command]) {
    if (one && sameProcess(await table.identity(one.pid), one)) return true
  }
  return false
}

/**
 * The command's process, null when it has none (any more than a number that may be another's).
 * Waits for a runner that has claimed the folder and is just about to begin the command.
 */
export async function commandOf(folder: TaskFolder, machine: Machine): Promise<Identity | null> {
  const { table, clock } = machine
  const until = clock.monotonic() + CLAIM_SETTLES_MS
  for (;;) {
    const state = readState(folder)
    if (state?.claim !== 'whole' || state.boot !== table.boot) return null
    const comes = !state.command && !state.end && (await someoneLives(state, table))
    if (!comes || clock.monotonic() >= until) return state.command
    await clock.sleep(MOMENT_MS)
  }
}

/** Resolves when the task no longer runs; gives up after `CLAIM_SETTLES_MS`. */
export async function untilEnded(folder: TaskFolder, machine: Machine): Promise<void> {
  const until = machine.clock.monotonic() + CLAIM_SETTLES_MS
  while (machine.clock.monotonic() < until) {
    if ((await observeTask(folder, machine)).state !== 'running') return
    await machine.clock.sleep(MOMENT_MS)
  }
}
