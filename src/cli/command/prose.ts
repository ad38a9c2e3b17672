/**
 * What agents write, on a terminal: Markdown with weight and colour, or without both. Loaded where
 * a report is printed and nowhere else: nothing that a start needs. Every control sequence is made
 * here, of a style; the text between is safe.
 */
import { markdownLines } from '../../present/markdown/lines.ts'
import type { ProseStyle } from '../../present/markdown/spans.ts'
import type { Ink } from '../../present/text/marks.ts'
import { safeLines, type Safe } from '../../present/text/safe.ts'
import type { Context } from './context.ts'

/** Lines of at most so many cells. */
export type Painter = (lines: readonly Safe[], columns: number) => string[]

/** SGR codes; null is plain. */
const codes: Readonly<Record<ProseStyle, string | null>> = {
  plain: null,
  bold: '1',
  italic: '3',
  bold_italic: '1;3',
  code: '36',
  dim: '2',
  struck: '9',
}

export const painter =
  ({ colour, ascii }: Ink): Painter =>
  (lines, columns) =>
    markdownLines(lines, { columns, ascii }).map((line) =>
      line
        .map(({ text, style }) => {
          const code = colour ? codes[style] : null
          return code === null ? text : `\u001b[${code}m${text}\u001b[0m`
        })
        .join(''),
    )

/** What an agent wrote, two cells in: rendered on a terminal, as it stands in a pipe. */
export const indentedProse =
  ({ medium, ink }: Pick<Context, 'medium' | 'ink'>) =>
  (text: string): string[] => {
    const lines = safeLines(text.trim())
    const shown = medium.columns === null ? lines : painter(ink)(lines, medium.columns - 2)
    return shown.map((line) => `  ${line}`.trimEnd())
  }
