/**
 * Proof that the rows are what the events say: folds every event again and compares whole rows,
 * checks both sequences and the chain of hashes, the blobs that rows name, and the file itself.
 *
 * Holds a page of events at a time, however long the history is: they are read in the order of the
 * rows they change, so a row is folded, compared and forgotten. Works on a snapshot of its own, so
 * the owner may go on committing beside it.
 */
import { sql, type Kysely } from 'kysely'
import { tables, type Table } from '../../domain/state/event.ts'
import { checkBlob } from '../blobs/blob-rows.ts'
import { LedgerFault, type VerifyReport } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'
import { checkRows, type BlobCheck } from './fold.ts'
import { checkOrder } from './order.ts'
import { mostProblems, Report } from './report.ts'
import { checkShortIds } from './short-ids.ts'

/** `file` says how a blob stands that is no row. */
export async function verifyStore(db: Kysely<Database>, file: BlobCheck): Promise<VerifyReport> {
  const report = new Report()
  try {
    await db
      .transaction()
      .setAccessMode('read only')
      .execute(async (trx) => {
        await integrity(trx, report)
        await checkOrder(trx, report)
        await checkRows(trx, (sha256) => checkBlob(trx, file, sha256), report)
        for (const table of tables) await strayRows(trx, table, report)
        await checkShortIds(trx, report)
      })
  } catch (error) {
    // A page that cannot be read ends the work; what was found until then is still worth saying.
    if (!isCorruption(error)) throw error
    report.add(`the file cannot be read to its end: ${error.message}`)
  }
  return report.finish()
}

const isCorruption = (error: unknown): error is Error =>
  (error instanceof LedgerFault && error.code === 'corrupt') ||
  (error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    [11, 26].includes(error.errcode & 0xff))

async function integrity(db: Kysely<Database>, report: Report): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(db)
  for (const { integrity_check: line } of rows) {
    if (line !== 'ok') report.add(`the file is damaged: ${line}`)
  }
}

/** Rows that no event made: `born` names the first event of a row, or its baseline. */
async function strayRows(db: Kysely<Database>, table: Table, report: Report): Promise<void> {
  const stray = await db
    .selectFrom(`${table as 'work_items'} as row`)
    .leftJoin('events', 'events.global_seq', 'row.born')
    .leftJoin('baselines', 'baselines.born', 'row.born')
    .select('row.id')
    .where((eb) =>
      eb.and(
        (['events', 'baselines'] as const).map((made) =>
          eb.or([
            eb(`${made}.subject_id`, 'is distinct from', eb.ref('row.id')),
            eb(`${made}.subject_table`, 'is distinct from', table),
          ]),
        ),
      ),
    )
    .limit(mostProblems)
    .execute()
  for (const { id } of stray) report.add(`${table} ${id}: a row that no event made`)
}
