/** What the ledger has of an item's changes to files, and of reverts of them, oldest first. */
import { limits } from '../../domain/limits.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { changesMade } from '../../domain/work/recorded-changes.ts'
import type { RecordedChange, RevertRecord } from '../../domain/work/revert.ts'
import type { LedgerReads } from '../../ledger/port.ts'

/** `unseen`: commands of which not all that they changed is known. */
export type ChangesRecorded = { changes: RecordedChange[]; unseen: number }

/** By when they were done; the newest calls and tasks, as `holon work diff` reads them. */
export async function changesRecorded(
  ledger: LedgerReads,
  work_item_id: WorkItemId,
): Promise<ChangesRecorded> {
  const limit = limits.changes_calls.value
  const calls = await ledger.list('calls', { work_item_id, limit })
  const tasks = await ledger.list('tasks', { work_item_id, limit })
  const { made, unseen } = changesMade({ calls, tasks })
  return { changes: made.flatMap(({ diffs }) => diffs), unseen: unseen.length }
}

/** Events about an item that are looked through for reverts. */
const looked = 20_000

export async function revertsRecorded(
  ledger: LedgerReads,
  work_item_id: WorkItemId,
): Promise<RevertRecord[]> {
  const types = ['files_reverted'] as const
  const found = await ledger.noteEvents(work_item_id, { looked, types })
  return found.flatMap(({ event }) => (event.type === 'files_reverted' ? [event] : []))
}
