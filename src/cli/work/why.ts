/**
 * `holon why <item>`: what holds it, what comes next, and what the scheduler says now; with
 * `--history` the stored decisions that chose it or passed it over, with every verdict.
 */
import type { Moment } from '../../client/home-reads.ts'
import type { WorkItem } from '../../protocol/records/records.ts'
import { projectionOf } from '../../protocol/agent-view.ts'
import {
  whyHistory,
  type ReadDecisions,
  type WhyHistory,
} from '../../protocol/views/why-history.ts'
import { whyOf } from '../../protocol/views/why.ts'
import { historyLines, whyLines } from '../../present/lines/why-text.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import type { HomeReader } from '../command/ports.ts'
import { printRecord } from '../command/records.ts'

export type WhyOptions = { history?: boolean }

/** Runs of decisions that are shown; `--json` has the rest. */
const most = 20

export function why(context: Context, text: string, { history }: WhyOptions): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const item = await itemNamed(context, reader, text)
    const { id, agent_id } = item
    if (context.flags.json === true) {
      const path = `/agents/${agent_id}/work-items/${id}/why`
      return printRecord(context, path, history === true ? { history } : {})
    }
    const { view, projection } = await seen(reader, moment, item)
    const [last] = await reader.list('decisions', { agent_id, limit: 1 })
    const found = whyOf(view, projection, last ?? null)
    const style = { zone: zoneOf(context), ids: context.ids, decided: true }
    printLines(context, whyLines(found, style))
    if (history !== true) {
      const stored = await reader.list('decisions', { work_item_id: id, limit: 1 })
      const how = `earlier decisions: holon why ${context.ids.short(id)} --history`
      printLines(context, stored.length === 0 ? [] : [how])
      return exits.done
    }
    const read: ReadDecisions = (filter) => reader.list('decisions', { agent_id, ...filter })
    printLines(context, behind(context, id, await whyHistory(read, id)))
    return exits.done
  })
}

async function itemNamed(context: Context, reader: HomeReader, text: string): Promise<WorkItem> {
  const id = await idOf(context, reader, text, ['work'])
  const item = await reader.row('work_items', id)
  if (item === null) throw new Error(`no row for ${id}`)
  return item
}

async function seen(reader: HomeReader, moment: Moment, item: WorkItem) {
  const [view] = await viewsOf(reader, moment, item.agent_id)
  const projection = view && projectionOf(view, item.id, item)
  if (!view || !projection) throw new Error(`no view of ${item.agent_id}`)
  return { view, projection }
}

/** The stored decisions that chose it or passed it over, and where the rest is. */
function behind(context: Context, id: string, { runs, complete }: WhyHistory): string[] {
  const { ids } = context
  const short = ids.short(id)
  const json = runs.length > most ? `holon why ${short} --history --json` : null
  const rest = json ?? (complete ? null : `holon events --work-item ${short}`)
  return ['', ...historyLines(runs.slice(0, most), { zone: zoneOf(context), ids, rest })]
}
