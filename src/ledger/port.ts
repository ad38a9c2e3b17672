/**
 * The ledger port: the durable truth of one home, and its only writer (docs/spec/ledger.md).
 * Nothing above this file knows which store is behind it; every store passes the conformance suite.
 */
import type { Emitted } from '../domain/facts/facts.ts'
import type { EventType, Rows, StoredEvent, Table } from '../domain/state/event.ts'
import type { AgentId, IdOf, TurnId, WorkItemId } from '../domain/ids.ts'
import type { Timestamp } from '../domain/time.ts'
import type {
  EventFilter,
  EventPage,
  EventRange,
  ListFilter,
  RowFilter,
  SpendFilter,
} from '../ports/ledger-filters.ts'

/** A large payload on its way to the commit that names it: bytes under their SHA-256, in hex. */
export type NewBlob = { sha256: string; bytes: Uint8Array }

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
  /** What those events name and may not be stored yet; the same again is nothing. */
  blobs?: readonly NewBlob[]
}

export type Committed =
  /** `seq` of the first change's agent. */
  | { ok: true; seq: number; global_seq: number }
  /**
   * Somebody was faster there, or retention has taken a row that is changed; nothing is kept.
   * Decide again on fresh facts.
   */
  | { ok: false; agent_id: AgentId; seq: number }

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
  /** Agents with an open turn or a message that is not over: whom a start may not keep waiting. */
  agentsAtWork(): Promise<AgentId[]>
  /**
   * What `domain/facts/live-rows.ts` calls live, plus the last 20 completed items. Null: no agent.
   */
  live(agent_id: AgentId): Promise<LiveRows | null>
  row<T extends Table>(table: T, id: string): Promise<Rows[T] | null>
  /**
   * Ids of `table` that begin or end so, oldest first, at most 5: `work_7f3a` is each that begins
   * with it, and each whose noun and end it is; `7f3a` is an end. At least four characters beside
   * the noun. Agents, rounds and pacing have names: there only the whole name matches.
   */
  idsLike(table: Table, text: string, agent_id?: AgentId): Promise<IdOf[]>
  /**
   * The short forms of these ids of an agent, by the id: what a model is shown of them. One that is
   * not there has none: it is not the agent's, or of a kind that has none.
   */
  shortIds(agent_id: AgentId, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The id of the agent that has exactly this short form, whatever other ids end so. */
  idOfShort(agent_id: AgentId, text: string): Promise<string | null>
  /**
   * Of the rows that pass the filter the `limit` newest, oldest first; a row is as old as its first
   * event. A filter on what the table does not have is a bug and throws.
   */
  list<T extends Table>(table: T, filter: ListFilter): Promise<Rows[T][]>
  /**
   * A page of a list, with the place of each row: `born`, which never changes, so a page is never
   * shifted by what is added or changed meanwhile. A filter on what the table does not have is a
   * bug and throws.
   */
  page<T extends Table>(table: T, filter: PageFilter): Promise<Page<T>>
  /** Events in global order after a global seq. */
  events(filter: EventFilter): Promise<StoredEvent[]>
  /** A page of the feed of an agent, by its own seqs, or of the home, by global seqs; ascending. */
  eventPage(page: EventPage): Promise<StoredEvent[]>
  /** What the feed can still give without a gap, of one agent or of the whole home. */
  eventRange(agent_id: AgentId | null): Promise<EventRange>
  lastGlobalSeq(): Promise<number>
  /** A message of this agent with this key admitted at or after `since`, if there is one. */
  messageByKey(agent_id: AgentId, key: string, since: Timestamp): Promise<Rows['messages'] | null>
  /** The trigger whose token has this SHA-256 (hex), of whatever agent and status. */
  triggerByToken(token_sha256: string): Promise<Rows['triggers'] | null>
  /**
   * The first delivery of this agent with this source and sender's id received since then. Null: of
   * any agent, among those that were signed.
   */
  deliveryBySender(
    agent_id: AgentId | null,
    source: string | null,
    sender_id: string,
    since: Timestamp,
  ): Promise<Rows['deliveries'] | null>
  /** How much there is, of one agent or of the whole home. */
  counts(agent_id: AgentId | null): Promise<Counts>
  /** What the recorded rounds have used, also those that retention took; by group, in order. */
  spend(filter: SpendFilter): Promise<SpendSum[]>
  /**
   * Requests of `agents` that are paid for, since the last event that the operator caused in one of
   * `spoken_to`; since the first kept one where there is none.
   */
  requestsSinceWord(agents: readonly AgentId[], spoken_to: readonly AgentId[]): Promise<number>
  /** The newest recorded rounds about an item, oldest first, with their calls. */
  roundsAbout(work_item_id: WorkItemId, limit: number): Promise<RoundWithCalls[]>
  roundsOfTurn(turn_id: TurnId): Promise<RoundWithCalls[]>
  /**
   * What the operator or a parent said about an item, oldest first: the first message and the
   * newest. About it are those bound to it, those that came in one of its newest 200 turns, and
   * those whose turn made or changed it.
   */
  wordsAbout(work_item_id: WorkItemId, limit: number): Promise<Rows['messages'][]>
  /**
   * Of the newest `looked` events about an item those of the given types, in order; of calls only
   * such as changed a file or whose outcome nobody knows.
   */
  noteEvents(
    work_item_id: WorkItemId,
    options: { looked: number; types: readonly EventType[] },
  ): Promise<StoredEvent[]>
  /** Bytes stored under a hash, or null. */
  blob(sha256: string): Promise<Uint8Array | null>
  /**
   * Absolute path of a file with those bytes, for a person or an agent to read: a copy, made when
   * it is asked for, where the blob is a row. Null: there is no such blob.
   */
  blobFile(sha256: string): Promise<string | null>
  /** Folds the events again and compares with the rows; checks seqs, blobs and the file. */
  verify(): Promise<VerifyReport>
  stats(): Promise<LedgerStats>
  /** The schema that the home was made at; 0: an earlier one than 6. */
  madeAtSchema(): Promise<number>
  /**
   * Copies the home, as it is at one moment, into `holon-backup-<time>/` below `to`, whole or not
   * at all, while the owner goes on. Faults: `io` when it is there already, `denied`, `disk_full`.
   */
  backup(options: BackupOptions): Promise<BackupResult>
  close(): Promise<void>
}

