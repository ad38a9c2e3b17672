/**
 * Follows the ledger with the search index, in steps: new events first, then what an index that is
 * being made still lacks, then what retention took. Each step is one batch with how far it came, so
 * that a kill costs one step, and a step that was made twice changes nothing.
 */
import type { Rows, StoredEvent } from '../../domain/state/event.ts'
import { tableOf } from '../../domain/state/event.ts'
import type { MemoryRecord } from '../../domain/memory/memory.ts'
import {
  isMemoryTable,
  memoryTables,
  refsOf,
  type MemoryTable,
} from '../../domain/memory/records.ts'
import { parseRef } from '../../domain/memory/reference.ts'
import { partsOf } from '../../domain/memory/words.ts'
import { roundId } from '../../domain/state/turn.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import type { IndexBatch, IndexEntry, IndexKey, SearchIndex } from '../../ledger/search/port.ts'
import type { Family } from './family.ts'
import { indexedText, type Records } from './records.ts'

/** Raised when the same row makes other records than before: the index is made again. */
const recordsVersion = 3

/** Events and rows of one step: a few milliseconds of work. */
const eventsOfStep = 60
const rowsOfStep = 40
const sweptOfStep = 200

type State = {
  version: number
  /** The last event that is in the index, and its id: another home's ledger has another. */
  cursor: number
  cursor_id: string | null
  /** While the index is made: the table, and the last row of it that is in. */
  building: { table: number; after: number } | null
  /** The floor up to which rows that are gone have left. */
  swept: number
  sweeping: { floor: number; after: number } | null
}

/** `written`: new events were taken in. `rest`: nothing was left to do. */
export type IndexProgress = 'written' | 'building' | 'sweeping' | 'rest'

export type FollowPorts = {
  ledger: LedgerReads
  index: SearchIndex
  records: Records
  family: Family
}

export class Follower {
  readonly #ports: FollowPorts
  /** As the index has it; null: not read yet. */
  #raw: string | null = null

  constructor(ports: FollowPorts) {
    this.#ports = ports
  }

  async step(): Promise<IndexProgress> {
    const state = await this.#state()
    const { ledger } = this.#ports
    const events = await ledger.events({ after: state.cursor, limit: eventsOfStep })
    const isDense = events.every(({ global_seq }, i) => global_seq === state.cursor + 1 + i)
    if (!isDense) return this.#startOver()
    if (events.length > 0) return this.#takeIn(state, events)
    if (state.building !== null) return this.#build(state, state.building)
    const { first } = await ledger.eventRange(null)
    const floor = first - 1
    if (state.sweeping === null && floor <= state.swept) return 'rest'
    return this.#sweep(state, state.sweeping ?? { floor, after: 0 })
  }

