/** `holon why <item>`: what holds it, what comes next, and what the scheduler says now. */
import { projectionOf } from '../protocol/agent-view.ts'
import { whyOf, type Why } from '../protocol/why.ts'
import { whyLines } from '../present/why-text.ts'
import { idOf, printJson, printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { exits, type Exit } from './failure.ts'
import type { HomeReader } from './ports.ts'
import type { Moment } from '../client/home-reads.ts'

/** Why one item is as it is. Null when there is no such item. */
export async function readWhy(reader: HomeReader, moment: Moment, id: string): Promise<Why | null> {
  const item = await reader.row('work_items', id)
  if (item === null) return null
  const [view] = await viewsOf(reader, moment, item.agent_id)
  const projection = view && projectionOf(view, id, item)
  if (!view || !projection) return null
  const [decision] = await reader.list('decisions', { agent_id: item.agent_id, limit: 1 })
  return whyOf(view, projection, decision ?? null)
}

export function why(context: Context, text: string): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const id = await idOf(context, reader, text, ['work'])
    const found = await readWhy(reader, moment, id)
    if (found === null) throw new Error(`no row for ${id}`)
    if (context.flags.json === true) {
      printJson(context, found)
      return exits.done
    }
    const style = { zone: zoneOf(context), ids: context.ids, decided: true }
    printLines(context, whyLines(found, style))
    return exits.done
  })
}
