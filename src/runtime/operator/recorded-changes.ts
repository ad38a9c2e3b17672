/** What the ledger has of an item's changes to files, and of reverts of them, oldest first. */
import { limits } from '../../domain/limits.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import type { RevertedFile } from '../../domain/state/work-item.ts'
import type { RecordedChange } from '../../domain/work/revert.ts'
import type { LedgerReads } from '../../ledger/port.ts'

/** The newest, as `holon work diff` reads them. */
export async function changesRecorded(
  ledger: LedgerReads,
  work_item_id: WorkItemId,
): Promise<RecordedChange[]> {
  const calls = await ledger.list('calls', { work_item_id, limit: limits.changes_calls.value })
  return calls.flatMap(({ result }) => (result?.status === 'success' ? (result.diffs ?? []) : []))
}

/** Events about an item that are looked through for reverts. */
const looked = 20_000

export async function revertsRecorded(
  ledger: LedgerReads,
  work_item_id: WorkItemId,
): Promise<RevertedFile[]> {
  const types = ['files_reverted'] as const
  const found = await ledger.noteEvents(work_item_id, { looked, types })
  return found.flatMap(({ event }) => (event.type === 'files_reverted' ? event.files : []))
}