  /** Whether everything from before this index began is in it. */
  async isBuilt(): Promise<boolean> {
    return (await this.#state()).building === null
  }

  /** Puts files in, or takes them out, at whatever point the index is. */
  async keepFiles(put: readonly IndexEntry[], remove: readonly IndexKey[]): Promise<void> {
    for (;;) {
      const state = await this.#state()
      if ((await this.#write(state, { put, remove })) === 'written') return
    }
  }

  entryOf(record: MemoryRecord, stamp: string | null): IndexEntry {
    const { agent_id, ref, kind, at } = record
    const text = indexedText(record.text)
    const seen_by = this.#ports.family.parentOf(agent_id)
    return { agent_id, ref, kind, at, seen_by, text, parts: partsOf(`${ref}\n${text}`), stamp }
  }

  /** After the index was made anew by somebody. */
  forget(): void {
    this.#raw = null
  }

  async #state(): Promise<State> {
    const { index, ledger, family } = this.#ports
    if (this.#raw !== null) return JSON.parse(this.#raw) as State
    await family.load()
    const raw = await index.state()
    if (raw !== null) {
      const state = JSON.parse(raw) as State
      if (state.version === recordsVersion && (await this.#isOfThisHome(state))) {
        this.#raw = raw
        return state
      }
      await index.reset()
    }
    const cursor = await ledger.lastGlobalSeq()
    const { first } = await ledger.eventRange(null)
    const state: State = {
      version: recordsVersion,
      cursor,
      cursor_id: await this.#idOf(cursor),
      building: { table: 0, after: 0 },
      swept: first - 1,
      sweeping: null,
    }
    const begun = JSON.stringify(state)
    const done = await index.write({ put: [], remove: [], state: begun, expected: null })
    if (done === 'conflict') return this.#state()
    this.#raw = begun
    return state
  }

  /** A ledger that was brought back from a backup may be behind its index, or go on otherwise. */
  async #isOfThisHome({ cursor, cursor_id }: State): Promise<boolean> {
    if (cursor > (await this.#ports.ledger.lastGlobalSeq())) return false
    const id = await this.#idOf(cursor)
    return id === null || id === cursor_id
  }

  async #idOf(global_seq: number): Promise<string | null> {
    if (global_seq === 0) return null
    const [found] = await this.#ports.ledger.events({ after: global_seq - 1, limit: 1 })
    return found?.global_seq === global_seq ? found.id : null
  }

  async #startOver(): Promise<IndexProgress> {
    await this.#ports.index.reset()
    this.#raw = null
    await this.#state()
    return 'building'
  }

  async #takeIn(state: State, events: readonly StoredEvent[]): Promise<IndexProgress> {
    const subjects = new Map<string, [MemoryTable, string]>()
    for (const { event } of events) {
      const table = tableOf[event.type]
      if (table === 'agents') await this.#ports.family.changed(event.id)
      if (isMemoryTable(table)) subjects.set(`${table} ${event.id}`, [table, event.id])
    }
    const changed: Changed = { put: [], remove: [] }
    for (const [table, id] of subjects.values()) {
      const row = await this.#ports.ledger.row(table, id)
      if (row !== null) await this.#change(changed, table, row)
    }
    const last = events.at(-1)
    const [cursor, cursor_id] = [last?.global_seq ?? state.cursor, last?.id ?? state.cursor_id]
    await this.#write({ ...state, cursor, cursor_id }, changed)
    return 'written'
  }

  async #build(
    state: State,
    { table: at, after }: NonNullable<State['building']>,
  ): Promise<IndexProgress> {
    const table = memoryTables[at]
    if (table === undefined) throw new Error(`there is no table ${at} to build from`)
    const page = { order: 'oldest', after, limit: rowsOfStep } as const
    const { entries, more } = await this.#ports.ledger.page(table, page)
    const changed: Changed = { put: [], remove: [] }
    for (const { row } of entries) await this.#change(changed, table, row)
    const last = entries.at(-1)
    const building =
      more && last !== undefined
        ? { table: at, after: last.born }
        : at + 1 < memoryTables.length
          ? { table: at + 1, after: 0 }
          : null
    await this.#write({ ...state, building }, changed)
    return 'building'
  }

  async #change(changed: Changed, table: MemoryTable, row: Rows[MemoryTable]): Promise<void> {
    const records = await this.#ports.records.ofRow(table, row)
    const there = new Set(records.map(({ ref }) => ref))
    changed.put.push(...records.map((record) => this.entryOf(record, null)))
    for (const ref of refsOf(table, row)) {
      if (!there.has(ref)) changed.remove.push({ agent_id: row.agent_id, ref })
    }
  }

  async #sweep(
    state: State,
    { floor, after }: { floor: number; after: number },
  ): Promise<IndexProgress> {
    const page = await this.#ports.index.walk(after, sweptOfStep)
    const remove: IndexKey[] = []
    for (const { agent_id, ref } of page) {
      if (await this.#isGone(ref, agent_id)) remove.push({ agent_id, ref })
    }
    const last = page.at(-1)
    const isOver = last === undefined || page.length < sweptOfStep
    const next = isOver
      ? { ...state, swept: floor, sweeping: null }
      : { ...state, sweeping: { floor, after: last.place } }
    await this.#write(next, { put: [], remove })
    return 'sweeping'
  }

  async #isGone(text: string, agent_id: string): Promise<boolean> {
    const ref = parseRef(text)
    if (ref === null || ref.table === 'files') return false
    if (ref.table === 'workspace_files') return !this.#ports.family.isWorkedIn(agent_id)
    if (ref.table !== 'turns') return (await this.#ports.ledger.row(ref.table, ref.id)) === null
    const round = roundId(ref.id as `turn_${string}`, Number(ref.part))
    return (await this.#ports.ledger.row('rounds', round)) === null
  }

  /** Where another process has written meanwhile nothing is kept; the next step looks again. */
  async #write(state: State, { put, remove }: Pick<IndexBatch, 'put' | 'remove'>) {
    const next = JSON.stringify(state)
    const done = await this.#ports.index.write({ put, remove, state: next, expected: this.#raw })
    this.#raw = done === 'written' ? next : null
    return done
  }
}

type Changed = { put: IndexEntry[]; remove: IndexKey[] }
