/**
 * Memory: everything an agent did and wrote, as records that are found by their words and named by
 * a reference that stays. A record is a function of a row or a file as it is now, so nothing of it
 * is stored but in the ledger and the files (docs/spec/tools.md#memory, MemorySearch).
 */
import type { Provenance } from '../state/provenance.ts'
import type { Timestamp } from '../time.ts'

export const memoryKinds = [
  'work_item',
  'plan',
  'brief',
  'report',
  'message',
  'round',
  'call',
  'task',
  'task_output',
  'schedule',
  'file',
] as const
export type MemoryKind = (typeof memoryKinds)[number]

export type MemoryRecord = {
  /** Unique within the agent, and the same for ever: see `reference.ts`. */
  ref: string
  kind: MemoryKind
  agent_id: string
  work_item_id: string | null
  /** When it was written, or last changed. */
  at: Timestamp
  /** What is found and read; not bounded here. */
  text: string
  /** Of a message: how it came in, and what it weighs. */
  provenance: Provenance | null
  /** Whose words it holds: its own, of a tool it called, or of somebody outside. */
  words: 'own' | 'tool' | 'external'
  /** Where the whole text is, absolute; null: only here. */
  path: string | null
}

/** One of the records that a search found. */
export type MemoryHit = Pick<
  MemoryRecord,
  'kind' | 'agent_id' | 'work_item_id' | 'at' | 'words'
> & {
  /** As whoever asked may write it. */
  source_ref: string
  /** Text around the words found, which stand in « ». */
  snippet: string
}

export type MemoryQuery = {
  /** Null: the newest records, whatever they say. */
  query: string | null
  kinds: readonly MemoryKind[] | null
  /** Only this agent's; null: all that the asker may see. */
  agent_id: string | null
  limit: number
  /** The round that asks: its own words and what its turn was given are no find. */
  asking?: { turn_id: string; round: number }
}

export type MemoryAnswer = {
  /** `any` when no record has all of the words, or what they begin with. */
  match: 'all' | 'any'
  /** Whether everything written so far was looked through; why not is in `incomplete_because`. */
  complete: boolean
  incomplete_because: string | null
  /** The best first. */
  hits: readonly MemoryHit[]
}

/** A record as it is handed out: its text bounded around a line that says what is left out. */
export type MemoryShown = Omit<MemoryRecord, 'ref'> & {
  source_ref: string
  /** Characters of the whole text. */
  characters: number
}

/** Head and tail of a text around `mark`, which is told how many characters are left out. */
export function endsOfText(
  text: string,
  head: number,
  tail: number,
  mark: (left: number) => string,
): string {
  if (text.length <= head + tail) return text
  const first = text.slice(0, head)
  const last = tail === 0 ? '' : text.slice(-tail)
  return `${first}\n${mark(text.length - head - tail)}\n${last}`.toWellFormed()
}
