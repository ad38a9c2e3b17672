/**
 * The port of the search index: which records have which words. It is derived: it can be thrown
 * away at any time and is made again from the ledger and the files, so it keeps no text, and how
 * far it has come is kept in it, in the same transaction as what it says. Types only.
 */
import type { MemoryKind } from '../../domain/memory/memory.ts'
import type { Term } from '../../domain/memory/words.ts'
import type { Timestamp } from '../../domain/time.ts'

export type IndexEntry = {
  /** Whose it is: an agent, or the absolute path of a workspace that has a memory of its own. */
  agent_id: string
  /** Unique within the agent. */
  ref: string
  kind: MemoryKind
  at: Timestamp
  /** Agents that may find it besides its own. */
  seen_by: string | null
  text: string
  /** Words beside the text: `partsOf`. */
  parts: string
  /** Of a file: what tells whether it changed; null for everything else. */
  stamp: string | null
}

export type IndexKey = Pick<IndexEntry, 'agent_id' | 'ref'>

export type IndexBatch = {
  /** Replaced where they are there already. */
  put: readonly IndexEntry[]
  remove: readonly IndexKey[]
  /** How far the index is with this batch, in the follower's own words. */
  state: string
  /** What it was before: when somebody else has written meanwhile, nothing is. Null: nothing. */
  expected: string | null
}

export type IndexQuery = {
  terms: readonly Term[]
  match: 'all' | 'any'
  /** Only what this agent may find; null: everything of agents. */
  viewer: string | null
  /** The workspace whose memory the viewer finds, too; null: none. */
  workspace: string | null
  /** Only records of this agent; null: all. */
  agent_id: string | null
  kinds: readonly MemoryKind[] | null
  limit: number
}

export type IndexFound = Pick<IndexEntry, 'agent_id' | 'ref' | 'kind' | 'at'>

/**
 * Contract. Methods reject with a `LedgerFault`: `corrupt` with `retry: 'now'` when the file is
 * damaged, after which only `reset` and `close` are of use; else as the ledger's. Several processes
 * may have it open at once.
 */
export interface SearchIndex {
  /** Null: nothing was written yet, or what was there is of another version. */
  state(): Promise<string | null>
  /** All of it, or `conflict` and nothing. Durable against a kill, not against a lost power. */
  write(batch: IndexBatch): Promise<'written' | 'conflict'>
  /**
   * The best first, by the words' rarity and how much of a record they are, then the newest. Of
   * many matches only the newest compete (`SEARCH_COMPETING`).
   */
  find(query: IndexQuery): Promise<IndexFound[]>
  /** The newest first, whatever they say. */
  newest(scope: Omit<IndexQuery, 'terms' | 'match'>): Promise<IndexFound[]>
  /** The files of an agent that are indexed: ref and stamp. */
  stamps(agent_id: string): Promise<ReadonlyMap<string, string>>
  /** Entries in a fixed order, from after a place on: for going over all of them. */
  walk(after: number, limit: number): Promise<(IndexKey & { place: number })[]>
  /** What it takes up and holds. */
  stats(): Promise<{ entries: number; bytes: number }>
  /** Empty again, whatever was wrong with it. */
  reset(): Promise<void>
  close(): Promise<void>
}
