/**
 * A frame of a terminal as a picture, and read back from it. Two frames show the same when they
 * differ in nothing but times, ids, numbers and how long a stretch is filled: `told` is what is
 * compared. Pure.
 */
import { textOf, type GridRow, type CellRun } from './cell-grid.ts'

const cell = { width: 8.4, height: 18, left: 12, top: 10 } as const
/** A dark theme in which all of the sixteen can be told apart, also in grey. */
const theme: Readonly<Record<number, string>> = {
  1: '#ff7b72',
  2: '#7ee787',
  3: '#e3b341',
  4: '#79c0ff',
  5: '#d2a8ff',
  6: '#56d4dd',
}
const [paper, ink] = ['#0d1117', '#d5dbe3']

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')

/**
 * Rows come one by one where it is said when: by a style alone, which a picture in a page obeys
 * too. Who wants no motion, or has no styles, sees the last frame.
 */
const motion = [
  '<style>',
  '@keyframes come { from { visibility: hidden } to { visibility: visible } }',
  '.row { animation: come 1ms step-end both }',
  '@media (prefers-reduced-motion: reduce) { .row { animation: none } }',
  '</style>',
]

/** `at`: milliseconds after which each row is there; without it all are. */
export function svgOf(
  title: string,
  rows: readonly GridRow[],
  columns: number,
  at?: readonly number[],
): string {
  const [width, height] = [
    Math.ceil(columns * cell.width + 2 * cell.left),
    rows.length * cell.height + 2 * cell.top,
  ]
  const lines = rows.flatMap((row, y) => {
    const runs = row.map((run) => runOf(run, y)).filter((one) => one !== '')
    if (at === undefined || runs.length === 0) return runs
    return [`<g class="row" style="animation-delay: ${at[y] ?? 0}ms">`, ...runs, '</g>']
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<desc>\n${escaped(rows.map(textOf).join('\n'))}\n</desc>`,
    ...(at === undefined ? [] : motion),
    `<rect width="${width}" height="${height}" rx="8" fill="${paper}"/>`,
    `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="${ink}" ` +
      'xml:space="preserve">',
    ...lines,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function runOf({ text, at, cells, colour, bold, dim, inverse }: CellRun, y: number): string {
  if (text.trim() === '' && !inverse) return ''
  const [x, top] = [cell.left + at * cell.width, cell.top + y * cell.height]
  const fill = inverse ? paper : colour === null ? null : (theme[colour % 8] ?? null)
  const look = [
    fill === null ? '' : ` fill="${fill}"`,
    bold ? ' font-weight="bold"' : '',
    dim ? ' opacity="0.6"' : '',
  ].join('')
  // The length is given: fonts differ, and what stands below each other must go on doing so.
  const length = (cells * cell.width).toFixed(1)
  const box = `x="${x.toFixed(1)}" y="${top}" width="${length}" height="${cell.height}"`
  return [
    inverse ? `<rect ${box} fill="${ink}"/>` : '',
    `<text x="${x.toFixed(1)}" y="${top + 13}" textLength="${length}"${look}>`,
    `${escaped(text)}</text>`,
  ].join('')
}

/** The lines of a picture, and whether each of its words is drawn in it. */
export function linesIn(svg: string): string[] {
  const [, text] = /<desc>\n([\s\S]*)\n<\/desc>/.exec(svg) ?? []
  if (text === undefined) throw new Error('it is no picture of a screen')
  const lines = unescaped(text).split('\n')
  const drawn = [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, said = '']) => said)
  const words = (of: string) => of.replace(/\s+/g, '')
  if (words(unescaped(drawn.join(''))) !== words(lines.join(''))) {
    throw new Error('its words are not those it draws')
  }
  return lines
}

const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g
const id = /\b(msg|turn|call|work|wait|task|brief|dec|trig|sched)_[0-9a-f-]+/g
const hash = /\b(sha|bound to this exact question) ?\(?[0-9a-f]{4,}/g
const time = /(since |at )?\b\d+(:\d\d)+\b/g
const long = /\b\d+ (ms|s|m|min|h|d)\b( \d+ (s|m|min)\b)?/g

/**
 * What a frame tells, without what is another each time. Lines that then say the same, one below
 * the other, are one: an output that goes on is longer each time.
 */
export function told(lines: readonly string[]): string[] {
  const plain = lines.map((line) =>
    line
      .replace(spinner, '*')
      .replace(id, '$1_0')
      .replace(hash, '$1 0')
      .replace(time, '0')
      .replace(long, '0')
      .replace(/\d+([.,]\d+)*k?/g, '0')
      .replace(/\b0 [kM]?B\b/g, '0 bytes')
      .replace(/\b0(, 0)*\b/g, '0')
      .replace(/─+/g, '─')
      // What has less room because a number beside it is longer is cut earlier.
      .replace(/\S*…/g, '…')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return plain.filter((line, n) => line !== '' && line !== plain[n - 1])
}
