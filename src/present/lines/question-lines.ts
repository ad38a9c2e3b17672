/** A question as lines for a person: all of it, with the answers that are offered below. Pure. */
import { choiceLines, type Choice } from '../../protocol/records/records.ts'
import { safe, safeLines, type Safe } from '../text/safe.ts'
import { wrap } from '../text/width.ts'

type Asked = { text: string; choices: readonly Choice[] }

/** `cells`: of one line, or null where lines are not cut; `indent` stands before each of them. */
export const questionLines = (asked: Asked, cells: number | null, indent = ''): Safe[] =>
  [...safeLines(asked.text.trim()), ...choiceRows(asked)]
    .flatMap((one) => (cells === null ? [one] : wrap(one, Math.max(20, cells - indent.length))))
    .map((one) => safe(`${indent}${one}`.trimEnd()))

/** The offered answers alone, under a text that stands already. */
export const choiceRows = (asked: Pick<Asked, 'choices'>): Safe[] =>
  choiceLines(asked).map((one) => safe(`  ${one.replace(/\s+/g, ' ')}`))
