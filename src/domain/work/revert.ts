/**
 * What a revert of an item would put back, from the changes that are recorded: of each file the
 * state that the agent left last, and the one to go back to. That is the state before the item's
 * changes to it; where somebody else changed it between two of them, what that one left.
 */
import { no, type Rejection } from '../rejection.ts'
import type { FileDiff, KeptFile, NotKept } from '../state/file-diff.ts'
import type { RevertedFile } from '../state/work-item.ts'

/** In the order in which they were made. */
export type RecordedChange = Pick<FileDiff, 'path' | 'name' | 'ends'>

/** `left`: what is to stand there for it to be put back. `no`: it cannot be, and why. */
export type RevertTarget = { path: string; name: string } & (
  | { left: KeptFile; to: KeptFile }
  | { no: NotKept | 'earlier_version' }
)

export const isSameFile = (one: KeptFile, other: KeptFile): boolean => {
  if (one.kind === 'none' || other.kind === 'none') return one.kind === other.kind
  if (one.kind !== other.kind || one.kept_sha256 !== other.kept_sha256) return false
  if (one.kind === 'link' || other.kind === 'link') return true
  return one.mode === other.mode || one.mode === null || other.mode === null
}

export function revertTargets(changes: readonly RecordedChange[]): RevertTarget[] {
  const byPath = Map.groupBy(changes, ({ path }) => path)
  return [...byPath.values()].flatMap((of) => targetOf(of) ?? [])
}

/** Null: it came to nothing. */
function targetOf(changes: readonly RecordedChange[]): RevertTarget | null {
  const last = changes.at(-1)
  if (last === undefined) return null
  const { path, name, ends } = last
  if (ends === undefined) return { path, name, no: 'earlier_version' }
  if ('not_kept' in ends) return { path, name, no: ends.not_kept }
  let to = ends.before
  for (const { ends: earlier } of changes.slice(0, -1).toReversed()) {
    if (earlier === undefined || 'not_kept' in earlier || !isSameFile(earlier.after, to)) break
    to = earlier.before
  }
  return isSameFile(to, ends.after) ? null : { path, name, left: ends.after, to }
}

/** What reverts replaced, of each file the last time: to take a revert back. */
export function undoTargets(reverted: readonly RevertedFile[]): RevertTarget[] {
  const last = new Map(reverted.map((file) => [file.path, file]))
  return [...last.values()].map(({ path, name, replaced, put }) => {
    return { path, name, left: put, to: replaced }
  })
}

/** The targets of these names, as the item calls them or by their paths; without any, all. */
export function targetsNamed(
  targets: readonly RevertTarget[],
  names: readonly string[] | undefined,
): { ok: true; targets: readonly RevertTarget[] } | Rejection {
  if (names === undefined || names.length === 0) return { ok: true, targets }
  const found: RevertTarget[] = []
  for (const name of names) {
    const one = targets.find((target) => target.path === name || target.name === name)
    if (one === undefined) return no('file_not_changed', `There is no change of ${name} in it.`)
    if (!found.includes(one)) found.push(one)
  }
  return { ok: true, targets: found }
}
