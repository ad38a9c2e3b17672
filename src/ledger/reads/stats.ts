/**
 * How big the ledger is: above the floor the events are counted by their ends, because none is
 * missing there. Asked of the store, never of the files: opening a database's files by hand
 * drops its locks.
 */
import { sql, type Kysely } from 'kysely'
import type { LedgerStats } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

export async function readStats(db: Kysely<Database>): Promise<LedgerStats> {
  const { rows } = await sql<LedgerStats>`
    select
      (select user_version from pragma_user_version) as schema,
      (select count(*) from events where global_seq <= floor)
        + (select coalesce(max(global_seq) - floor, 0) from events) as events,
      (select page_count from pragma_page_count) * (select page_size from pragma_page_size) as bytes
    from (select coalesce(max(pruned_global_seq), 0) as floor from meta)
  `.execute(db)
  return { ...(rows[0] ?? { schema: 0, events: 0, bytes: 0 }) }
}

export async function readMadeAtSchema(db: Kysely<Database>): Promise<number> {
  const meta = await db.selectFrom('meta').select('made_at_schema').executeTakeFirst()
  return meta?.made_at_schema ?? 0
}
