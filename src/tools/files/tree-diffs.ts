/** What a command did to a working tree, as diffs with both ends, within the limits of one call. */
import type { FileDiff, KeptChange } from '../../domain/state/file-diff.ts'
import type { TaskChanges } from '../../domain/state/task.ts'
import type { TreeChanges, TreeEnd, TreeFile } from '../../exec/ports.ts'
import { diffsOf } from './file-diff.ts'
import { keeper } from './kept-file.ts'

type Keeps = Parameters<typeof keeper>[0] & { workdir: string }

export async function treeDiffs(ctx: Keeps, changes: TreeChanges): Promise<TaskChanges> {
  if (!changes.ok) return { unseen: changes.why }
  const keep = keeper(ctx)
  const diffs: FileDiff[] = []
  const texts = changes.files.map((file) => textsOf(file))
  const told = await diffsOf(
    texts.flatMap((text) => text ?? []),
    ctx.workdir,
  )
  const byPath = new Map(told.map((diff) => [diff.path, diff]))
  for (const file of changes.files) {
    diffs.push({
      ...(byPath.get(file.path) ?? (await untold(file, ctx.workdir))),
      ends: endsOf(keep, file),
    })
  }
  const { more } = changes
  return more === 0 ? { diffs } : { diffs, unseen: `${more} more files changed than are told` }
}

function endsOf(keep: ReturnType<typeof keeper>, { before, after }: TreeFile): KeptChange {
  if (before.kind === 'unkept') return { not_kept: before.because }
  if (after.kind === 'unkept') return { not_kept: after.because }
  return keep(before, after)
}

/** Of a file that is no text, or whose mode alone changed: no line of it. */
async function untold({ path, before, after }: TreeFile, workdir: string): Promise<FileDiff> {
  const mark = (end: TreeEnd, text: string) => (end.kind === 'none' ? null : text)
  const [named] = await diffsOf(
    [{ path, before: mark(before, ''), after: mark(after, '\n') }],
    workdir,
  )
  if (named === undefined) throw new Error(`${path} is nothing before and after`)
  return { ...named, added: 0, removed: 0, text: '', cut_lines: 0 }
}

function textsOf({ path, before, after }: TreeFile) {
  const [from, to] = [textOf(before), textOf(after)]
  return from === undefined || to === undefined ? null : { path, before: from, after: to }
}

/** Undefined: it is no text, or nobody has its bytes. */
function textOf(end: TreeEnd): string | null | undefined {
  if (end.kind === 'none') return null
  if (end.kind !== 'file' || end.bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(end.bytes)
  } catch {
    return undefined
  }
}
