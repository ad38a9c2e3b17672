/**
 * The events as a sequence: dense from the floor over the home and in each agent, times that never
 * decrease, one order in both, and a chain of hashes in which a changed event stands out.
 */
import { sql, type Kysely } from 'kysely'
import { chainStart, hashOf } from '../sqlite/chain.ts'
import type { Database } from '../sqlite/schema.ts'
import { mostProblems, type Report } from './report.ts'

/** Events read with one query. */
const page = 1_000

export async function checkOrder(db: Kysely<Database>, report: Report): Promise<void> {
  await globalOrder(db, report)
  const agents = await db.selectFrom('events').select('agent_id').distinct().execute()
  for (const { agent_id } of agents) await agentOrder(db, agent_id, report)
}

async function globalOrder(db: Kysely<Database>, report: Report): Promise<void> {
  const meta = await db.selectFrom('meta').select('pruned_global_seq').executeTakeFirst()
  const floor = meta?.pruned_global_seq ?? 0
  const gaps = await sql<{ global_seq: number; before: number }>`
    select global_seq, before from (
      select global_seq, lag(global_seq, 1, ${floor}) over (order by global_seq) as before
      from events where global_seq > ${floor}
    ) where global_seq <> before + 1 limit ${mostProblems}`.execute(db)
  for (const { global_seq, before } of gaps.rows) {
    report.add(`events: global_seq ${global_seq} follows ${before}, so something is missing`)
  }
}

const beginning = { seq: 0, global_seq: 0, at: '', hash: chainStart }

async function agentOrder(db: Kysely<Database>, agent_id: string, report: Report): Promise<void> {
  const floor = await db
    .selectFrom('floors')
    .select(['seq', 'global_seq', 'at', 'hash'])
    .where('agent_id', '=', agent_id)
    .executeTakeFirst()
  let before = floor ?? beginning
  for (;;) {
    const events = await db
      .selectFrom('events')
      .selectAll()
      .where('agent_id', '=', agent_id)
      .where('seq', '>', before.seq)
      .orderBy('seq')
      .limit(page)
      .execute()
    for (const event of events) {
      report.events++
      const where = `events ${event.id}: seq ${event.seq} of ${agent_id}`
      if (event.seq !== before.seq + 1) report.add(`${where} follows seq ${before.seq}`)
      if (event.at < before.at) report.add(`${where} is earlier than the one before it`)
      if (event.global_seq < before.global_seq) {
        report.add(`${where} has a lower global_seq than the one before it`)
      }
      if (event.hash !== hashOf(before.hash, event)) {
        report.add(`${where} was changed: its hash is not that of it and the one before it`)
      }
      before = event
    }
    if (events.length < page) return
  }
}
