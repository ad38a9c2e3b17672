/**
 * `why` for a person: the sentence, what comes next, what it costs, what to do, and what the
 * scheduler says about each candidate. The same words as the record; times are read by a clock.
 */
import type { Why } from '../protocol/why.ts'
import { safe } from './safe.ts'
import type { ShortIds } from './short-id.ts'
import { clock, due, since, type Zone } from './span.ts'
import { padEnd, width } from './width.ts'

export type WhyStyle = { zone: Zone; ids: ShortIds; decided: boolean }

/** One sentence: `Release 2.4.0 waits for you since 12:04 (2 h 1 m): "…"`. */
export function sentence(why: Why, zone: Zone): string {
  const detail = why.detail === null ? '' : `: "${why.detail}"`
  const ms = Date.parse(zone.now) - Date.parse(why.since)
  const ago = ms < 1_000 ? 'just now' : since(why.since, zone)
  const when = `since ${clock(why.since, zone)} (${ago})`
  return `${why.objective} ${why.phrase} ${when}${detail}`
}

export function whyLines(why: Why, style: WhyStyle): string[] {
  const { zone, ids, decided } = style
  ids.know([why.work_item_id])
  const at = why.when === null ? '' : `; ${due(why.when, zone)}`
  const cost = why.cost_since === null ? 'runs now' : `none since ${clock(why.cost_since, zone)}`
  const lines = [
    sentence(why, zone),
    `next  ${clockTimes(why.next, zone)}${at}`,
    ...(why.state === 'completed' ? [] : [`cost  ${cost}`]),
    ...canLines(why, style),
    ...(decided ? decisionLines(why, zone) : []),
  ]
  return lines.map((line) => shown(ids.within(line)))
}

/** What may be done, as shell lines; looking is offered where nothing else is. */
function canLines(why: Why, { ids, decided }: WhyStyle): string[] {
  const acts = why.can.filter(({ cli }) => !cli.startsWith('holon work show'))
  const looks = decided ? why.can : []
  const shown = (acts.length === 0 ? looks : acts).map(({ cli, label }) => {
    return { cli: ids.within(cli), label }
  })
  const wide = Math.max(0, ...shown.map(({ cli }) => width(cli)))
  return shown.map(({ cli, label }, n) => {
    return `${n === 0 ? 'do  ' : '    '}  ${padEnd(cli, wide)}    ${label}`
  })
}

function decisionLines(why: Why, zone: Zone): string[] {
  const rows = why.considered.map((one) =>
    'more' in one
      ? ['', one.candidate_class, `and ${one.more} more`]
      : [one.work_item_id, one.candidate_class, clockTimes(one.verdict, zone)],
  )
  const wide = Math.max(0, ...rows.map(([, name]) => width(name ?? '')))
  const stored = why.decision
  return [
    '',
    `now ${why.now.decision}: ${clockTimes(why.now.because, zone)}`,
    ...rows.map(([id, name, verdict]) => `  ${id}  ${padEnd(name ?? '', wide)}  ${verdict}`),
    ...(stored === null
      ? []
      : [
          `last decided ${clock(stored.at, zone)}, ${stored.id}: ${stored.decision}, ` +
            `because ${clockTimes(stored.because, zone)}`,
        ]),
  ]
}

/** Times inside a sentence of the runtime are whole timestamps: a person reads a clock. */
const clockTimes = (text: string, zone: Zone): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (at) => clock(at, zone))

/** Safe, but with the blank space that lays the line out; breaks inside a reason become spaces. */
const shown = (line: string): string => safe(line.replace(/\s*[\r\n\t]+\s*/g, ' ')).trimEnd()
