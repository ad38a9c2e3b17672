/**
 * The file that one work item travels in: JSON Lines, version 1, described for people in
 * docs/reference/item-file.md. The first line says what it is, the last has a SHA-256 of all lines
 * before it, which tells damage and nothing else: whoever writes a file can write its sum.
 */
import type { Table } from '../state/event.ts'
import { limits } from '../limits.ts'
import type { PlanStatus, Todo } from '../state/work-item.ts'

export const exportFormat = 'holon-item'
export const exportVersion = 1
export const exportLimit = limits.export_file.value

/** What of a slice there was no room for, by kind of record. */
export type SliceOmissions = { [K in SliceKind]?: number }

export type ExportHead = {
  record: 'export'
  format: typeof exportFormat
  version: typeof exportVersion
  exported_at: string
  program: string
  agent_id: string
  work_item_id: string
  /** Lines between this one and the last. */
  records: number
  cut: SliceOmissions
}

/** Rows of these tables come along; rounds and calls are in the events. */
export const exportTables = [
  'turns',
  'messages',
  'briefs',
  'waits',
  'tasks',
  'meters',
  'decisions',
] as const satisfies readonly Table[]
export type ExportTable = (typeof exportTables)[number]

/** `generation` 0 is of the home that wrote the file, 1 of the one it had the item from, … */
export type SliceRecord = { generation: number } & (
  | { record: 'item'; item: { [field: string]: unknown } }
  | { record: 'plan'; text: string }
  | { record: 'row'; table: ExportTable; row: { id: string; [field: string]: unknown } }
  | {
      record: 'event'
      seq: number
      at: string
      turn_id: string | null
      causation_id: string | null
      event: { type: string; [field: string]: unknown }
    }
  /** By the hash it is named by in that home; the text is without secrets, so it may differ. */
  | { record: 'blob'; sha256: string; text: string }
)
export type SliceKind = SliceRecord['record']
export const sliceKinds = ['item', 'plan', 'row', 'event', 'blob'] as const satisfies SliceKind[]

/** What an import makes an item of; everything else of a file is kept and not acted on. */
export type Carried = {
  agent_id: string
  work_item_id: string
  exported_at: string
  objective: string
  plan_status: PlanStatus
  todo_list: Todo[]
  plan: string
  /** What does not come along: it would run commands, or spend, by the word of a file. */
  not_taken: ('budget' | 'checks')[]
}

/** SHA-256, hex, of the UTF-8 bytes of a text. Handed in: the rules do not hash. */
export type HashText = (text: string) => string
