/** `holon grants`: what commands may do without a question, for how long, and how often it was. */
import { grantWords, isInForce, type Grant } from '../../protocol/records/records.ts'
import { safeLine } from '../../present/text/safe.ts'
import { due, since, type Zone } from '../../present/text/span.ts'
import { table, type Column } from '../../present/text/table.ts'
import { act } from '../command/act.ts'
import { idOf, printLines, reading, viewsOf, zoneOf, type Context } from '../command/context.ts'
import { exits, type Exit } from '../command/failure.ts'
import { printList } from '../command/records.ts'

/** Grants of one agent that are read: far above what a person gives. */
const most = 1_000

const columns: readonly Column[] = [
  { title: 'GRANT' },
  { title: 'FOR' },
  { title: 'ALLOWS', min: 16 },
  { title: 'USED', align: 'right' },
  { title: 'ENDS', min: 8 },
  { title: 'FROM' },
]

export function grants(
  context: Context,
  options: { agent?: string; all?: boolean },
): Promise<Exit> {
  if (context.flags.json === true) {
    const path = (agent: string) => `/agents/${agent}/grants`
    const query = { status: options.all === true ? 'all' : 'active' }
    return printList(context, { plural: 'grants', path, agent: options.agent, query })
  }
  return reading(context, async (reader, moment) => {
    const views = await viewsOf(reader, moment, options.agent)
    const lists = await Promise.all(
      views.map(({ agent }) => reader.list('grants', { agent_id: agent.id, limit: most })),
    )
    const { now } = moment
    const shown = lists.flat().filter((one) => options.all === true || isInForce(one, now))
    if (shown.length === 0) {
      printLines(context, ['nothing is allowed beyond once'])
      return exits.done
    }
    const zone = zoneOf(context)
    const { ids } = context
    ids.know(shown.flatMap(({ id, task_id, work_item_id }) => [id, task_id, work_item_id ?? id]))
    const rows = shown.map((grant) =>
      [
        ids.short(grant.id),
        grant.work_item_id === null ? `agent ${grant.agent_id}` : ids.short(grant.work_item_id),
        grantWords(grant),
        used(grant, zone),
        ends(grant, zone),
        ids.short(grant.task_id),
      ].map(safeLine),
    )
    printLines(context, table(columns, rows, context.medium))
    return exits.done
  })
}

const used = ({ uses, last_used_at }: Grant, zone: Zone): string =>
  last_used_at === null ? String(uses) : `${uses}, ${since(last_used_at, zone)} ago`

function ends({ status, because, until }: Grant, zone: Zone): string {
  if (status === 'ended') return `ended: ${because}`
  return until === null ? 'with its item' : due(until, zone)
}

export async function revokeGrant(context: Context, target: string): Promise<Exit> {
  const { id, agent_id } = await reading(context, async (reader) => {
    const found = await idOf(context, reader, target, ['grant'])
    const row = await reader.row('grants', found)
    if (row === null) throw new Error(`no row for ${found}`)
    return row
  })
  return act(context, { do: 'revoke_grant', agent_id, grant_id: id })
}
