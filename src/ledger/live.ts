/**
 * The rows of one agent that a rule may need: what `domain/facts.ts` calls live, the items
 * completed last, and every message that came after the open turn looked. Each part walks an
 * index, so the cost follows the open work and not the history.
 *
 * A start reads every agent, and one may have ten thousand items: two queries each, and the rows
 * come as one text, parsed at once, which takes two thirds of parsing them one by one.
 */
import { CompiledQuery, sql, type Kysely } from 'kysely'
import { tables, type Rows, type Table } from '../domain/event.ts'
import { isLiveWait } from '../domain/facts.ts'
import type { AgentId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'
import { unverifiedFrom } from './columns.ts'
import type { LiveRows } from './port.ts'
import type { Database } from './schema.ts'

/** Completed items that come with the live rows; the prompt shows a few of them. */
const completedKept = 20

/** One agent's live rows as of one moment, oldest first within a table; null: no such agent. */
export function readLive(db: Kysely<Database>, agent_id: AgentId): Promise<LiveRows | null> {
  return db
    .transaction()
    .setAccessMode('read only')
    .execute(async (trx) => {
      const head = await headOf(trx, agent_id)
      if (head === null) return null
      const turn = head.turn === null ? null : (JSON.parse(head.turn) as Rows['turns'])
      const found = await textOf(trx, {
        agent: agent_id,
        turn: turn?.id ?? null,
        item: turn?.work_item_id ?? null,
        cut: turn?.input_cut ?? null,
        at: head.at,
      })
      const rows: (readonly [Table, Rows[Table]])[] = [
        ['agents', JSON.parse(head.agent) as Rows['agents']],
      ]
      for (const [part, , row] of found.sort(byPlace)) {
        const table = tables[part >> 1] as Table
        // The condition on columns is wide enough for it, and a little wider.
        if (table !== 'waits' || isLiveWait(row as Rows['waits'])) rows.push([table, row])
      }
      if (turn !== null) rows.push(['turns', turn])
      return { seq: head.seq, last_at: head.at, rows }
    })
}

/** Two looks into an index for each agent: as quick with a long history as with none. */
export async function readAgentsAtWork(db: Kysely<Database>): Promise<AgentId[]> {
  const found = await db
    .selectFrom('agents')
    .select('id')
    .where((eb) => {
      const turns = eb.selectFrom('turns').whereRef('turns.agent_id', '=', 'agents.id')
      const messages = eb.selectFrom('messages').whereRef('messages.agent_id', '=', 'agents.id')
      const open = turns.where('turns.state', '=', sql.lit('open')).select('turns.id')
      const live = messages.where('messages.status', 'in', ['queued', 'claimed'])
      return eb.or([eb.exists(open), eb.exists(live.select('messages.id'))])
    })
    .orderBy('born')
    .execute()
  return found.map(({ id }) => id)
}

type Head = { agent: string; seq: number; at: Timestamp; turn: string | null }

/** The state stands in the query, not in a parameter: so does the condition of its index. */
const headQuery = `
  select agents.data as agent, last.seq, last.at, turns.data as turn
  from agents
  join events as last on last.agent_id = agents.id and last.seq =
    (select seq from events where agent_id = agents.id order by seq desc limit 1)
  left join turns on turns.agent_id = agents.id and turns.state = 'open'
  where agents.id = ?`

async function headOf(db: Kysely<Database>, agent_id: AgentId): Promise<Head | null> {
  const { rows } = await db.executeQuery<Head>(CompiledQuery.raw(headQuery, [agent_id]))
  return rows[0] ?? null
}

/** Where it belongs, its place among those beside it, and the row. */
type Placed = readonly [part: number, place: number, row: Rows[Table]]

/** Not by SQL: asked for an order, SQLite walks the index of all the agent's rows. */
const byPlace = (a: Placed, b: Placed): number => a[0] - b[0] || a[1] - b[1]

/** A part of the answer: twice the index of its table, and one more for what stands behind. */
const part = (table: Table, place: string, which: string, behind = 0): string =>
  `select ${tables.indexOf(table) * 2 + behind} as part, ${place} as place, data
    from ${table} where ${which}`

const openItems = `select id from work_items
  where agent_id = (select agent from given) and state = 'open'`

/** Conditions are as their partial indexes say: SQLite uses one only when a query says the same. */
const parts = [
  part('work_items', 'born', `agent_id = (select agent from given) and state = 'open'`),
  `select * from (
    ${part('work_items', 'changed_seq', `agent_id = (select agent from given)`, 1)}
    and state = 'completed' and changed_seq < ${unverifiedFrom}
    order by changed_seq desc limit ${completedKept})`,
  part(
    'work_items',
    `changed_seq - ${unverifiedFrom}`,
    `agent_id = (select agent from given) and state = 'completed'
      and changed_seq >= ${unverifiedFrom}`,
    1,
  ),
  part('pacing', 'born', `id in (${openItems} union all select agent from given)`),
  part(
    'meters',
    'born',
    `id in (${openItems} union all select agent from given union all select item from given
      union all select id from meters where agent_id = (select agent from given) and reserved = 1)`,
  ),
  // `isLiveWait` as a condition on columns.
  part(
    'waits',
    'born',
    `agent_id = (select agent from given) and (status = 'active'
      or (status = 'resolved' and focus_settled = 0
        and (released_focus = 1 or (work_item_id is null and wake in ('timer', 'task_result')))))`,
  ),
  part(
    'messages',
    'inbox_seq',
    `agent_id = (select agent from given) and status in ('queued', 'claimed')`,
  ),
  // Nothing is greater than no cut.
  part(
    'messages',
    'inbox_seq',
    `agent_id = (select agent from given) and inbox_seq > (select cut from given)
      and status not in ('queued', 'claimed')`,
  ),
  part(
    'tasks',
    'born',
    `agent_id = (select agent from given) and status in ('queued', 'running', 'cancelling')`,
  ),
  // Where input may come from, and what of the attention list is put away.
  part('triggers', 'born', `agent_id = (select agent from given) and status = 'active'`),
  part(
    'schedules',
    'born',
    `agent_id = (select agent from given) and status in ('active', 'paused')`,
  ),
  part('snoozes', 'born', `agent_id = (select agent from given) and until is null`),
  part(
    'snoozes',
    'born',
    `agent_id = (select agent from given) and until > (select at from given)`,
  ),
  // What links it to its children, and what of theirs stands on the disk.
  part('delegations', 'born', `agent_id = (select agent from given) and state = 'active'`),
  part(
    'worktrees',
    'born',
    `agent_id = (select agent from given) and state in ('planned', 'ready', 'kept')`,
  ),
  part('rounds', 'born', `turn_id = (select turn from given)`),
  part('calls', 'born', `turn_id = (select turn from given)`),
]

const partsQuery = `
  with given (agent, turn, item, cut, at) as (select ?, ?, ?, ?, ?)
  select '[' || group_concat('[' || part || ',' || place || ',' || data || ']') || ']' as text
  from (${parts.join('\n  union all ')})`

type Given = {
  agent: AgentId
  turn: string | null
  item: string | null
  cut: number | null
  at: Timestamp
}

async function textOf(db: Kysely<Database>, given: Given): Promise<Placed[]> {
  const { agent, turn, item, cut, at } = given
  const { rows } = await db.executeQuery<{ text: string | null }>(
    CompiledQuery.raw(partsQuery, [agent, turn, item, cut, at]),
  )
  const text = rows[0]?.text ?? null
  return text === null ? [] : (JSON.parse(text) as Placed[])
}
