/**
 * Which texts are read as Markdown at all: the reader's time grows with the square of the marks
 * that stand together, and its stack with the depth, so what no honest report looks like is shown
 * as it stands. Pure.
 */

/** Characters of the longest text that is rendered: a report, not a file. */
const longest = 65_536
/** Sum of the squares of the marks in each run of lines: a tenth of a second at most. */
const marksSquared = 8_000_000
/** Quotes and lists in each other at the beginning of a line. */
const deepest = 16

export function isReadable(text: string): boolean {
  if (text.length > longest) return false
  let marks = 0
  let sum = 0
  for (const line of text.split('\n')) {
    if (depthOf(line) > deepest) return false
    if (line.trim() === '') {
      sum += marks * marks
      marks = 0
    } else marks += line.match(/[*_~`[\]<!(]/g)?.length ?? 0
  }
  return sum + marks * marks <= marksSquared
}

function depthOf(line: string): number {
  const lead = /^(?:\s|>|[-+*](?=\s)|\d{1,9}[.)](?=\s))*/.exec(line)?.[0] ?? ''
  return lead.match(/>|[-+*.)]/g)?.length ?? 0
}
