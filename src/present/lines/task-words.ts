/** How a task stands, in the words that every list, thread and run has for it. Pure. */
import type { Task } from '../../protocol/records/records.ts'

/**
 * How a task that is over ended: by its exit status, else by what ended it. A child has no status,
 * and a command that a signal ended has none either.
 */
export function endWords({
  status,
  exit_status,
  reason,
}: Pick<Task, 'status' | 'exit_status' | 'reason'>): string {
  if (exit_status !== null) return `exit ${exit_status}`
  return status === 'completed' ? (reason ?? status) : status
}

/** A child that completed has reported, a call is done; a command has an exit status. */
export const endedWell = ({
  status,
  kind,
  exit_status,
}: Pick<Task, 'status' | 'kind' | 'exit_status'>): boolean =>
  status === 'completed' && (kind !== 'command' || exit_status === 0)

/**
 * Since when a task runs, for whoever sees nothing but its row; null: it does not. The start of a
 * command that its call still answers for is recorded with what came of the call: until then it
 * runs since its intent.
 */
export function runsSince({
  kind,
  status,
  promoted,
  created_at,
  started_at,
}: Pick<Task, 'kind' | 'status' | 'promoted' | 'created_at' | 'started_at'>): string | null {
  const isCalled = status === 'queued' && kind === 'command' && !promoted
  return started_at ?? (isCalled ? created_at : null)
}
