/** Everything a ledger has, read page by page: for what checks a whole home. */
import type { Rows, StoredEvent, Table } from '../../domain/state/event.ts'
import type { LedgerReads } from '../../ledger/port.ts'

/** Rows or events of one read. */
const page = 2_000

export async function allEvents(reader: LedgerReads): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (;;) {
    const more = await reader.events({ after: all.at(-1)?.global_seq ?? 0, limit: page })
    all.push(...more)
    if (more.length < page) return all
  }
}

export async function everyRow<T extends Table>(reader: LedgerReads, table: T): Promise<Rows[T][]> {
  const all: Rows[T][] = []
  for (let after = 0; ;) {
    const found = await reader.page(table, { order: 'oldest', after, limit: page })
    all.push(...found.entries.map(({ row }) => row))
    after = found.entries.at(-1)?.born ?? after
    if (!found.more) return all
  }
}
