/**
 * The reads of a home for a client on the same machine, over a ledger that is open beside its
 * owner. Everything comes out as records and views of `protocol`; nothing here writes, wakes or
 * holds the ledger longer than one read.
 */
import type { EventFilter, ListFilter } from '../ports/ledger-filters.ts'
import { agentView, factsOf, type AgentView, type LiveRowsRead } from '../protocol/agent-view.ts'
import {
  tableOfNoun,
  type IdOf,
  type Rows,
  type StoredEvent,
  type Table,
  type Timestamp,
} from '../protocol/records/records.ts'

/**
 * What a ledger must be able to answer. Contract: as `LedgerReads` of the ledger, of which this is
 * a part; methods reject with the ledger's own faults.
 */
export interface Reader {
  agents(): Promise<Rows['agents'][]>
  live(agent_id: string): Promise<LiveRowsRead | null>
  row<T extends Table>(table: T, id: string): Promise<Rows[T] | null>
  idsLike(table: Table, text: string): Promise<IdOf[]>
  list<T extends Table>(table: T, filter: ListFilter): Promise<Rows[T][]>
  events(filter: EventFilter): Promise<StoredEvent[]>
  lastGlobalSeq(): Promise<number>
}

export type Moment = { now: Timestamp; has_owner: boolean }

/** One agent as it is now; null when there is none with this name. */
export async function readAgent(
  reader: Reader,
  id: string,
  moment: Moment,
): Promise<AgentView | null> {
  const live = await reader.live(id)
  return live === null ? null : agentView(factsOf(id, live), moment.now, moment.has_owner)
}

/** Every agent that still exists, oldest first; or only the one named. */
export async function readAgents(
  reader: Reader,
  moment: Moment,
  only: string | null = null,
): Promise<AgentView[]> {
  const agents = (await reader.agents()).filter(
    (agent) => agent.state !== 'deleted' && (only === null || agent.id === only),
  )
  const views = await Promise.all(agents.map((agent) => readAgent(reader, agent.id, moment)))
  return views.filter((view) => view !== null)
}

/** The newest turn of each agent, open or ended. */
export async function readLastTurns(
  reader: Reader,
  views: readonly AgentView[],
): Promise<Rows['turns'][]> {
  const lists = await Promise.all(
    views.map(({ agent }) => reader.list('turns', { agent_id: agent.id, limit: 1 })),
  )
  return lists.flat()
}

export type Resolved =
  | { ok: true; id: string }
  | { ok: false; code: 'unknown_id' | 'ambiguous_id'; candidates: readonly IdOf[] }

const tables: Readonly<Record<string, Table>> = tableOfNoun

export const prefixOf = (id: string): string => id.slice(0, Math.max(0, id.indexOf('_')))

/**
 * Finds the one id that has this beginning or end. Its prefix decides where it is looked for;
 * without one it is part of an id with one of `prefixes`.
 */
export async function resolveId(
  reader: Reader,
  text: string,
  prefixes: readonly string[] = [],
): Promise<Resolved> {
  const prefix = prefixOf(text)
  const nouns = prefix === '' ? prefixes : [prefix]
  const named = nouns.flatMap((noun) => tables[noun] ?? [])
  const lists = await Promise.all(named.map((table) => reader.idsLike(table, text)))
  const found = lists.flat()
  const [first] = found
  if (first === undefined) return { ok: false, code: 'unknown_id', candidates: [] }
  return found.length === 1
    ? { ok: true, id: first.id }
    : { ok: false, code: 'ambiguous_id', candidates: found }
}
