/**
 * Writes the file of one item: head, slice, end. What does not fit is left out from its old end,
 * events before blobs are given room, and the head says how many of what are missing. Pure.
 */
import {
  exportFormat,
  exportVersion,
  sliceKinds,
  type SliceOmissions,
  type ExportHead,
  type HashText,
  type SliceKind,
  type SliceRecord,
} from './export-format.ts'
import { utf8Length } from '../inbox/admit.ts'
import { limits } from '../limits.ts'

/** Values without secrets and without the places of this machine. */
export type Cleaned = <T>(value: T) => T

export type ExportParts = {
  exported_at: string
  program: string
  agent_id: string
  work_item_id: string
  /** In the order in which they are given room: newest first within a kind. */
  slice: Iterable<SliceRecord>
  /** The file it was imported in, as it is kept here; null: it was made here. */
  earlier: string | null
}

export type Exported = { file: string; records: number; cut: SliceOmissions }

/** Bytes that head and end take at most. */
const frame = 8_192

export function writeExport(parts: ExportParts, cleaned: Cleaned, hash: HashText): Exported {
  const room = new Room(limits.export_file.value - frame)
  for (const record of parts.slice) room.take(record, JSON.stringify(cleaned(record)))
  if (parts.earlier !== null) {
    for (const record of inRank([...earlierRecords(parts.earlier)])) {
      room.take(record, JSON.stringify(cleaned(record)))
    }
  }
  const lines = room.inOrder()
  const { exported_at, program, agent_id, work_item_id } = parts
  const head: ExportHead = cleaned({
    record: 'export',
    format: exportFormat,
    version: exportVersion,
    exported_at,
    program,
    agent_id,
    work_item_id,
    records: lines.length,
    cut: room.cut,
  })
  const body = [JSON.stringify(head), ...lines].map((line) => `${line}\n`).join('')
  const end = JSON.stringify({ record: 'end', sha256: hash(body) })
  return { file: `${body}${end}\n`, records: lines.length, cut: room.cut }
}

/** The slice of a file that was imported here, one generation older. */
export function* earlierRecords(file: string): Iterable<SliceRecord> {
  for (const line of file.split('\n')) {
    if (line === '') continue
    const value = JSON.parse(line) as { record: string }
    if (!isSlice(value)) continue
    yield { ...value, generation: value.generation + 1 }
  }
}

const isSlice = (value: { record: string }): value is SliceRecord =>
  value.record !== 'export' && value.record !== 'end'

class Room {
  readonly cut: SliceOmissions = {}
  readonly #lines: { record: SliceRecord; line: string }[] = []
  /** Kinds of a generation that have no room any more: of each the newest stay, without gaps. */
  readonly #full = new Set<string>()
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  take(record: SliceRecord, line: string): void {
    const kind = `${record.generation} ${record.record}`
    const bytes = utf8Length(line) + 1
    const isTooLarge = bytes > sizeOf(record.record)
    const isOld = record.generation >= limits.import_generations.value
    const isMany = this.#lines.length + 1 >= limits.export_records.value
    if (isOld || isTooLarge || isMany || this.#full.has(kind) || bytes > this.#left) {
      this.cut[record.record] = (this.cut[record.record] ?? 0) + 1
      // One that is too large leaves a hole of its own; one that has no room ends its kind.
      if (!isTooLarge) this.#full.add(kind)
      return
    }
    this.#left -= bytes
    this.#lines.push({ record, line })
  }

  /** By generation and kind, each kind oldest first. */
  inOrder(): string[] {
    const lines = new Map(this.#lines.map(({ record, line }) => [record, line]))
    return inRank([...lines.keys()]).map((record) => lines.get(record) ?? '')
  }
}

/** By generation and kind, and within a kind turned round: newest first becomes oldest first. */
function inRank(records: readonly SliceRecord[]): SliceRecord[] {
  const place = ({ generation, record }: SliceRecord) =>
    generation * sliceKinds.length + sliceKinds.indexOf(record)
  return records.toReversed().sort((a, b) => place(a) - place(b))
}

/** A plan may be as large as its file, quoted; any other record is a line to be looked at. */
export const sizeOf = (kind: SliceKind | 'export' | 'end'): number =>
  kind === 'plan' ? 2 * limits.plan_file.value : limits.export_record.value
