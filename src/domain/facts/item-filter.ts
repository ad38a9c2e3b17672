/**
 * The derived views of an agent's work items, by name: one list and one rule for the tool that
 * lists them and for the API. Pure.
 */
import type { Projection } from './readiness.ts'

export const itemFilters = [
  'all',
  'open',
  'completed',
  'current',
  'queued',
  'blocked',
  'waiting_for_operator',
  'runnable',
  'triggered',
] as const
export type ItemFilter = (typeof itemFilters)[number]

/** Of an open item; completed ones pass only `all` and `completed`. */
export function passes(filter: ItemFilter, p: Projection): boolean {
  const open = p.item.state === 'open'
  switch (filter) {
    case 'all':
      return true
    case 'open':
      return open
    case 'completed':
      return !open
    case 'current':
    case 'queued':
      return open && p.focus === filter
    case 'blocked':
    case 'waiting_for_operator':
    case 'runnable':
      return open && p.readiness === filter
    case 'triggered':
      return p.candidate_class === 'triggered_blocked'
  }
}
