/**
 * The ledger port: the durable truth of one home, and its only writer (contracts 11).
 * Nothing above this file knows which store is behind it; every store passes the conformance suite.
 */
import type { Emitted } from '../domain/facts.ts'
import type { Rows, StoredEvent, Table } from '../domain/event.ts'
import type { AgentId, TurnId, WorkItemId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'

/** Everything one decision made true. It lands whole or not at all. */
export type Change = {
  agent_id: AgentId
  /** The agent's seq the decision was made on; another value in the store is a conflict. */
  expect_seq: number
  /** Never earlier than the agent's last commit. */
  at: Timestamp
  /** In order; `meta.seq` runs on densely from `expect_seq`. */
  events: readonly Emitted[]
  /** The rows those events changed, as they are after all of them. */
  rows: readonly (readonly [Table, Rows[Table]])[]
}

export type Committed =
  | { ok: true; seq: number; global_seq: number }
  /** Somebody was faster; nothing of the change is kept. Decide again on fresh facts. */
  | { ok: false; seq: number }

export type LiveRows = {
  seq: number
  last_at: Timestamp
  rows: readonly (readonly [Table, Rows[Table]])[]
}

/**
 * Contract: every method rejects with a LedgerFault when the world fails, never with anything
 * else for an expected condition; a value out of a read is plain data, owned by the caller.
 */
export interface LedgerReads {
  agents(): Promise<Rows['agents'][]>
  /** The rows `domain/facts.ts` calls live, plus the last 20 completed items. Null: no agent. */
  live(agent_id: AgentId): Promise<LiveRows | null>
  row<T extends Table>(table: T, id: string): Promise<Rows[T] | null>
  /**
   * Ids of `table` that start with the noun of `short` and end with the rest of it, at most 5:
   * `work_7f3a`, at least four characters after the noun, or a whole id. Agents, rounds and pacing
   * have names: there only the whole name matches.
   */
  idsLike(table: Table, short: string): Promise<string[]>
  /**
   * Of the rows that pass the filter the `limit` newest, oldest first; a row is as old as its first
   * event. A filter on what the table does not have is a bug and throws.
   */
  list<T extends Table>(table: T, filter: ListFilter): Promise<Rows[T][]>
  /** Events in global order after a global seq. */
  events(filter: EventFilter): Promise<StoredEvent[]>
  lastGlobalSeq(): Promise<number>
  /** A message of this agent with this key admitted at or after `since`, if there is one. */
  messageByKey(agent_id: AgentId, key: string, since: Timestamp): Promise<Rows['messages'] | null>
  /** The newest recorded rounds about an item, oldest first, with their calls. */
  roundsAbout(work_item_id: WorkItemId, limit: number): Promise<RoundWithCalls[]>
  roundsOfTurn(turn_id: TurnId): Promise<RoundWithCalls[]>
  /** Bytes stored under a hash, or null. */
  blob(sha256: string): Promise<Uint8Array | null>
  /** Absolute path of a stored blob, for a person or an agent to read; it may not exist. */
  blobPath(sha256: string): string
  /** Folds the events again and compares with the rows; checks seqs, blobs and the file. */
  verify(): Promise<VerifyReport>
  stats(): Promise<LedgerStats>
  close(): Promise<void>
}

export interface Ledger extends LedgerReads {
  /**
   * Durable when it resolves. May not be called twice at once for one agent by one process. A
   * change that contradicts itself, or breaks a rule of the store (what ended stays ended), is a
   * bug: an ordinary error, and nothing is kept. After a fault that is never to be tried again the
   * ledger answers every call with it; only `close` remains.
   */
  commit(change: Change): Promise<Committed>
  /** Stores bytes under their sha256; idempotent; durable when it resolves. */
  putBlob(bytes: Uint8Array): Promise<string>
}

export type RoundWithCalls = { round: Rows['rounds']; calls: Rows['calls'][] }

export type ListFilter = {
  agent_id?: AgentId
  work_item_id?: WorkItemId
  turn_id?: TurnId
  /** Equal to the row's `state` or `status`, whichever the table has. */
  status?: readonly string[]
  kind?: readonly string[]
  limit: number
}

export type EventFilter = {
  after: number
  limit: number
  agent_id?: AgentId
  work_item_id?: WorkItemId
}

export type VerifyReport = {
  ok: boolean
  events: number
  rows: number
  /** One sentence each, naming the table, id and what differs. */
  problems: readonly string[]
}

export type LedgerStats = {
  schema: number
  events: number
  bytes: number
}

/** What the world did to the store; `never` faults stop the process with exit 1 or 4. */
export class LedgerFault extends Error {
  readonly code: LedgerFaultCode
  readonly retry: 'now' | 'later' | 'never'
  constructor(
    code: LedgerFaultCode,
    message: string,
    retry: 'now' | 'later' | 'never',
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'LedgerFault'
    this.code = code
    this.retry = retry
  }
}
export type LedgerFaultCode =
  | 'disk_full'
  | 'read_only'
  | 'denied'
  | 'corrupt'
  | 'newer_schema'
  | 'old_sqlite'
  | 'owned'
  | 'fenced'
  | 'no_home'
  | 'io'
