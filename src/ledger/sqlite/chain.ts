/**
 * The hash chain (docs/spec/security.md#audit): each event carries the SHA-256 of the hash before
 * it in its agent and of its own columns, so nobody changes one event without changing every later
 * one of the agent. It shows a change to whoever knows a later hash, from a backup say; it prevents
 * none.
 */
import { hash } from 'node:crypto'
import type { Cell } from './columns.ts'
import type { Database } from './schema.ts'

/** What the first event of an agent is chained to. */
export const chainStart = ''

/** The columns that are hashed, in that order. Frozen: stored hashes depend on it. */
export const chained = [
  'global_seq',
  'id',
  'agent_id',
  'seq',
  'at',
  'type',
  'v',
  'subject_table',
  'subject_id',
  'work_item_id',
  'turn_id',
  'causation_id',
  'data',
] as const satisfies readonly (keyof Database['events'])[]

/** Lowercase hex. `cells` are the values of `chained`, in that order. */
export function chainHash(previous: string, cells: readonly Cell[]): string {
  let text = previous
  // With its length before it, no value can pass for the end of one and the start of the next.
  for (const cell of cells) {
    const value = cell === null ? '' : String(cell)
    text += cell === null ? '\nnull' : `\n${value.length}:${value}`
  }
  return hash('sha256', text)
}

/** The hash an event must have after `previous`. */
export const hashOf = (previous: string, event: Database['events']): string =>
  chainHash(
    previous,
    chained.map((name) => event[name]),
  )
