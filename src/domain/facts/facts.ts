/**
 * Facts: the rows of one agent, as a rule sees them; and Draft: the same with the events of a
 * decision in the making folded on top. Rules read facts and emit events; nothing else changes.
 *
 * A Draft is how several rules compose into one commit: each sees what the one before decided.
 */
import type { Agent } from '../state/agent.ts'
import type { Call } from '../state/call.ts'
import {
  evolve,
  tableOf,
  type Event,
  type EventMeta,
  type Rows,
  type Table,
} from '../state/event.ts'
import type { AgentId, Mint, WorkItemId } from '../ids.ts'
import { queuedEvent } from '../state/message.ts'
import { newAgentPacing, newItemPacing, type AgentPacing, type ItemPacing } from '../state/pace.ts'
import { LaidRanking, rankingOf, type RankedRows, type Ranking } from './ranking.ts'
import { later, type Timestamp } from '../time.ts'
import type { Round, Turn } from '../state/turn.ts'
import type { Wait } from '../state/wait.ts'
import type { WorkItem } from '../state/work-item.ts'

export interface Facts extends RankedRows {
  /** Seq of the last event these facts include. */
  readonly seq: number
  /** Time of the last commit of this agent. */
  readonly last_at: Timestamp
  /** External messages that are queued, where they are counted along; else the rows say. */
  queuedEvents?(): number | undefined
}

export type Emitted = { event: Event; meta: Omit<EventMeta, 'agent_id'> }

export type DraftEnv = {
  now: Timestamp
  mint: Mint
  causation_id?: string | null
  /** Total, and the same event where it takes nothing out (docs/spec/security.md#secrets). */
  redact?: ((event: Event) => Event) | undefined
}

export class Draft implements Facts {
  readonly base: Facts
  readonly agent_id: AgentId
  readonly now: Timestamp
  readonly mint: Mint
  /** What asked for this decision: a message, call, timer or operator act. */
  causation_id: string | null
  readonly emitted: Emitted[] = []
  /** Takes secrets out of an event before it is folded; absent where there are none. */
  readonly #redact: ((event: Event) => Event) | undefined
  readonly #over = new Map<Table, Map<string, Rows[Table]>>()
  readonly ranking: Ranking

