/**
 * One work item with its slice of the ledger, as a file (docs/reference/item-file.md). All of it is
 * read, nothing is written. What is read is bounded: newest first, until the file is full.
 */
import { writeExport, type Exported } from '../../domain/transfer/export-file.ts'
import { exportTables, type SliceRecord } from '../../domain/transfer/export-format.ts'
import type { Rows, StoredEvent } from '../../domain/state/event.ts'
import { limits } from '../../domain/limits.ts'
import { withoutPlaces, type Places } from '../../domain/secrets/local-paths.ts'
import type { Redactor } from '../../domain/secrets/redact.ts'
import { sha256 } from '../../exec/files/whole-file.ts'
import type { LedgerReads } from '../../ledger/port.ts'

export type ExportPorts = {
  ledger: LedgerReads
  places: Places
  /** Knows what is a secret today, also in what was written before it was one. */
  redactor: Redactor
  program: string
  now: string
  /** The text of its plan file now; null when it cannot be read. */
  plan: string | null
}

type Item = Rows['work_items']

/** Events of one read, and rows of a table that are looked at. */
const [page, mostRows] = [500, 2_000]

/** Rejects with a fault of the ledger. */
export async function exportItem(ports: ExportPorts, item: Item): Promise<Exported> {
  const { ledger, places, redactor, program, now } = ports
  const events = await newestEvents(ledger, item)
  const rows = await rowsOf(ledger, item)
  const blobs = await blobsOf(ledger, item, events)
  const earlier = item.imported ? await textOf(ledger, item.imported.file_sha256) : null
  const elsewhere = withoutPlaces(places)
  const parts = {
    exported_at: now,
    program,
    agent_id: item.agent_id,
    work_item_id: item.id,
    slice: [...head(item, ports.plan), ...rows, ...events.map(eventRecord), ...blobs],
    earlier,
  }
  return writeExport(parts, (value) => elsewhere(redactor.json(value)), sha256)
}

function head(item: Item, plan: string | null): SliceRecord[] {
  const records: SliceRecord[] = [{ record: 'item', generation: 0, item: { ...item } }]
  if (plan !== null) records.push({ record: 'plan', generation: 0, text: plan })
  return records
}

const eventRecord = ({ seq, at, turn_id, causation_id, event }: StoredEvent): SliceRecord => ({
  record: 'event',
  generation: 0,
  seq,
  at,
  turn_id,
  causation_id,
  event: { ...event },
})

/** The newest, newest first: as many as a file could hold. */
async function newestEvents(ledger: LedgerReads, item: Item): Promise<StoredEvent[]> {
  const { agent_id, id: work_item_id } = item
  const found: StoredEvent[] = []
  let before = Number.MAX_SAFE_INTEGER
  while (found.length < limits.export_records.value) {
    const events = await ledger.eventPage({ agent_id, work_item_id, before, limit: page })
    found.push(...events.toReversed())
    const first = events[0]
    if (first === undefined || events.length < page) break
    before = first.seq
  }
  return found
}

async function rowsOf(ledger: LedgerReads, item: Item): Promise<SliceRecord[]> {
  const { agent_id, id: work_item_id } = item
  const found: SliceRecord[] = []
  for (const table of exportTables) {
    if (table === 'meters') {
      const meter = await ledger.row('meters', work_item_id)
      if (meter !== null) found.push({ record: 'row', generation: 0, table, row: { ...meter } })
      continue
    }
    const rows = await ledger.list(table, { agent_id, work_item_id, limit: mostRows })
    for (const row of rows.toReversed()) {
      found.push({ record: 'row', generation: 0, table, row: { ...row } })
    }
  }
  return found
}

/** Texts that the item and its events name by hash, the ones named last first. */
async function blobsOf(
  ledger: LedgerReads,
  item: Item,
  events: readonly StoredEvent[],
): Promise<SliceRecord[]> {
  const named = new Set<string>()
  const ofFiles = new Set<string>()
  for (const one of [item, ...events.map(({ event }) => event)]) {
    const text = JSON.stringify(one)
    for (const [, by, sha] of text.matchAll(/"(\w*)sha256":"([0-9a-f]{64})"/g)) {
      if (sha) (by && ends.has(by) ? ofFiles : named).add(sha)
    }
  }
  // The files that it changed stay here, whatever else names the same bytes.
  for (const sha of ofFiles) named.delete(sha)
  // Its own records come out of it.
  if (item.imported) named.delete(item.imported.file_sha256)
  const found: SliceRecord[] = []
  let left = limits.export_file.value
  for (const sha of named) {
    if (left <= 0) break
    const text = await textOf(ledger, sha)
    if (text === null) continue
    left -= text.length
    found.push({ record: 'blob', generation: 0, sha256: sha, text })
  }
  return found
}

/** How the names of hashes begin that are of a file before or after a change. */
const ends: ReadonlySet<string> = new Set(['before_', 'after_', 'kept_'])

/** Null: it is gone, or it is no text. */
async function textOf(ledger: LedgerReads, sha: string): Promise<string | null> {
  const bytes = await ledger.blob(sha)
  if (bytes === null) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
