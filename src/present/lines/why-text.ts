/**
 * `why` for a person: the sentence of the record, what comes next, what it costs, what to do, and
 * what the scheduler says about each candidate. The record's own words: times are read by a clock
 * and ids are short, and nothing is added.
 */
import { clauseOf, decisionWord, sentenceOf } from '../../protocol/records/records.ts'
import type { DecisionRun } from '../../protocol/views/why-history.ts'
import type { Decision, WhyView } from '../../protocol/views/why.ts'
import { choiceRows } from './question-lines.ts'
import { safe } from '../text/safe.ts'
import type { ShortIds } from '../text/short-id.ts'
import { clock, clockTimes, due, instant, since, type Zone } from '../text/span.ts'
import { padEnd, width } from '../text/width.ts'

export type WhyStyle = { zone: Zone; ids: ShortIds; decided: boolean }

export function whyLines(why: WhyView, { zone, ids, decided }: WhyStyle): string[] {
  ids.know([why.work_item_id])
  const ahead = why.when !== null && why.when > zone.now ? `; ${due(why.when, zone)}` : ''
  const cost = why.cost_since === null ? 'runs now' : `none since ${clock(why.cost_since, zone)}`
  return [
    sentenceOf({ ...why, why: clockTimes(spans(why.why, zone), zone) }),
    ...besides(why, zone),
    `next  ${clockTimes(why.next, zone)}${ahead}`,
    ...(why.state === 'completed' ? [] : [`cost  ${cost}`]),
    ...canLines(why, ids, decided),
    ...(decided ? decisionLines(why, zone) : []),
  ].map((line) => shown(line, ids))
}

/**
 * What the sentence does not hold: what the item asks, with the answers that are offered below it,
 * and what else holds the item. `detail`: what the sentence quotes.
 */
function besides({ question, detail, also }: WhyView, zone: Zone): string[] {
  const offers = question === null ? [] : choiceRows(question).map((row) => `      ${row.trim()}`)
  const asks = ({ detail }: { detail: string | null }) => detail === question?.text
  const isSaid = asks({ detail }) || also.some(asks)
  const asked = question === null || isSaid ? [] : [`asks  "${question.text}"`, ...offers]
  return [
    ...(asks({ detail }) ? offers : asked),
    ...also.flatMap((one) => [
      `also  ${clockTimes(clauseOf(one.why, one.detail), zone)}`,
      ...(asks(one) ? offers : []),
    ]),
  ]
}

/** What may be done, as shell lines; looking is offered where nothing else is. */
function canLines(why: WhyView, ids: ShortIds, decided: boolean): string[] {
  const acts = why.can.filter(({ key }) => key !== 'look')
  const looks = decided ? why.can : []
  const offered = (acts.length === 0 ? looks : acts).flatMap(({ cli, label }) =>
    cli === null ? [] : [{ cli: ids.within(cli), label }],
  )
  const wide = Math.max(0, ...offered.map(({ cli }) => width(cli)))
  return offered.map(({ cli, label }, n) => {
    return `${n === 0 ? 'do  ' : '    '}  ${padEnd(cli, wide)}    ${label}`
  })
}

/** What its agent does now, in its one word, and why. */
const decidedNow = ({ decision }: WhyView, zone: Zone): string =>
  `${decisionWord(decision.do)}: ${clockTimes(decision.because, zone)}`

function decisionLines(why: WhyView, zone: Zone): string[] {
  const rows = why.considered.map((one) =>
    'more' in one
      ? { id: '', name: one.candidate_class, verdict: `and ${one.more} more` }
      : { id: one.work_item_id, name: one.candidate_class, verdict: one.verdict },
  )
  const own = { id: why.work_item_id, name: why.candidate_class, verdict: why.verdict }
  if (!rows.some(({ id }) => id === own.id)) rows.push(own)
  const wide = Math.max(...rows.map(({ name }) => width(name)))
  const stored = why.last_decision
  return [
    '',
    `now ${decidedNow(why, zone)}`,
    ...rows.map(
      ({ id, name, verdict }) => `  ${id}  ${padEnd(name, wide)}  ${clockTimes(verdict, zone)}`,
    ),
    ...(stored === null
      ? []
      : [`last decided ${clock(stored.at, zone)}, ${stored.id}: ${decided(stored, zone)}`]),
  ]
}

const decided = ({ decision, because }: Decision, zone: Zone): string =>
  `${decisionWord(decision)}, because ${clockTimes(because, zone)}`

/** Stored decisions about the item, newest first as they come; the last line is for the rest. */
export function historyLines(
  history: readonly DecisionRun[],
  { zone, ids, rest }: { zone: Zone; ids: ShortIds; rest: string | null },
): string[] {
  ids.know(history.map(({ id }) => id))
  const ats = history.map(({ at }) => clock(at, zone))
  const names = history.map(({ id }) => ids.short(id))
  const [wideAt, wide] = [ats, names].map((cells) => Math.max(0, ...cells.map(width)))
  return [
    history.length === 0 ? 'no decision about it is stored' : 'decisions about it, newest first',
    ...history.flatMap((one, n) => [
      `  ${padEnd(ats[n] ?? '', wideAt ?? 0)}  ${padEnd(names[n] ?? '', wide ?? 0)}  ` +
        `${one.chosen ? 'chosen     ' : 'passed over'}  ${decided(one, zone)}` +
        often(one, zone),
      ...passedOver(one, zone),
    ]),
    ...(rest === null ? [] : [`  older ones: ${rest}`]),
  ].map((line) => shown(line, ids))
}

/** A run is told by its newest. */
const often = ({ times, first_at }: DecisionRun, zone: Zone): string =>
  times === 1 ? '' : ` (×${times} since ${clock(first_at, zone)})`

/** The candidates a decision looked at, each with the first rule that excluded it. */
const passedOver = ({ considered }: Decision, zone: Zone): string[] =>
  considered.map((one) =>
    'more' in one
      ? `    and ${one.more} more that are ${one.candidate_class}`
      : `    ${one.work_item_id}  ${one.candidate_class}: ${clockTimes(one.verdict, zone)}`,
  )

/** `since 12:04 (2 h 1 m)`: how long that is, behind the time. */
const spans = (text: string, zone: Zone): string =>
  text.replace(new RegExp(`since (${instant})`, 'g'), (found, at: string) => {
    const ago = Date.parse(zone.now) - Date.parse(at) < 1_000 ? 'just now' : since(at, zone)
    return `${found} (${ago})`
  })

/** Safe, but with the blank space that lays the line out; breaks inside a reason become spaces. */
const shown = (line: string, ids: ShortIds): string =>
  safe(ids.within(line).replace(/\s*[\r\n\t]+\s*/g, ' ')).trimEnd()