  constructor(base: Facts, env: DraftEnv) {
    this.base = base
    this.agent_id = base.agent_id
    this.now = later(env.now, base.last_at)
    this.mint = env.mint
    this.causation_id = env.causation_id ?? null
    this.#redact = env.redact
    this.ranking = new LaidRanking(this, base, (table) => this.#changedOf(table))
  }

  get seq(): number {
    return this.base.seq + this.emitted.length
  }

  get last_at(): Timestamp {
    return this.emitted.length === 0 ? this.base.last_at : this.now
  }

  row<T extends Table>(table: T, id: string): Rows[T] | undefined {
    return (this.#over.get(table)?.get(id) as Rows[T] | undefined) ?? this.base.row(table, id)
  }

  /** As they are now. Every step of a turn walks them: an array is several times a generator. */
  rows<T extends Table>(table: T): Iterable<Rows[T]> {
    const over = this.#over.get(table) as Map<string, Rows[T]> | undefined
    if (over === undefined) return this.base.rows(table)
    const rows: Rows[T][] = []
    for (const row of this.base.rows(table)) if (!over.has(row.id)) rows.push(row)
    for (const row of over.values()) rows.push(row)
    return rows
  }

  #changedOf<T extends Table>(table: T): Iterable<Rows[T]> {
    return (this.#over.get(table)?.values() ?? []) as Iterable<Rows[T]>
  }

  queuedEvents(): number | undefined {
    let count = this.base.queuedEvents?.()
    if (count === undefined) return undefined
    for (const row of this.#changedOf('messages')) {
      count += queuedEvent(row) - queuedEvent(this.base.row('messages', row.id))
    }
    return count
  }

  /** Adds an event to the decision and folds it at once. */
  emit(given: Event): void {
    const event = this.#redact?.(given) ?? given
    const table = tableOf[event.type]
    const before = this.row(table, event.id) ?? null
    const meta = { at: this.now, seq: this.seq + 1, agent_id: this.agent_id }
    const turn = openTurn(this)
    const row = evolve(before, event, meta)
    const over = this.#over.get(table) ?? new Map<string, Rows[Table]>()
    over.set(event.id, row)
    this.#over.set(table, over)
    this.emitted.push({
      event,
      meta: {
        seq: meta.seq,
        at: this.now,
        work_item_id: itemOf(table, row, event),
        turn_id: turnOf(table, row) ?? turn?.id ?? null,
        causation_id: this.causation_id,
      },
    })
  }

  /** The rows the events changed, as they are after all of them. */
  *changed(): Iterable<readonly [Table, Rows[Table]]> {
    for (const [table, rows] of this.#over) for (const row of rows.values()) yield [table, row]
  }
}

function itemOf(table: Table, row: Rows[Table], event: Event): WorkItemId | null {
  if (table === 'work_items') return (row as WorkItem).id
  if (event.type === 'work_item_picked') return event.current_work_item_id
  if (event.type === 'focus_released') return event.work_item_id
  if (event.type === 'item_paced') return event.id
  if (table === 'meters') {
    const { kind, id } = row as Rows['meters']
    return kind === 'item' ? (id as WorkItemId) : null
  }
  return 'work_item_id' in row ? row.work_item_id : null
}

function turnOf(table: Table, row: Rows[Table]) {
  if (table === 'turns') return (row as Turn).id
  return 'turn_id' in row ? row.turn_id : null
}

// Reading facts by name. Each walks live rows only, so each is as long as the agent's open work.

export function agentOf(facts: Facts): Agent {
  const agent = facts.row('agents', facts.agent_id)
  if (!agent) throw new Error(`no agent ${facts.agent_id}`)
  return agent
}

export function openTurn(facts: Facts): Turn | null {
  for (const turn of facts.rows('turns')) if (turn.state === 'open') return turn
  return null
}

/** The open turn where there must be one: everything that works inside a turn. */
export function mustTurn(facts: Facts): Turn {
  const turn = openTurn(facts)
  if (!turn) throw new Error('no turn is open')
  return turn
}

export function roundsOf(facts: Facts, turn: Turn): Round[] {
  const found: Round[] = []
  for (const r of facts.rows('rounds')) if (r.turn_id === turn.id) found.push(r)
  return found.sort((a, b) => a.n - b.n)
}

export function callsOf(facts: Facts, turn: Turn, round?: number): Call[] {
  const found: Call[] = []
  for (const c of facts.rows('calls')) {
    if ((round === undefined || c.round === round) && c.turn_id === turn.id) found.push(c)
  }
  return found.sort((a, b) => a.round - b.round || a.index - b.index)
}

/** The turn's rounds, each with its calls in order: one pass over the rows. */
export function roundViews(facts: Facts, turn: Turn): { round: Round; calls: Call[] }[] {
  const byRound = new Map<number, Call[]>()
  for (const call of callsOf(facts, turn)) {
    const list = byRound.get(call.round)
    if (list) list.push(call)
    else byRound.set(call.round, [call])
  }
  return roundsOf(facts, turn).map((round) => ({ round, calls: byRound.get(round.n) ?? [] }))
}

export const activeWaitOf = (facts: Facts, item: WorkItemId): Wait | null =>
  rankingOf(facts).waitOf(item)

export function* activeWaits(facts: Facts): Iterable<Wait> {
  for (const wait of facts.rows('waits')) if (wait.status === 'active') yield wait
}

export function* openItems(facts: Facts): Iterable<WorkItem> {
  for (const item of facts.rows('work_items')) if (item.state === 'open') yield item
}

export function itemPacing(facts: Facts, item: WorkItemId): ItemPacing {
  const row = facts.row('pacing', item)
  if (row?.kind === 'item') return row
  return newItemPacing(facts.agent_id, item)
}

export function agentPacing(facts: Facts): AgentPacing {
  const row = facts.row('pacing', facts.agent_id)
  if (row?.kind === 'agent') return row
  return newAgentPacing(facts.agent_id)
}
