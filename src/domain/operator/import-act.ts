/**
 * The operator takes in an item that came in a file: always a new item, never in the place of one.
 * It is the operator's act, and the words are still not the operator's: see facts/imported.ts.
 */
import { createItem } from '../work/create-and-update.ts'
import type { ActInputs } from './act-inputs.ts'
import { done, type Done } from '../state/reply.ts'
import { isRejection, no, type Rejection } from '../rejection.ts'
import type { Draft } from '../facts/facts.ts'

/** The plan file is there already; the file itself is stored with the item. */
export function importItem(d: Draft, inputs: ActInputs['import_item']): Done | Rejection {
  const { carried, file_sha256 } = inputs
  const { id, plan } = inputs.new_item
  // The id of an import is a function of the file, so the same file finds its item.
  if (d.row('work_items', id)) return no('already_imported', `${id} came from the same file.`)
  const { agent_id, work_item_id, exported_at } = carried
  const made = createItem(d, {
    id,
    by: 'operator',
    objective: carried.objective,
    plan_status: carried.plan_status,
    todo_list: carried.todo_list,
    plan,
    budget: null,
    imported: { agent_id, work_item_id, exported_at, file_sha256 },
  })
  if (isRejection(made)) return made
  const said = `${id} is imported. Look at it, then pick it: nothing begins before.`
  return done(said, { id, warnings: [...made.warnings, ...carried.not_taken.map(leftOut)] })
}

const leftOut = (what: 'budget' | 'checks') => ({
  kind: `${what}_not_taken`,
  message: `Its ${what} did not come along: set them here if you want them.`,
})
