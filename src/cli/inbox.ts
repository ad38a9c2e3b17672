/** `holon inbox`: what needs a person, each with the shell line that settles it. */
import { readLastTurns } from '../client/home-reads.ts'
import { attentionOf, type Attention } from '../protocol/attention.ts'
import { glyph, painted, type Mark } from '../present/marks.ts'
import { safeLine } from '../present/safe.ts'
import { since } from '../present/span.ts'
import { apart } from '../present/table.ts'
import { printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { exits, type Exit } from './failure.ts'
import { printList } from './records.ts'

const markOf: Readonly<Record<Attention['kind'], Mark>> = {
  question: 'needs_me',
  needs_input: 'needs_me',
  held: 'failed',
  failed_turn: 'failed',
  blocked: 'blocked',
  dead_message: 'failed',
  dead_delivery: 'failed',
  arrived: 'arrived',
  cancelling: 'failed',
}

/** Reading the list is always a success; the list says what waits. */
export function inbox(context: Context): Promise<Exit> {
  if (context.flags.json === true) {
    return printList(context, { plural: 'attention', path: '/attention', forward: true })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, undefined)
    const found = attentionOf(views, await readLastTurns(reader, views))
    printLines(context, found.length === 0 ? ['nothing needs you'] : text(context, found))
    return exits.done
  })
}

function text(context: Context, found: readonly Attention[]): string[] {
  const zone = zoneOf(context)
  const { ids, ink, medium } = context
  ids.know(found.map(({ id }) => id))
  return found.flatMap((entry) => {
    const mark = markOf[entry.kind]
    const item = entry.work_item_id === null ? entry.agent_id : ids.short(entry.work_item_id)
    const head = `${glyph(mark, ink)} ${item}  ${safeLine(ids.within(entry.text))}`
    const lines = [painted(apart(head, since(entry.since, zone), medium.columns), mark, ink)]
    for (const { cli } of entry.can) {
      if (cli !== null) lines.push(`    ${safeLine(ids.within(cli))}`)
    }
    return lines
  })
}
