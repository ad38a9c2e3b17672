/**
 * What the HTTP surface needs of the home it opens to the network. Types only; `main.ts` plugs the
 * host, the ledger and the clock in, tests plug in a fake. Nothing below these ports knows of HTTP.
 */
import type { AgentFrame } from '../../protocol/live-frame.ts'
import type { LiveRowsRead } from '../../protocol/agent-view.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type {
  IdOf,
  PlanDescriptor,
  Rows,
  StoredEvent,
  Table,
  Timestamp,
} from '../../protocol/records/records.ts'
import type { LiveSign, LiveText, Shortage } from '../../ports/host.ts'
import type { EventPage, EventRange, ListFilter } from '../../ports/ledger-filters.ts'
import type { Backup, Retention, UpkeepEnd } from '../../protocol/upkeep.ts'
import type { ResourcePort, ResourceReads } from './resource-ports.ts'

/**
 * Contract: `monotonic` is milliseconds and never goes back. `after` calls `fn` once, not before
 * `ms` have passed and never in the same tick; the function it returns cancels, at any time.
 */
export type HttpClock = {
  monotonic(): number
  after(ms: number, fn: () => void): () => void
}

/** A trigger of whatever status, as far as a delivery needs it. */
export type TriggerCapability = Pick<Rows['triggers'], 'id' | 'agent_id' | 'status'>

/**
 * Contract: reads never wake an agent and never write; methods reject only with a fault of the
 * ledger. Values are plain data owned by the caller.
 */
export interface HomeReads extends ResourceReads {
  agents(): Promise<Rows['agents'][]>
  live(agent_id: string): Promise<LiveRowsRead | null>
  row<T extends Table>(table: T, id: string): Promise<Rows[T] | null>
  /** As `LedgerReads.idsLike`: at most 5 ids, of the agent or of any, that begin or end so. */
  idsLike(table: Table, text: string, agent_id?: string): Promise<IdOf[]>
  /** Of the rows that pass the filter the `limit` newest, oldest first. */
  list<T extends Table>(table: T, filter: ListFilter): Promise<Rows[T][]>
  events(page: EventPage): Promise<StoredEvent[]>
  /** Of one agent, or of the whole home; `last` is 0 while nothing was committed. */
  eventRange(agent_id: string | null): Promise<EventRange>
  roundsOfTurn(turn_id: string): Promise<{ round: Rows['rounds']; calls: Rows['calls'][] }[]>
  blob(sha256: string): Promise<Uint8Array | null>
  /** The trigger whose token has this SHA-256 (hex), of whatever agent and status. */
  triggerByToken(token_sha256: string): Promise<TriggerCapability | null>
}

/** What follows a commit, or happens just now. */
export type StreamNotice =
  | { kind: 'committed'; agent_id: string }
  /** A model said more: `liveTexts` has it. */
  | { kind: 'said'; agent_id: string }
  | { kind: 'live'; agent_id: string; frame: AgentFrame }

/** Bytes of one output stream of a task, from an offset. */
export type TaskOutput = {
  text: string
  /** Where the next piece begins; equal to the offset asked for when nothing is there yet. */
  next_offset: number
  /** Bytes there are now. */
  size: number
  ended: boolean
}

/**
 * Contract: at most one of both at a time, the other is refused with `upkeep_running`. Each ends
 * when it is done, which may take minutes; agents go on meanwhile. Rejects with a fault.
 */
export interface UpkeepPort {
  /** Days of history that the configuration keeps; null: it says nothing. */
  keep_days: number | null
  retain(options: { before: Timestamp; dry_run: boolean }): Promise<UpkeepEnd<Retention>>
  backup(options: { to: string; with_secrets: boolean }): Promise<UpkeepEnd<Backup>>
}

export interface HomePort extends ResourcePort {
  reads: HomeReads
  clock: HttpClock
  now(): Timestamp
  /** When this process took the home over. */
  started_at: Timestamp
  /** False: nobody serves the home and it is only read; nothing in it goes on by itself. */
  has_owner?: boolean
  /**
   * Durable when it resolves with `ok`; a rejection is a value. Rejects only for faults and bugs. A
   * command with a `receipt` that was kept gets the first reply again, and nothing is done twice.
   */
  act(command: OperatorCommand): Promise<OperatorReply>
  /**
   * Calls the listener after each commit and for each live sign, never before a commit is durable
   * and readable. It must not throw. The function returned ends it.
   */
  subscribe(listener: (notice: StreamNotice) => void): () => void
  /** Of every open request and running task of the agent. */
  liveSigns(agent_id: string): readonly LiveSign[]
  /** What models say in open requests; null: of every agent. */
  liveTexts(agent_id: string | null): readonly LiveText[]
  plan(item: Rows['work_items']): Promise<PlanDescriptor>
  /** Null when the task has no output folder (any more). */
  taskOutput(
    task_id: string,
    stream: 'stdout' | 'stderr',
    offset: number,
    limit: number,
  ): Promise<TaskOutput | null>
  /** Whether recovery is done and the laps run. */
  ready(): boolean
  /** Null while everything can be written. */
  degraded(): Shortage | null
  upkeep: UpkeepPort
  /** The whole exposition in Prometheus' text format. */
  metrics(): Promise<string>
  /** The capability URL of an active trigger, for the holder of the control token; else null. */
  triggerUrl(trigger: Rows['triggers']): Promise<string | null>
}

/** Who may come in, and from where. */
export type GatePorts = {
  clock: HttpClock
  /** Read on every request, so that a new token holds at once; null: nobody may. */
  control_token(): Promise<string | null>
  /** The port listened on; null before. */
  port(): number | null
  /** Further host names, as `name` or `name:port` (configuration `http.hosts`). */
  hosts: readonly string[]
  /** While agents are still being taken over one that is there would seem not to be. */
  recovering?: () => boolean
}
