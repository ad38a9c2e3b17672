/** Marks with their colours, and how times and ids stand on this screen. Pure. */
import type { Times } from '../../present/lines/state-cell.ts'
import { glyph, type Mark } from '../../present/text/marks.ts'
import { span, type TextSpan, type Style } from './line.ts'
import { isLive, type TuiModel } from '../model/model.ts'

const styles: Readonly<Record<Mark, Style>> = {
  needs_me: 'yellow',
  unknown: 'magenta',
  failed: 'red',
  arrived: 'yellow',
  working: 'cyan',
  waiting: 'dim',
  next: 'plain',
  blocked: 'plain',
  done: 'green',
}

const spinner = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** The mark of what works takes a step with each thing heard: movement means data. */
export function markSpan(model: TuiModel, mark: Mark | null): TextSpan {
  if (mark === null) return span(' ')
  const moves = mark === 'working' && isLive(model) && !model.look.ascii && model.look.motion
  const step = moves ? spinner.charAt(stepOf(model)) : undefined
  return span(step ?? glyph(mark, { colour: false, ascii: model.look.ascii }), styles[mark])
}

const stepOf = ({ p }: TuiModel): number => {
  const heard =
    p === null ? 0 : p.last_seq + [...p.lives.values()].length + [...p.texts.values()].length
  const text = p === null ? 0 : [...p.texts.values()].reduce((sum, one) => sum + one.length, 0)
  const output =
    p === null ? 0 : [...p.outputs.values()].reduce((sum, one) => sum + one.text.length, 0)
  return (heard + text + output) % spinner.length
}

/** Times run while the link is live and motion is wanted; else they stand as clock times. */
export const timesOf = (model: TuiModel): Times => ({
  now: model.now,
  utc: model.utc,
  runs: isLive(model) && model.look.motion && !model.clocks,
})

/** Ids in a text as short as they can be told apart. */
export const short = (model: TuiModel, text: string): string => model.ids.within(text)

export const pointer = ({ look }: TuiModel): string => (look.ascii ? '>' : '›')
export const caret = ({ look }: TuiModel): string => (look.ascii ? '_' : '▪')
