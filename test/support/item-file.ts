/** The file of an item that some other home exported: its words, its plan, one event. */
import { writeExport } from '../../src/domain/transfer/export-file.ts'
import { sha256 } from '../../src/exec/files/whole-file.ts'

const at = '2026-03-02T09:00:00.000Z'
const id = 'work_01a20300-d9da-7935-9953-8f635d522f17'

export function itemFile(objective: string, plan: string): string {
  const item = { id, objective, plan_status: 'ready', todo_list: [], budget: null, checks: [] }
  const created = { type: 'work_item_created', id, objective }
  const named = { turn_id: null, causation_id: null, at }
  return writeExport(
    {
      exported_at: at,
      program: '1.0.0',
      agent_id: 'elsewhere',
      work_item_id: id,
      slice: [
        { record: 'item', generation: 0, item },
        { record: 'plan', generation: 0, text: plan },
        { record: 'event', generation: 0, seq: 1, ...named, event: created },
      ],
      earlier: null,
    },
    (value) => value,
    sha256,
  ).file
}
