/** `holon briefs`: what agents delivered to the operator, oldest first. */
import { verificationOf, type Brief } from '../../protocol/records/records.ts'
import { stateWords } from '../../present/lines/check-lines.ts'
import { glyph, painted, type Mark } from '../../present/text/marks.ts'
import { safeLine, safeLines } from '../../present/text/safe.ts'
import { clock } from '../../present/text/span.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, usage, type Exit } from '../command/failure.ts'
import type { HomeReader } from '../command/ports.ts'
import { printList } from '../command/records.ts'

export type BriefOptions = { agent?: string; workItem?: string; limit?: string }

const usualLimit = 20
const mostLimit = 1_000

const markOf: Readonly<Record<Brief['kind'], Mark>> = {
  progress: 'next',
  reply: 'next',
  question: 'needs_me',
  result: 'done',
  failure: 'failed',
}

export function briefs(context: Context, options: BriefOptions): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const limit = limitOf(options.limit)
    const item =
      options.workItem === undefined
        ? undefined
        : await idOf(context, reader, options.workItem, ['work'])
    const owner = item === undefined ? null : await reader.row('work_items', item)
    const agent = options.agent ?? owner?.agent_id
    const views = await viewsOf(reader, moment, agent)
    if (context.flags.json === true) {
      const path = (one: string) => `/agents/${one}/briefs`
      const query = { work_item_id: item }
      return printList(context, { plural: 'briefs', path, agent, query, limit, by: 'created_at' })
    }
    const lists = await Promise.all(
      views.map(({ agent }) =>
        reader.list('briefs', {
          agent_id: agent.id,
          ...(item === undefined ? {} : { work_item_id: item }),
          limit,
        }),
      ),
    )
    const found = lists
      .flat()
      .sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0))
      .slice(-limit)
    const claims = await claimsOf(reader, found)
    const { indentedProse } = await import('../command/prose.ts')
    const lines = text(context, found, claims, indentedProse(context))
    printLines(context, found.length === 0 ? ['nothing was delivered yet'] : lines)
    return exits.done
  })
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return usualLimit
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= mostLimit) return limit
  throw usage('bad_limit', `--limit ${text} is not a number from 1 to ${mostLimit}`)
}

type Claims = ReadonlyMap<string, string>

/** Of each report, what its item's checks made of the claim by now. */
async function claimsOf(reader: HomeReader, found: readonly Brief[]): Promise<Claims> {
  const claims = new Map<string, string>()
  for (const { id, kind, work_item_id } of found) {
    if (kind !== 'result' || work_item_id === null) continue
    const item = await reader.row('work_items', work_item_id)
    if (item !== null) claims.set(id, `, ${stateWords[verificationOf(item).state]}`)
  }
  return claims
}

/** Words for people are rendered; a question and what the runtime says stand as they are. */
const isProse: Readonly<Record<Brief['kind'], boolean>> = {
  progress: false,
  reply: true,
  question: false,
  result: true,
  failure: false,
}

function text(
  context: Context,
  found: readonly Brief[],
  claims: Claims,
  prose: (text: string) => string[],
): string[] {
  const zone = zoneOf(context)
  const { ids, ink } = context
  return found.flatMap((brief, at) => {
    const mark = markOf[brief.kind]
    const item = brief.work_item_id === null ? '' : `  ${ids.short(brief.work_item_id)}`
    const wait = brief.wait_id === null ? '' : `  ${ids.short(brief.wait_id)}`
    const kind = `${brief.kind}${claims.get(brief.id) ?? ''}`
    const head = `${glyph(mark, ink)} ${clock(brief.created_at, zone)}  ${kind}${item}${wait}`
    return [
      ...(at === 0 ? [] : ['']),
      painted(head, mark, ink),
      ...(isProse[brief.kind]
        ? prose(ids.within(brief.text))
        : safeLines(ids.within(brief.text.trim())).map((line) => `  ${line}`.trimEnd())),
      // Briefs of earlier versions do not have them in their text.
      ...brief.warnings
        .filter(({ message }) => !brief.text.includes(message))
        .map(({ message }) => `  ! ${safeLine(ids.within(message))}`),
    ]
  })
}
