/** The diffs of an entry that is open, a row a line, so that one scrolls through them. Pure. */
import type { Entry } from '../../present/entries/entry.ts'
import { diffLines, type DiffLine } from '../../present/lines/diff-lines.ts'
import type { BodyRow } from '../drawing/body.ts'
import { cutTo, span, type Style } from '../drawing/line.ts'
import { pointer } from '../drawing/paint.ts'
import { viewOf, type TuiModel } from '../model/model.ts'

const styles: Readonly<Record<DiffLine['kind'], Style>> = {
  file: 'bold',
  hunk: 'cyan',
  added: 'green',
  removed: 'red',
  context: 'plain',
  note: 'dim',
}

export function diffRows(
  model: TuiModel,
  { id, diffs }: Entry,
  { columns, indent }: { columns: number; indent: number },
): BodyRow[] {
  const { unfolded, selected } = viewOf(model)
  if (diffs.length === 0 || !unfolded.has(id)) return []
  return diffs.flatMap(diffLines).map(({ kind, text }, n): BodyRow => {
    const own = `${id} diff ${n}`
    const lead = `${selected === own ? pointer(model) : ' '}${' '.repeat(indent - 1)}`
    const lines = [cutTo([span(lead), span(text, styles[kind])], columns)]
    return { id: own, folds: id, lines, text }
  })
}
