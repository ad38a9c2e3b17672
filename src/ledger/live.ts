/**
 * The rows of one agent that a rule may need: what `domain/facts.ts` calls live, the items
 * completed last, and every message that came after the open turn looked. Each query walks an
 * index, so the cost follows the open work and not the history.
 */
import { CompiledQuery, sql, type Kysely } from 'kysely'
import type { Rows, Table } from '../domain/event.ts'
import { isLiveWait } from '../domain/facts.ts'
import type { AgentId, TurnId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'
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
      const agent = await trx
        .selectFrom('agents')
        .select('data')
        .where('id', '=', agent_id)
        .executeTakeFirst()
      const last = await trx
        .selectFrom('events')
        .select(['seq', 'at'])
        .where('agent_id', '=', agent_id)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!agent || !last) return null
      const turn = await openTurn(trx, agent_id)
      const rows: (readonly [Table, Rows[Table]])[] = [
        ['agents', JSON.parse(agent.data) as Rows['agents']],
        ...(await itemsAndPacing(trx, agent_id)),
        ...(await meters(trx, agent_id, turn?.work_item_id ?? null)),
        ...(await waits(trx, agent_id)),
        ...(await messages(trx, agent_id, turn?.input_cut ?? null)),
        ...(await tasks(trx, agent_id)),
        ...(await inlets(trx, agent_id, last.at)),
        ...(await children(trx, agent_id)),
        ...(turn ? [['turns', turn] as const, ...(await ofTurn(trx, turn.id))] : []),
      ]
      return { seq: last.seq, last_at: last.at, rows }
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

type Found = (readonly [Table, Rows[Table]])[]

/**
 * In the order they were made. Not by SQL: asked for that order, SQLite walks the index of all the
 * agent's rows and not the one of the few that are live.
 */
const byBirth = <R extends { born: number }>(rows: R[]): R[] => rows.sort((a, b) => a.born - b.born)

const parsed = (table: Table, rows: readonly { data: string }[]): Found =>
  rows.map(({ data }) => [table, JSON.parse(data) as Rows[Table]] as const)

/** The state stands in the query, not in a parameter: so does the condition of its index. */
async function openTurn(db: Kysely<Database>, agent_id: AgentId): Promise<Rows['turns'] | null> {
  const found = await db
    .selectFrom('turns')
    .select('data')
    .where('agent_id', '=', agent_id)
    .where('state', '=', sql.lit('open'))
    .executeTakeFirst()
  return found ? (JSON.parse(found.data) as Rows['turns']) : null
}

async function itemsAndPacing(db: Kysely<Database>, agent_id: AgentId): Promise<Found> {
  const items = db.selectFrom('work_items').where('work_items.agent_id', '=', agent_id)
  const open = items.where('work_items.state', '=', 'open')
  const completed = await items
    .select('data')
    .where('work_items.state', '=', 'completed')
    .orderBy('changed_seq', 'desc')
    .limit(completedKept)
    .execute()
  const paces = await open
    .innerJoin('pacing', 'pacing.id', 'work_items.id')
    .select('pacing.data')
    .execute()
  const own = await db.selectFrom('pacing').select('data').where('id', '=', agent_id).execute()
  return [
    ...parsed('work_items', await open.select('data').execute()),
    ...parsed('work_items', completed.toReversed()),
    ...parsed('pacing', paces),
    ...parsed('pacing', own),
  ]
}

/** Of open items, of the item of the open turn, of the agent itself, and what is reserved. */
async function meters(
  db: Kysely<Database>,
  agent_id: AgentId,
  of_turn: string | null,
): Promise<Found> {
  const ofItems = await db
    .selectFrom('work_items')
    .innerJoin('meters', 'meters.id', 'work_items.id')
    .select(['meters.born', 'meters.data'])
    .where('work_items.agent_id', '=', agent_id)
    .where('work_items.state', '=', 'open')
    .execute()
  const named = await db
    .selectFrom('meters')
    .select(['born', 'data'])
    .where('id', 'in', of_turn === null ? [agent_id] : [agent_id, of_turn])
    .execute()
  const reserved = await db
    .selectFrom('meters')
    .select(['born', 'data'])
    .where('agent_id', '=', agent_id)
    .where('reserved', '=', sql.lit(1))
    .execute()
  const all = new Map([...ofItems, ...named, ...reserved].map((row) => [row.born, row]))
  return parsed('meters', byBirth([...all.values()]))
}

