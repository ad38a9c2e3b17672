/**
 * `holon why <item>`: what holds it, what comes next, and what the scheduler says now; with
 * `--history` the stored decisions that chose it or passed it over, with every verdict.
 */
import { projectionOf } from '../protocol/agent-view.ts'
import { whyOf, type Decision } from '../protocol/why.ts'
import { historyLines, whyLines } from '../present/why-text.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from './context.ts'
import { exits, type Exit } from './failure.ts'
import { printRecord } from './records.ts'

export type WhyOptions = { history?: boolean }

/** Stored decisions that are shown, and that are looked through; the events have the rest. */
const [most, looked] = [20, 500]

/** It was chosen, or it was looked at and passed over. */
const isAbout = ({ work_item_id, considered }: Decision, id: string): boolean =>
  work_item_id === id || considered.some((one) => 'work_item_id' in one && one.work_item_id === id)

export function why(context: Context, text: string, { history }: WhyOptions): Promise<Exit> {
  return reading(context, async (reader, moment) => {
    const id = await idOf(context, reader, text, ['work'])
    const item = await reader.row('work_items', id)
    if (item === null) throw new Error(`no row for ${id}`)
    const { agent_id } = item
    if (context.flags.json === true) {
      const path = `/agents/${agent_id}/work-items/${id}/why`
      return printRecord(context, path, history === true ? { history } : {})
    }
    const [view] = await viewsOf(reader, moment, agent_id)
    const projection = view && projectionOf(view, id, item)
    if (!view || !projection) throw new Error(`no view of ${agent_id}`)
    const [last] = await reader.list('decisions', { agent_id, limit: 1 })
    const asked = history === true ? { agent_id, limit: looked } : { work_item_id: id, limit: 1 }
    const stored = (await reader.list('decisions', asked)).filter((one) => isAbout(one, id))
    const newest = stored.toReversed().slice(0, most)
    const found = whyOf(view, projection, last ?? null)
    const style = { zone: zoneOf(context), ids: context.ids, decided: true }
    printLines(context, whyLines(found, style))
    printLines(context, behind(context, { id, history, newest, more: stored.length > most }))
    return exits.done
  })
}

type Behind = { id: string; history: boolean | undefined; newest: Decision[]; more: boolean }

/** The stored decisions, or how to see them. */
function behind(context: Context, { id, history, newest, more }: Behind): string[] {
  const { ids } = context
  const short = ids.short(id)
  if (history === true) {
    const rest = more ? `holon events --work-item ${short}` : null
    return ['', ...historyLines(newest, { zone: zoneOf(context), ids, rest })]
  }
  return newest.length === 0 ? [] : [`earlier decisions: holon why ${short} --history`]
}
