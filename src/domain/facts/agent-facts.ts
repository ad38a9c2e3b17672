/**
 * The live rows of one agent in memory, taken over from the ledger at the start and from each
 * commit after it. What nothing live needs any more is forgotten when a turn ends.
 */
import { tables, type Rows, type Table } from '../state/event.ts'
import { openTurn, type Facts } from './facts.ts'
import type { AgentId } from '../ids.ts'
import { isLiveRow, longTables, recentOf } from './live-rows.ts'
import { isLiveMessage, queuedEvent, type Message } from '../state/message.ts'
import { KeptRanking } from './ranking.ts'
import type { Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import { isUnverified } from './verification.ts'
import type { WorkItem } from '../state/work-item.ts'

/** The live rows of one agent in memory. `apply` is called with what a commit returned, only. */
export class AgentFacts implements Facts {
  readonly agent_id: AgentId
  readonly ranking: KeptRanking = new KeptRanking(this)
  seq = 0
  last_at: Timestamp = '1970-01-01T00:00:00.000Z'
  readonly #tables = new Map<Table, Map<string, Rows[Table]>>(tables.map((t) => [t, new Map()]))
  #queuedEvents = 0
  /** Completed items among the rows: few, for the ledger has the rest. */
  readonly #completed = new Set<string>()
  /** Rows of long tables that changed since what is not live was last forgotten. */
  readonly #touched = new Map<Table, Set<string>>(longTables.map((table) => [table, new Set()]))

  constructor(agent_id: AgentId) {
    this.agent_id = agent_id
  }

  /**
   * Of all that the ledger read of an agent. A start reads thousands of rows: taken over one by one
   * each would be looked for first, and told to a ranking of which nothing was asked yet.
   */
  static of(
    agent_id: AgentId,
    read: Pick<Facts, 'seq' | 'last_at'> & { rows: Iterable<readonly [Table, Rows[Table]]> },
  ): AgentFacts {
    const facts = new AgentFacts(agent_id)
    let [last, rows]: [Table | null, Map<string, Rows[Table]> | undefined] = [null, undefined]
    for (const [table, row] of read.rows) {
      if (table !== last) rows = facts.#tables.get((last = table))
      facts.#count(table, undefined, row)
      rows?.set(row.id, row)
    }
    facts.seq = read.seq
    facts.last_at = read.last_at
    return facts
  }

  row<T extends Table>(table: T, id: string): Rows[T] | undefined {
    return this.#tables.get(table)?.get(id) as Rows[T] | undefined
  }

  rows<T extends Table>(table: T): Iterable<Rows[T]> {
    return (this.#tables.get(table) as Map<string, Rows[T]>).values()
  }

  /** Adds a row read from the ledger: one that a rule needs beyond the live ones. */
  include<T extends Table>(table: T, row: Rows[T]): void {
    this.#put(table, row)
  }

  queuedEvents(): number {
    return this.#queuedEvents
  }

  #put(table: Table, row: Rows[Table]): void {
    const rows = this.#tables.get(table)
    this.#count(table, rows?.get(row.id), row)
    this.#touched.get(table)?.add(row.id)
    this.ranking.changes(table, row.id, row)
    rows?.set(row.id, row)
  }

  #drop(table: Table, id: string): void {
    const rows = this.#tables.get(table)
    this.#count(table, rows?.get(id), undefined)
    this.ranking.changes(table, id, undefined)
    rows?.delete(id)
  }

  #count(table: Table, before: Rows[Table] | undefined, now: Rows[Table] | undefined): void {
    if (table === 'messages') {
      this.#queuedEvents += queuedEvent(now as Message) - queuedEvent(before as Message)
    }
    if (table !== 'work_items') return
    const item = (now ?? before) as WorkItem
    if (now !== undefined && item.state === 'completed') this.#completed.add(item.id)
    else this.#completed.delete(item.id)
  }

  /** Takes over what was committed, and forgets rows that nothing live needs any more. */
  apply(rows: Iterable<readonly [Table, Rows[Table]]>, seq: number, at: Timestamp): void {
    let turnEnded = false
    for (const [table, row] of rows) {
      if (readById.has(table)) {
        this.#drop(table, row.id)
        continue
      }
      this.#put(table, row)
      if (table === 'turns' && (row as Turn).state === 'ended') turnEnded = true
    }
    this.seq = seq
    this.last_at = at
    if (turnEnded) this.#forget()
    else if (openTurn(this) === null) this.#forgetMessages(rows)
  }

  /** What needed no turn is not kept until one ends: there may be none for long. */
  #forgetMessages(rows: Iterable<readonly [Table, Rows[Table]]>): void {
    for (const [table, row] of rows) {
      if (table === 'messages' && !isLiveMessage(row as Rows['messages'])) this.#drop(table, row.id)
    }
  }

  #forget(): void {
    const completed = [...this.#completed].flatMap((id) => this.row('work_items', id) ?? [])
    const recent = new Set(recentOf(completed))
    for (const [table, rows] of this.#tables) {
      for (const id of this.#maybeOver(table) ?? rows.keys()) {
        const row = rows.get(id)
        if (row === undefined) continue
        const live =
          table === 'work_items' && (row as WorkItem).state === 'completed'
            ? recent.has(row as WorkItem) || isUnverified(row as WorkItem)
            : isLiveRow(this, table, row)
        if (!live) this.#drop(table, id)
      }
    }
    for (const ids of this.#touched.values()) ids.clear()
  }

  /** Rows of a long table that may not be live any more; null: any of the table. */
  #maybeOver(table: Table): ReadonlySet<string> | null {
    const touched = this.#touched.get(table)
    if (touched === undefined) return null
    // One more that is completed takes another's place.
    if (table === 'work_items') return touched.union(this.#completed)
    // It goes with its item, whose id it has.
    if (table === 'pacing') return touched.union(this.#touched.get('work_items') ?? touched)
    return touched
  }
}

/** Logs: a rule that wants one of their rows has it read, so none is kept, nor an old one. */
const readById: ReadonlySet<Table> = new Set(['deliveries', 'slots', 'receipts'])
