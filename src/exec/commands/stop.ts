/**
 * Ending a command's whole tree, with proof. A process belongs to a task when it is in the
 * command's group or session (or that of its terminal), when it descends from one that does, when
 * it carries the task's id in its environment (a daemon that left the session still does), or when
 * it carries the task's mark, which outlives even a cleared environment. TERM, grace, KILL, and a
 * scan after each: only an empty scan counts, and what it covers is said with it (`StopProof`).
 */
import { KILL_SETTLES_MS, STOP_CHECK_MS } from '../limits.ts'
import type { Clock, StopOutcome } from '../ports.ts'
import { signalled } from '../signalled.ts'
import { type ProcessRow, type ProcessTable, sameProcess } from './process-table.ts'
import type { Identity } from './runner-state.ts'

/**
 * `leaders` lead a group or a session of the task; `mark` is null where there are no marks.
 * `begins` is a runner that lives and has not begun the command: it will when it goes on.
 */
export type ProcessTree = {
  task_id: string
  leaders: readonly Identity[]
  mark: string | null
  begins: number | null
}

/** Every live process of the task, the runner not among them. */
export async function processesOf(tree: ProcessTree, table: ProcessTable): Promise<ProcessRow[]> {
  const rows = await table.rows()
  // Once the number belongs to another process, its group and session are not the task's.
  const ours = tree.leaders.filter((leader) => {
    const holder = rows.find((row) => row.pid === leader.pid) ?? null
    return holder === null || sameProcess(holder, leader)
  })
  const numbers = new Set(ours.map((leader) => leader.pid))
  const belongs = async (row: ProcessRow) =>
    [row.pid, row.group, row.session].some((number) => numbers.has(number)) ||
    (await table.carries(row.pid, 'HOLON_TASK_ID', tree.task_id)) ||
    (tree.mark !== null && (await table.marked(row.pid, tree.mark)))
  const verdicts = await Promise.all(rows.map(belongs))
  const members = new Set(rows.filter((_, index) => verdicts[index]).map((row) => row.pid))
  for (let before = -1; before !== members.size;) {
    before = members.size
    for (const row of rows) if (members.has(row.parent)) members.add(row.pid)
  }
  members.delete(process.pid)
  return rows.filter((row) => members.has(row.pid))
}

export async function stopTree(
  tree: ProcessTree,
  grace_ms: number,
  table: ProcessTable,
  clock: Clock,
): Promise<StopOutcome> {
  if (tree.begins !== null) return { stopped: false, survivors: [tree.begins] }
  const gone: StopOutcome = { stopped: true, proof: tree.mark === null ? 'scanned' : 'marked' }
  let left = await processesOf(tree, table)
  if (left.length === 0) return gone
  left = await signalUntilGone('SIGTERM', grace_ms)
  if (left.length > 0) left = await signalUntilGone('SIGKILL', KILL_SETTLES_MS)
  if (left.length === 0) return gone
  return { stopped: false, survivors: left.map((row) => row.pid) }

  /** Signals whoever is there; TERM once per process, KILL at every look, to catch forks. */
  async function signalUntilGone(signal: 'SIGTERM' | 'SIGKILL', within_ms: number) {
    const until = clock.monotonic() + within_ms
    const told = new Set<string>()
    for (;;) {
      const rows = await processesOf(tree, table)
      for (const row of rows) {
        const key = `${row.pid} ${row.started}`
        if (signal === 'SIGTERM' && told.has(key)) continue
        told.add(key)
        send(row.pid, signal)
        // A stopped process takes TERM only once it goes on.
        if (signal === 'SIGTERM') send(row.pid, 'SIGCONT')
      }
      if (rows.length === 0 || clock.monotonic() >= until) return rows
      await clock.sleep(Math.min(STOP_CHECK_MS, Math.max(1, until - clock.monotonic())))
    }
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    signalled(pid, signal)
  } catch (error) {
    // Another user's; the scan names it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) throw error
  }
}
