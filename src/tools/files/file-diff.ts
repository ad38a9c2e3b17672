/**
 * The diff of each file that a call changes, for a person to read afterwards. All of them together
 * keep to one limit: what is beyond it is counted and not kept.
 */
import { isAbsolute, relative } from 'node:path'
import { limits } from '../../domain/limits.ts'
import type { FileDiff } from '../../domain/state/file-diff.ts'

/** Null: no file. */
export type FileVersions = { path: string; before: string | null; after: string | null }

/** Edits that are searched for; a file with more differences is told as replaced. */
const MAX_EDITS = 1_000
const CONTEXT_LINES = 3

/** One for each file that is not as before. `workdir` is what their names are relative to. */
export async function diffsOf(
  files: readonly FileVersions[],
  workdir: string,
): Promise<FileDiff[]> {
  const diffs: FileDiff[] = []
  let room = limits.diff.value
  for (const { path, before, after } of files) {
    if (before === after) continue
    const hunks = await hunksOf(before ?? '', after ?? '')
    const kept = firstLines(hunks.lines, room)
    room -= kept.text.length
    diffs.push({
      kind: before === null ? 'added' : after === null ? 'deleted' : 'changed',
      path,
      name: nameIn(workdir, path),
      added: hunks.added,
      removed: hunks.removed,
      ...kept,
    })
  }
  return diffs
}

type Hunks = { lines: readonly string[]; added: number; removed: number }

async function hunksOf(before: string, after: string): Promise<Hunks> {
  const { OMIT_HEADERS, formatPatch, structuredPatch } = await import('diff')
  const isBounded = before !== '' && after !== ''
  const options = { context: CONTEXT_LINES, ...(isBounded ? { maxEditLength: MAX_EDITS } : {}) }
  const patch = structuredPatch('', '', before, after, '', '', options)
  if (patch === undefined) {
    const [gone, come] = [await hunksOf(before, ''), await hunksOf('', after)]
    return {
      lines: [...gone.lines, ...come.lines],
      added: come.added,
      removed: gone.removed,
    }
  }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length
  const text = patch.hunks.length === 0 ? '' : formatPatch(patch, OMIT_HEADERS)
  return { lines: text.match(/[^\n]*\n/g) ?? [], added: count('+'), removed: count('-') }
}

/** Whole lines, each with its break, as many as there is room for. */
function firstLines(lines: readonly string[], room: number) {
  let used = 0
  const past = lines.findIndex((line) => (used += line.length) > room)
  const kept = past < 0 ? lines.length : past
  return { text: lines.slice(0, kept).join(''), cut_lines: lines.length - kept }
}

function nameIn(workdir: string, path: string): string {
  const name = relative(workdir, path)
  return name === '..' || name.startsWith('../') || isAbsolute(name) ? path : name
}