export interface Ledger extends LedgerReads {
  /**
   * Durable when it resolves. Of several changes, each of another agent, all land or none; one
   * without events only asks that its agent stands where the decision saw it. May not be called
   * twice at once for one agent by one process. A change that contradicts itself, or breaks a rule
   * of the store (what ended stays ended), is a bug: an ordinary error, and nothing is kept. After
   * a fault that is never to be tried again the ledger answers every call with it; only `close`
   * remains. A blob is there when the commit is. A large one may be there without it, when the
   * commit failed or was ended: nothing names it, and retention takes it.
   */
  commit(change: Change, ...more: readonly Change[]): Promise<Committed>
  /**
   * Takes what ended before the horizon, with its events, and blobs that nothing names any more; a
   * dry run only counts. In small transactions with commits in between; ended by a kill it is
   * simply not finished. Never twice at once. A history that does not fit its rows is `corrupt`.
   */
  retain(options: RetainOptions): Promise<Retained>
}

export type RoundWithCalls = { round: Rows['rounds']; calls: Rows['calls'][] }

export type PageFilter = RowFilter & {
  order: 'newest' | 'oldest'
  /** Only rows born before, and after, this one; both are exclusive. */
  before?: number
  after?: number
  limit: number
}

export type Page<T extends Table> = {
  /** In the order that was asked for. */
  entries: { born: number; row: Rows[T] }[]
  /** Whether more rows follow in that order: go on from the `born` of the last entry. */
  more: boolean
}

export type Counts = {
  open_items: number
  completed_items: number
  active_waits: number
  /** Queued, running or cancelling. */
  running_tasks: number
  queued_messages: number
  dead_deliveries: number
}

export type SpendSum = {
  /** Null where it is not grouped by. An item of null, grouped by item, is work about none. */
  agent_id: AgentId | null
  work_item_id: WorkItemId | null
  day: string | null
  requests: number
  /** Requests whose price is not known and not in `usd`. */
  unpriced: number
  /** As far as providers said; what they did not say counts nothing. */
  input_tokens: number
  output_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  reasoning_tokens: number
  /** The known prices; null when none is known. */
  usd: number | null
}

export type BackupOptions = {
  /** The folder that gets the folder of the backup; made when it is not there. */
  to: string
  /** The time that names it. */
  now: Timestamp
  /** Whether the files that open doors come with it. */
  with_secrets: boolean
}

export type BackupResult = {
  path: string
  manifest: Manifest
}

/** `manifest.json` of a backup. */
export type Manifest = {
  format: 1
  schema: number
  home_id: string
  /** Where the home was: rows name its files by their whole paths. */
  home: string
  made_at: Timestamp
  last_global_seq: number
  /** The newest hash of each agent: what nobody can change later without its showing. */
  heads: { agent_id: AgentId; seq: number; hash: string }[]
  /** Every file but this one, by its path in the backup and in the home. */
  files: { path: string; bytes: number; sha256: string }[]
  /** Symbolic links, which are copied as such. */
  links: { path: string; target: string }[]
  /** What the home has and the backup has not, with the reason. */
  not_included: { path: string; reason: string }[]
}

export type RetainOptions = {
  /**
   * What was last changed before this may go; what repetitions are known by stays 8 days
   * whatever it says.
   */
  before: Timestamp
  dry_run: boolean
  /** Events looked at in one transaction; not given: as many as take a few milliseconds. */
  batch?: number
}

export type Retained = {
  dry_run: boolean
  before: Timestamp
  /** The floor after it: events up to here are gone. */
  global_seq: number
  events: number
  /** Rows by table; a table without any is not there. */
  rows: Partial<Record<Table, number>>
  blobs: number
  /** Of text and blobs. The database keeps its size and uses the space again. */
  bytes: number
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
  | 'older_schema'
  | 'old_sqlite'
  | 'owned'
  | 'fenced'
  | 'no_home'
  | 'io'
