/**
 * What calls did to files, as a person reads it: in a row, by name with counts, and line by line.
 * Pure; every text that leaves is safe.
 */
import type { FileDiff } from '../../protocol/records/records.ts'
import type { Ink } from '../text/marks.ts'
import { safe, safeLine, safeLines, type Safe } from '../text/safe.ts'

/** `file` names one, `note` says what is not shown. */
export type DiffLine = {
  kind: 'file' | 'hunk' | 'added' | 'removed' | 'context' | 'note'
  text: Safe
}

type NamedFile = Pick<FileDiff, 'kind' | 'name' | 'added' | 'removed'>

/** `src/a.ts` or `3 files`, and `+3 -1` of all of them. */
export function diffTotal(diffs: readonly NamedFile[]): { what: string; counts: string } {
  const [first] = diffs
  const what = diffs.length === 1 && first !== undefined ? first.name : `${diffs.length} files`
  const added = diffs.reduce((sum, diff) => sum + diff.added, 0)
  const removed = diffs.reduce((sum, diff) => sum + diff.removed, 0)
  return { what, counts: countsOf({ added, removed }) }
}

const countsOf = ({ added, removed }: Pick<FileDiff, 'added' | 'removed'>): string =>
  `+${added} -${removed}`

const kindWords = { added: '  new', changed: '', deleted: '  deleted' } as const

/** `src/a.ts  new  +3 -0` */
export const diffName = (diff: NamedFile): Safe =>
  safeLine(diff.name).concat(kindWords[diff.kind], '  ', countsOf(diff)) as Safe

/** A file by its name and counts, then its hunks. */
export const diffLines = (diff: FileDiff): DiffLine[] => [fileLine(diff), ...hunkLines(diff)]

export const fileLine = (diff: NamedFile): DiffLine => ({ kind: 'file', text: diffName(diff) })

export function hunkLines({ text, cut_lines }: Pick<FileDiff, 'text' | 'cut_lines'>): DiffLine[] {
  const body = text === '' ? [] : safeLines(text.endsWith('\n') ? text.slice(0, -1) : text)
  const more = cut_lines === 1 ? '1 more line is' : `${cut_lines} more lines are`
  return [
    ...body.map((line): DiffLine => ({ kind: kindOf(line), text: line })),
    ...(cut_lines === 0 ? [] : [{ kind: 'note', text: safe(`… ${more} not kept`) } as const]),
  ]
}

function kindOf(line: string): DiffLine['kind'] {
  switch (line.charAt(0)) {
    case '@':
      return 'hunk'
    case '+':
      return 'added'
    case '-':
      return 'removed'
    case '\\':
      return 'note'
  }
  return 'context'
}

/** SGR codes, the ones git uses; null is the terminal's own colour. */
const colours: Readonly<Record<DiffLine['kind'], number | null>> = {
  file: 1,
  hunk: 36,
  added: 32,
  removed: 31,
  context: null,
  note: 2,
}

export function inkedDiff({ kind, text }: DiffLine, ink: Ink): string {
  const colour = colours[kind]
  return ink.colour && colour !== null ? `\u001b[${colour}m${text}\u001b[0m` : text
}
