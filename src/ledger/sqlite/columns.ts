/**
 * The columns a row table keeps beside the whole row: derived from the row, by one function a
 * table, so that `verify` can derive them again and compare.
 */
import { isDrawnOn } from '../../domain/state/meter.ts'
import { tables, type Rows, type Table } from '../../domain/state/event.ts'
import { paymentsOf, roundId, type Usage } from '../../domain/state/turn.ts'
import { isUnverified } from '../../domain/facts/verification.ts'
import { schema, type Database } from './schema.ts'

/** All but what is not in the row, its place among the events, and `data`, which is the row. */
type Derived<T extends Table> = Omit<Database[T], 'born' | 'changed' | 'data'>

const derive: { [T in Table]: (row: Rows[T]) => Derived<T> } = {
  agents: ({ id, state }) => ({ id, state }),
  work_items: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    state: row.state,
    changed_seq: placeOf(row),
  }),
  waits: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    work_item_id: row.work_item_id,
    status: row.status,
    wake: row.wake,
    released_focus: Number(row.released_focus),
    focus_settled: Number(row.focus_settled),
  }),
  messages: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    work_item_id: row.work_item_id,
    turn_id: row.turn_id,
    status: row.status,
    kind: row.kind,
    inbox_seq: row.inbox_seq,
    dedupe_key: row.dedupe_key,
  }),
  turns: ({ id, agent_id, work_item_id, state }) => ({ id, agent_id, work_item_id, state }),
  rounds: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    turn_id: row.turn_id,
    work_item_id: row.work_item_id,
    state: row.state,
    day: paidAt(row)?.slice(0, '2026-01-02'.length) ?? null,
    ...usageColumns(row),
  }),
  calls: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    turn_id: row.turn_id,
    round_id: roundId(row.turn_id, row.round),
    work_item_id: row.work_item_id,
    state: row.state,
  }),
  tasks: ({ id, agent_id, work_item_id, status, kind }) => ({
    id,
    agent_id,
    work_item_id,
    status,
    kind,
  }),
  briefs: ({ id, agent_id, work_item_id, turn_id, kind }) => ({
    id,
    agent_id,
    work_item_id,
    turn_id,
    kind,
  }),
  decisions: ({ id, agent_id, work_item_id }) => ({ id, agent_id, work_item_id }),
  pacing: ({ id, agent_id, kind }) => ({ id, agent_id, kind }),
  triggers: ({ id, agent_id, status, token_sha256 }) => ({ id, agent_id, status, token_sha256 }),
  deliveries: ({ id, agent_id, status, source, sender_id }) => ({
    id,
    agent_id,
    status,
    source,
    sender_id,
  }),
  schedules: ({ id, agent_id, status }) => ({ id, agent_id, status }),
  slots: ({ id, agent_id, schedule_id, status }) => ({ id, agent_id, schedule_id, status }),
  receipts: ({ id, agent_id }) => ({ id, agent_id }),
  snoozes: ({ id, agent_id, until }) => ({ id, agent_id, until }),
  delegations: ({ id, agent_id, work_item_id, child_agent_id, state }) => ({
    id,
    agent_id,
    work_item_id,
    child_agent_id,
    state,
  }),
  worktrees: ({ id, agent_id, state }) => ({ id, agent_id, state }),
  meters: (row) => ({
    id: row.id,
    agent_id: row.agent_id,
    kind: row.kind,
    reserved: Number(row.reserved !== null || isDrawnOn(row)),
  }),
  grants: ({ id, agent_id, work_item_id, status }) => ({ id, agent_id, work_item_id, status }),
}

type Counts = { [K in keyof Usage]: number | null }

/** When a round was paid for: with its answer, else when what broke off was asked for. */
const paidAt = (round: Rows['rounds']) =>
  round.recorded_at ?? (paymentsOf(round).length > 0 ? round.requested_at : null)

/** Of all that a round paid for, as far as providers said; one unknown price leaves it unknown. */
function usageColumns(round: Rows['rounds']): Counts {
  const payments = paymentsOf(round)
  const sum = (of: keyof Usage) => {
    const known = payments.flatMap((one) => one[of] ?? [])
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0)
  }
  const unpriced = payments.some(({ usd }) => usd === null)
  return {
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cached_input_tokens: sum('cached_input_tokens'),
    cache_write_tokens: sum('cache_write_tokens'),
    reasoning_tokens: sum('reasoning_tokens'),
    usd: unpriced ? null : sum('usd'),
  }
}

/**
 * Above every real one: completed items that their checks do not verify come first, because they
 * are live until they are verified.
 */
export const unverifiedFrom = 2 ** 40

const placeOf = (item: Rows['work_items']): number =>
  item.changed_seq + (isUnverified(item) ? unverifiedFrom : 0)

export type Cell = string | number | null

/** The derived columns of a row, by name. */
export function columnsOf<T extends Table>(table: T, row: Rows[T]): Record<string, Cell> {
  return derive[table](row)
}

/** Columns every row table has and no row says. */
const placed: ReadonlySet<string> = new Set(['born', 'changed', 'data'])

/** Names of the derived columns of each table, in one fixed order. */
export const derivedColumns = Object.fromEntries(
  tables.map((table) => [
    table,
    Object.keys(schema[table].columns).filter((name) => !placed.has(name)),
  ]),
) as Record<Table, string[]>

/**
 * Columns that no later event of a row changes. An index of what is written again is written again,
 * changed or not, so a row that is rewritten leaves these alone; `verify` compares them all.
 */
const fixed: ReadonlySet<string> = new Set(['id', 'agent_id', 'round_id', 'kind', 'inbox_seq'])
const turnStays: ReadonlySet<Table> = new Set(['rounds', 'calls'])

/** The derived columns that are written when a row is; its item only where an event names one. */
export const changingColumns = (table: Table, namesItem: boolean): string[] =>
  derivedColumns[table].filter((name) => {
    if (name === 'turn_id') return !turnStays.has(table)
    return name === 'work_item_id' ? namesItem : !fixed.has(name)
  })
