/**
 * A line of the screen with its hints naming the command as it was called. Panes stay as wide as
 * they are: a hint that does not fit is cut as every text is.
 */
import { named } from '../../present/text/called.ts'
import { cutTo, padTo, span, widthOf, type Line, type TextSpan } from './line.ts'

const isBar = ({ text }: TextSpan): boolean => text === '│ ' || text === '| '

export function namedLine(of: Line, called: string): Line {
  if (called === 'holon') return of
  const bar = of.findIndex(isBar)
  const pane = bar < 0 ? of : of.slice(0, bar)
  const next = pane.map(({ text, style }) => span(named(text, called), style))
  const more = widthOf(next) - widthOf(pane)
  const drawn = bar < 0 || more === 0 ? next : fit(next, widthOf(pane))
  const beside = of[bar]
  return beside === undefined ? drawn : [...drawn, beside, ...namedLine(of.slice(bar + 1), called)]
}

/** The line in so many cells; blanks at its end go first. */
function fit(of: Line, cells: number): Line {
  const end = of.findLastIndex(({ text }) => text.trim() !== '')
  const kept = of
    .slice(0, end + 1)
    .map(({ text, style }, n) => span(n === end ? text.trimEnd() : text, style))
  return padTo(cutTo(kept, cells), cells)
}
