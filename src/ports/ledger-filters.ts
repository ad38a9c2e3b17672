/** What reads of the ledger take: filters, and where a page begins. Types only. */

export type RowFilter = {
  agent_id?: string
  work_item_id?: string
  turn_id?: string
  schedule_id?: string
  /** Equal to the row's `state` or `status`, whichever the table has. */
  status?: readonly string[]
  kind?: readonly string[]
}

export type ListFilter = RowFilter & {
  /** Only rows older than the one with this id; an id that is not there: none. */
  before?: string
  limit: number
}

/** Events in global order, after a global seq. */
export type EventFilter = {
  after: number
  limit: number
  agent_id?: string
  work_item_id?: string
}

/**
 * Seqs of the agent when `agent_id` is given, else global ones; both are exclusive. With `before`
 * the newest events below it, else the first after `after`; either way in ascending order.
 */
export type EventPage = {
  agent_id?: string
  work_item_id?: string
  after?: number
  before?: number
  limit: number
}

/**
 * Seqs. From `first` on no event is missing; what is below was taken by retention. `last` is 0
 * while nothing was committed, and `first` is then 1.
 */
export type EventRange = { first: number; last: number }

export type SpendFilter = {
  by: readonly ('agent' | 'item' | 'day')[]
  agent_id?: string
  work_item_id?: string
  /** UTC days, both inclusive: 2026-01-02. */
  from?: string
  to?: string
}
