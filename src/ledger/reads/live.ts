/**
 * The rows of one agent that a rule may need: what `domain/facts/live-rows.ts` calls live, the
 * items completed last, and every message that came after the open turn looked. Each part walks an
 * index, so the cost follows the open work and not the history.
 *
 * A start reads every agent: two queries each, and the rows come as one text, parsed at once, which
 * takes two thirds of parsing them one by one. One may have ten thousand items: what is more than a
 * page comes page by page (live-pages.ts).
 */
import { CompiledQuery, sql, type Kysely } from 'kysely'
import { tables, type Rows, type Table } from '../../domain/state/event.ts'
import { isLiveWait } from '../../domain/facts/live-rows.ts'
import type { AgentId } from '../../domain/ids.ts'
import { liveTaskStatuses } from '../../domain/state/task.ts'
import type { Timestamp } from '../../domain/time.ts'
import { unverifiedFrom } from '../sqlite/columns.ts'
import {
  isLiveByColumns,
  openItemsBehind,
  pageRows,
  waitsBehind,
  type RowPosition,
} from './live-pages.ts'
import type { LiveRows } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

/** As a list of SQL. */
const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ')

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
      const more = await readMore(trx, agent_id, found)
      const add = (table: Table, row: Rows[Table]) => {
        // The condition on columns is wide enough for it, and a little wider.
        if (table !== 'waits' || isLiveWait(row as Rows['waits'])) rows.push([table, row])
      }
      found.sort(byPlace)
      for (const [i, [part, , row]] of found.entries()) {
        add(tables[part >> 1] as Table, row)
        if (found[i + 1]?.[0] === part) continue
        for (const one of more.get(part) ?? []) add(tables[part >> 1] as Table, one)
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
const partOf = (table: Table, behind = 0): number => tables.indexOf(table) * 2 + behind

const part = (table: Table, place: string, which: string, behind = 0): string =>
  `select ${partOf(table, behind)} as part, ${place} as place, data
    from ${table} where ${which}`

/** The same, of a part that goes on page by page. */
const firstPage = (table: Table, which: string): string =>
  `select * from (${part(table, 'born', which)} order by born limit ${pageRows})`

const openItems = `select id from work_items
  where agent_id = (select agent from given) and state = 'open' order by born limit ${pageRows}`

const recentlyCompleted = `agent_id = (select agent from given)
    and state = 'completed' and changed_seq < ${unverifiedFrom}
    order by changed_seq desc limit ${completedKept}`

const notVerified = `agent_id = (select agent from given) and state = 'completed'
      and changed_seq >= ${unverifiedFrom}`

/** Conditions are as their partial indexes say: SQLite uses one only when a query says the same. */
const parts = [
  firstPage('work_items', `agent_id = (select agent from given) and state = 'open'`),
  `select * from (${part('work_items', 'changed_seq', recentlyCompleted, 1)})`,
  part('work_items', `changed_seq - ${unverifiedFrom}`, notVerified, 1),
  part('pacing', 'born', `id in (select * from (${openItems}) union all select agent from given)`),
  part(
    'meters',
    'born',
    `id in (select * from (${openItems})
      union all select * from (select id from work_items where ${recentlyCompleted})
      union all select id from work_items where ${notVerified}
      union all select agent from given union all select item from given
      union all select id from meters where agent_id = (select agent from given) and reserved = 1)`,
  ),
  firstPage('waits', `agent_id = (select agent from given) and ${isLiveByColumns}`),
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
  // What the turn was shown. Nothing was claimed by no turn, and nothing is at most no cut.
  part(
    'messages',
    'inbox_seq',
    `turn_id = (select turn from given) and inbox_seq <= (select cut from given)
      and status not in ('queued', 'claimed')`,
  ),
  part(
    'tasks',
    'born',
    `agent_id = (select agent from given) and status in (${quoted(liveTaskStatuses)})`,
  ),
  // Where input may come from, and what of the attention list is put away.
  part('grants', 'born', `agent_id = (select agent from given) and status = 'active'`),
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

const [items, waits] = [partOf('work_items'), partOf('waits')]

/**
 * What lies behind the first page of a part, oldest first; rows of other parts that belong to it
 * are added to `found`, where they are not among them yet.
 */
async function readMore(
  db: Kysely<Database>,
  agent: AgentId,
  found: Placed[],
): Promise<Map<number, readonly Rows[Table][]>> {
  const more = new Map<number, readonly Rows[Table][]>()
  // Fewer rows than a page has are all of them, whatever they belong to.
  if (found.length < pageRows) return more
  const seen = { [items]: 0, [waits]: 0 }
  const last = { [items]: 0, [waits]: 0 }
  for (const [part, place] of found) {
    if (part !== items && part !== waits) continue
    seen[part] = (seen[part] ?? 0) + 1
    last[part] = Math.max(last[part] ?? 0, place)
  }
  if (seen[waits] === pageRows) {
    more.set(waits, await waitsBehind(db, { agent, born: last[waits] ?? 0 }))
  }
  if (seen[items] !== pageRows) return more
  const behind = await openItemsBehind(db, { agent, born: last[items] ?? 0 })
  more.set(items, behind.items)
  addTo(found, partOf('pacing'), behind.pacing)
  addTo(found, partOf('meters'), behind.meters)
  return more
}

/** The meters of the open turn are read whatever item they are of, so one may be there already. */
function addTo(found: Placed[], part: number, rows: readonly RowPosition[]): void {
  const there = new Set(found.flatMap(([of, place]) => (of === part ? [place] : [])))
  for (const [place, row] of rows) if (!there.has(place)) found.push([part, place, row])
}
