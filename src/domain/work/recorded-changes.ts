/**
 * What the calls and commands of an item are recorded to have done to files: in the order in which
 * it was done, each change once. A command is known by looks at the tree before and after it, so
 * what a file tool or another command did meanwhile stands in its difference too.
 */
import type { CallId, TaskId } from '../ids.ts'
import type { Call } from '../state/call.ts'
import type { FileDiff } from '../state/file-diff.ts'
import type { Task } from '../state/task.ts'
import type { Timestamp } from '../time.ts'
import { isSameFile } from './revert.ts'

export type MadeChange = {
  /** Null: a command did it whose call had been answered. */
  call_id: CallId | null
  /** The command that ran meanwhile; null: a file tool did it. */
  task_id: TaskId | null
  at: Timestamp
  diffs: readonly FileDiff[]
}

/** `unseen`: why of a command it is not known, or not all, what it did; one for each. */
export type ChangesMade = { made: MadeChange[]; unseen: string[] }

/** `from`: when the look before it was taken; null: a file tool did it, at once. */
type Seen = MadeChange & { from: Timestamp | null }

export function changesMade({
  calls,
  tasks,
}: {
  calls: readonly Call[]
  tasks: readonly Task[]
}): ChangesMade {
  const seen = [...calls.flatMap(madeByCall), ...tasks.flatMap(madeByTask)]
  const inOrder = seen.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
  const made = inOrder.map((one, at): MadeChange => {
    const { from: _, ...rest } = one
    const before = inOrder.slice(0, at)
    return { ...rest, diffs: one.diffs.filter((diff) => !isToldAlready(diff, one, before)) }
  })
  const unseen = [...calls.map(unseenOfCall), ...tasks.map(unseenOfTask)]
  return { made, unseen: unseen.filter((one) => one !== null) }
}

function madeByCall({ id, task_id, result, started_at, finished_at }: Call): Seen[] {
  if (result?.status !== 'success' || finished_at === null || !result.diffs) return []
  const from = task_id === null ? null : started_at
  return [{ call_id: id, task_id, from, at: finished_at, diffs: result.diffs }]
}

function madeByTask({ id, changes, started_at, ended_at }: Task): Seen[] {
  if (changes === undefined || !('diffs' in changes) || ended_at === null) return []
  return [{ call_id: null, task_id: id, from: started_at, at: ended_at, diffs: changes.diffs }]
}

const unseenOfCall = ({ result }: Call): string | null =>
  result?.status === 'success' ? (result.unseen ?? null) : null

const unseenOfTask = ({ changes }: Task): string | null => changes?.unseen ?? null

/** What others did to the file while the command ran leads from its beginning to its end. */
function isToldAlready(diff: FileDiff, { from }: Seen, before: readonly Seen[]): boolean {
  const { path, ends } = diff
  if (from === null || ends === undefined || 'not_kept' in ends) return false
  const meanwhile = before
    .filter(({ at }) => at >= from)
    .flatMap(({ diffs }) => diffs.flatMap((one) => (one.path === path ? (one.ends ?? []) : [])))
  const [first, last] = [meanwhile[0], meanwhile.at(-1)]
  if (first === undefined || last === undefined) return false
  if ('not_kept' in first || 'not_kept' in last) return false
  return isSameFile(first.before, ends.before) && isSameFile(last.after, ends.after)
}
