/** What agents write, as lines of the screen: Markdown with weight and indent. Pure. */
import { markdownLines, withoutMarks } from '../../present/markdown/lines.ts'
import type { ProseStyle } from '../../present/markdown/spans.ts'
import { safe, type Safe } from '../../present/text/safe.ts'
import { span, type Line, type Pen, type Style } from './line.ts'

const styles: Readonly<Record<ProseStyle, Style>> = {
  plain: 'plain',
  bold: 'bold',
  italic: 'italic',
  bold_italic: 'bold_italic',
  code: 'cyan',
  dim: 'dim',
  struck: 'struck',
}

type Drawn = { key: string; lines: readonly Line[] }
/** A text is laid out once for a width, however often the screen is drawn. */
const drawn = new WeakMap<object, Drawn>()

/** `of` is what the text belongs to, `base` the style of its plain words. */
export function proseLines(
  of: object,
  shown: readonly Safe[],
  { columns, ascii }: Pen,
  base: Style,
): readonly Line[] {
  const key = `${columns} ${ascii} ${base} ${shown.join('\n')}`
  const before = drawn.get(of)
  if (before?.key === key) return before.lines
  const lines = markdownLines(shown, { columns, ascii }).map((line) =>
    line.map(({ text, style }) => span(text, style === 'plain' ? base : styles[style])),
  )
  drawn.set(of, { key, lines })
  return lines
}

/** The first line of a report, in a row. */
export const proseTitle = (title: string): Safe => withoutMarks(safe(title))
