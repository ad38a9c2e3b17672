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

/** `left`: what is to stand there for it to be put back. */
export type KnownTarget = { path: string; name: string; left: KeptFile; to: KeptFile }

/** `no`: it cannot be put back, and why. */
export type RevertTarget =
  | KnownTarget
  | { path: string; name: string; no: NotKept | 'earlier_version' }

/** Bits of a mode that are put back: whom a program runs as is nothing to bring again. */
export const permissions = 0o777

export const isSameFile = (one: KeptFile, other: KeptFile): boolean => {
  if (one.kind === 'none' || other.kind === 'none') return one.kind === other.kind
  if (one.kind !== other.kind || one.kept_sha256 !== other.kept_sha256) return false
  if (one.kind === 'link' || other.kind === 'link') return true
  if (one.mode === null || other.mode === null) return true
  return (one.mode & permissions) === (other.mode & permissions)
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
    // What it was before the item cannot be had, and anything between would be said to be that.
    if (earlier === undefined) return { path, name, no: 'earlier_version' }
    if ('not_kept' in earlier) return { path, name, no: earlier.not_kept }
    if (isSameFile(earlier.after, to)) to = earlier.before
    // A command beside an edit saw the same stretch; else somebody else changed it in between.
    else if (!isSameFile(earlier.before, to)) break
  }
  return isSameFile(to, ends.after) ? null : { path, name, left: ends.after, to }
}

/** One revert, or one undo of reverts, as it is recorded. */
export type RevertRecord = { undo: boolean; files: readonly RevertedFile[] }

/**
 * What reverts replaced, of each file the last time: to take a revert back. The same again changes
 * nothing, so an undo that was ended or hindered is done by another one; a revert takes it back.
 */
export function undoTargets(reverts: readonly RevertRecord[]): KnownTarget[] {
  const files = reverts.flatMap((one) => (one.undo ? [] : one.files))
  const last = new Map(files.map((file) => [file.path, file]))
  return [...last.values()].map(({ path, name, replaced, put }) => {
    return { path, name, left: put, to: replaced }
  })
}

/** Files named in one line. */
const namedFiles = 8

/** What a person did to the item's files, for whoever goes on with them. */
export function revertWords({ undo, files }: RevertRecord): string {
  const names = files.slice(0, namedFiles).map(({ name }) => JSON.stringify(name))
  const more = files.length - names.length
  const what = `${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
  return undo ? `undid its revert of ${what}` : `put back ${what}`
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