/**
 * `isLiveWait` as a condition on columns, wide enough for it: SQLite uses the partial index only
 * when a query says the same.
 */
const liveWait = sql<boolean>`(status = 'active'
  or (status = 'resolved' and focus_settled = 0
    and (released_focus = 1 or (work_item_id is null and wake in ('timer', 'task_result')))))`

async function waits(db: Kysely<Database>, agent_id: AgentId): Promise<Found> {
  const rows = await db
    .selectFrom('waits')
    .select(['born', 'data'])
    .where('agent_id', '=', agent_id)
    .where(liveWait)
    .execute()
  return parsed('waits', byBirth(rows)).filter(([, row]) => isLiveWait(row as Rows['waits']))
}

async function messages(
  db: Kysely<Database>,
  agent_id: AgentId,
  input_cut: number | null,
): Promise<Found> {
  const ofAgent = db
    .selectFrom('messages')
    .select(['inbox_seq', 'data'])
    .where('agent_id', '=', agent_id)
  const live = await ofAgent.where('status', 'in', ['queued', 'claimed']).execute()
  const sinceCut =
    input_cut === null
      ? []
      : await ofAgent
          .where('inbox_seq', '>', input_cut)
          .where('status', 'not in', ['queued', 'claimed'])
          .execute()
  return parsed(
    'messages',
    [...live, ...sinceCut].sort((a, b) => a.inbox_seq - b.inbox_seq),
  )
}

/**
 * Rows of an agent under a condition, oldest first. The condition is text of this file and never a
 * value: a start reads every agent, and building each query anew was a quarter of that.
 */
async function rowsWhere(
  db: Kysely<Database>,
  table: Table,
  condition: string,
  values: readonly string[],
): Promise<Found> {
  const query = `select born, data from ${table} where agent_id = ? and ${condition}`
  const { rows } = await db.executeQuery<{ born: number; data: string }>(
    CompiledQuery.raw(query, [...values]),
  )
  return parsed(table, byBirth([...rows]))
}

const tasks = (db: Kysely<Database>, agent: AgentId): Promise<Found> =>
  rowsWhere(db, 'tasks', `status in ('queued', 'running', 'cancelling')`, [agent])

/** Where input may come from, and what of the attention list is put away. */
async function inlets(db: Kysely<Database>, agent: AgentId, at: Timestamp): Promise<Found> {
  return [
    ...(await rowsWhere(db, 'triggers', `status = 'active'`, [agent])),
    ...(await rowsWhere(db, 'schedules', `status in ('active', 'paused')`, [agent])),
    ...(await rowsWhere(db, 'snoozes', `until is null`, [agent])),
    ...(await rowsWhere(db, 'snoozes', `until > ?`, [agent, at])),
  ]
}

/** What links it to its children, and what of theirs stands on the disk. */
async function children(db: Kysely<Database>, agent: AgentId): Promise<Found> {
  return [
    ...(await rowsWhere(db, 'delegations', `state = 'active'`, [agent])),
    ...(await rowsWhere(db, 'worktrees', `state in ('planned', 'ready', 'kept')`, [agent])),
  ]
}

async function ofTurn(db: Kysely<Database>, turn_id: TurnId): Promise<Found> {
  const of = async (table: 'rounds' | 'calls'): Promise<Found> =>
    parsed(
      table,
      await db
        .selectFrom(table)
        .select('data')
        .where('turn_id', '=', turn_id)
        .orderBy('born')
        .execute(),
    )
  return [...(await of('rounds')), ...(await of('calls'))]
}
