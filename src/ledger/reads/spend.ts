/**
 * What the recorded rounds have used, by agent, work item and day, and how much of everything there
 * is. Sums walk one index that holds all they need; what retention took is in `spent`.
 */
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { AgentId } from '../../domain/ids.ts'
import type { SpendFilter } from '../../ports/ledger-filters.ts'
import type { Counts, SpendSum } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

const keys = { agent: 'agent_id', item: 'work_item_id', day: 'day' } as const

/** Groups in the order of their keys; no group has no requests. */
export async function readSpend(db: Kysely<Database>, filter: SpendFilter): Promise<SpendSum[]> {
  const by = Object.entries(keys).flatMap(([word, column]) =>
    filter.by.includes(word as keyof typeof keys) ? [column] : [],
  )
  const names = Object.values(keys).map((column) =>
    by.includes(column) ? sql.ref(column) : sql`null as ${sql.ref(column)}`,
  )
  const groups = by.map((column) => sql.ref(column))
  const grouped =
    groups.length === 0 ? sql`` : sql`group by ${sql.join(groups)} order by ${sql.join(groups)}`
  const { rows } = await sql<SpendSum>`
    select ${sql.join(names)}, sum(requests) as requests, sum(unpriced) as unpriced,
      sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
      sum(cached_input_tokens) as cached_input_tokens,
      sum(cache_write_tokens) as cache_write_tokens,
      sum(reasoning_tokens) as reasoning_tokens, sum(usd) as usd
    from (${kept(filter)} union all ${taken(filter)})
    ${grouped}`.execute(db)
  // Without groups SQL answers one row also over nothing.
  return rows.filter(({ requests }) => requests > 0).map((row) => ({ ...row }))
}

/** Rounds that are there; an answer is a request that was paid for. */
const kept = (filter: SpendFilter): RawBuilder<unknown> => sql`
  select agent_id, work_item_id, day, count(*) as requests,
    count(*) filter (where usd is null) as unpriced,
    coalesce(sum(input_tokens), 0) as input_tokens,
    coalesce(sum(output_tokens), 0) as output_tokens,
    coalesce(sum(cached_input_tokens), 0) as cached_input_tokens,
    coalesce(sum(cache_write_tokens), 0) as cache_write_tokens,
    coalesce(sum(reasoning_tokens), 0) as reasoning_tokens, sum(usd) as usd
  from rounds where day is not null ${narrowed(filter)}
  group by agent_id, day, work_item_id`

const taken = (filter: SpendFilter): RawBuilder<unknown> => sql`
  select agent_id, nullif(work_item_id, ''), day, requests, unpriced, input_tokens, output_tokens,
    cached_input_tokens, cache_write_tokens, reasoning_tokens, usd
  from spent where true ${narrowed(filter)}`

function narrowed({ agent_id, work_item_id, from, to }: SpendFilter): RawBuilder<unknown> {
  const all: RawBuilder<unknown>[] = []
  const days = from !== undefined || to !== undefined
  if (agent_id !== undefined) all.push(sql`and agent_id = ${agent_id}`)
  // The index is agent by agent: so the days of all of them are as many short walks.
  else if (days) all.push(sql`and agent_id in (select id from agents)`)
  if (work_item_id !== undefined) all.push(sql`and work_item_id = ${work_item_id}`)
  if (from !== undefined) all.push(sql`and day >= ${from}`)
  if (to !== undefined) all.push(sql`and day <= ${to}`)
  return all.length === 0 ? sql`` : sql.join(all, sql` `)
}

/** The events of who is spoken to are walked back to the word, and all rounds since counted. */
export async function readRequestsSinceWord(
  db: Kysely<Database>,
  agents: readonly AgentId[],
  spoken_to: readonly AgentId[],
): Promise<number> {
  let word = 0
  for (const agent of spoken_to) {
    const found = await db
      .selectFrom('events')
      .select('global_seq')
      .where('agent_id', '=', agent)
      .where('global_seq', '>', word)
      .where('causation_id', '=', 'operator')
      .orderBy('global_seq', 'desc')
      .limit(1)
      .executeTakeFirst()
    word = found?.global_seq ?? word
  }
  let requests = 0
  for (const agent of agents) {
    const { count } = await db
      .selectFrom('rounds')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('agent_id', '=', agent)
      .where('day', 'is not', null)
      .where('born', '>', word)
      .executeTakeFirstOrThrow()
    requests += count
  }
  return requests
}

const counted = {
  open_items: sql`work_items where state = 'open'`,
  completed_items: sql`work_items where state = 'completed'`,
  active_waits: sql`waits where status = 'active'`,
  running_tasks: sql`tasks where status in ('queued', 'running', 'cancelling')`,
  queued_messages: sql`messages where status = 'queued'`,
  dead_deliveries: sql`deliveries where status = 'dead'`,
} as const satisfies Record<keyof Counts, RawBuilder<unknown>>

/** Each count walks an index over the rows it counts. */
export async function readCounts(db: Kysely<Database>, agent_id: AgentId | null): Promise<Counts> {
  // Agent by agent, because that is how the indexes are ordered.
  const ofAgent =
    agent_id === null
      ? sql`and agent_id in (select id from agents)`
      : sql`and agent_id = ${agent_id}`
  const counts = Object.entries(counted).map(
    ([name, from]) => sql`(select count(*) from ${from} ${ofAgent}) as ${sql.ref(name)}`,
  )
  const { rows } = await sql<Counts>`select ${sql.join(counts)}`.execute(db)
  const found = rows[0]
  if (!found) throw new Error('a select without a from has one row')
  return { ...found }
}
