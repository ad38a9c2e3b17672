/**
 * The look at a ledger before it is owned: cheap, always, and never a repair. The whole proof is
 * `holon doctor --verify`; this finds what would make the scheduler work on rubble.
 */
import type { DatabaseSync } from 'node:sqlite'
import { tables } from '../../domain/state/event.ts'
import { chainStart, hashOf } from './chain.ts'
import { LedgerFault } from '../port.ts'
import { schema, type Database } from './schema.ts'

/**
 * Bytes up to which every page is looked at. That takes 2 ms a MiB from memory, and some times that
 * from a cold disk: at this size a start feels nothing, at ten times the size it would.
 */
const quickCheckBytes = 32 * 1024 * 1024

type Newest = Database['events']

/** Throws the fault `corrupt`, which names the file and what to do; changes nothing. */
export function checkWhole(database: DatabaseSync, path: string): void {
  const found = problemOf(database)
  if (found !== null) throw damage(path, found)
}

export const damage = (path: string, found: string): LedgerFault =>
  new LedgerFault(
    'corrupt',
    `the ledger ${path} is damaged: ${found}. Keep the file, see what ` +
      '`holon doctor --verify` says, and bring back a backup with `holon restore`',
    'never',
  )

function problemOf(database: DatabaseSync): string | null {
  const size = database
    .prepare('select page_count * page_size as bytes from pragma_page_count, pragma_page_size')
    .get()
  if (Number(size?.['bytes']) <= quickCheckBytes) {
    const line = String(database.prepare('pragma quick_check(1)').get()?.['quick_check'])
    if (line !== 'ok') return line.replaceAll(/\s+/g, ' ')
  }
  const missing = missingOf(database)
  if (missing !== null) return missing
  return newestProblem(database)
}

/** The first table or column that is not there: a flipped bit in a name leaves a sound file. */
function missingOf(database: DatabaseSync): string | null {
  const columns = database
    .prepare(
      `select t.name as name, c.name as "column"
        from sqlite_schema as t, pragma_table_info(t.name) as c where t.type = 'table'`,
    )
    .all()
  const there = new Set(columns.map(({ name, column }) => `${String(name)}.${String(column)}`))
  const tables = new Set(columns.map(({ name }) => name))
  for (const [table, { columns }] of Object.entries(schema)) {
    if (!tables.has(table)) return `the table ${table} is missing`
    const column = Object.keys(columns).find((name) => !there.has(`${table}.${name}`))
    if (column !== undefined) return `the table ${table} has no column ${column}`
  }
  return null
}

/** The newest event must be whole and chained, its row must have it, and no row may be newer. */
function newestProblem(database: DatabaseSync): string | null {
  const meta = database.prepare('select pruned_global_seq as pruned from meta').get()
  const event = database.prepare('select * from events order by global_seq desc limit 1').get() as
    | Newest
    | undefined
  if (!event) {
    return Number(meta?.['pruned'] ?? 0) > 0 ? 'there are no events, though there were' : null
  }
  if (!meta) return 'there are events, but no home they belong to'
  const before = hashBefore(database, event)
  if (before === null) return `the event before ${event.id} is missing`
  if (event.hash !== hashOf(before, event)) return `the newest event, ${event.id}, was changed`
  if (!(event.subject_table in schema)) return `the newest event, ${event.id}, is about no table`
  const row = database
    .prepare(`select changed from ${event.subject_table} where id = ?`)
    .get(event.subject_id)
  if (row?.['changed'] !== event.global_seq) {
    return `${event.subject_table} ${event.subject_id} does not have its newest event`
  }
  const ahead = tables.find((table) => {
    const newest = database.prepare(`select max(born) as born from ${table}`).get()
    return Number(newest?.['born'] ?? 0) > event.global_seq
  })
  return ahead === undefined ? null : `${ahead} have a row whose event is missing`
}

function hashBefore(database: DatabaseSync, event: Newest): string | null {
  if (event.seq === 1) return chainStart
  const kept = database
    .prepare('select hash from events where agent_id = ? and seq = ?')
    .get(event.agent_id, event.seq - 1)
  const floor = database
    .prepare('select hash from floors where agent_id = ? and seq = ?')
    .get(event.agent_id, event.seq - 1)
  const found = (kept ?? floor)?.['hash']
  return typeof found === 'string' ? found : null
}
