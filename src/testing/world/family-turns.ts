/**
 * What a child does in its turns, for tests of what its parent is owed: each function is one or two
 * commits of the real rules on top of `FamilyWorld`.
 */
import { completeItem } from '../../domain/work/complete.ts'
import { openTurn } from '../../domain/facts/facts.ts'
import { taskResultId, type WorkItemId } from '../../domain/ids.ts'
import { createItem, updateItem, type UpdateItem } from '../../domain/work/create-and-update.ts'
import { item, somePlan, wait, type World } from './agent-world.ts'
import { act, begin, end } from './turns.ts'
import { FamilyWorld } from './family-world.ts'

/** A parent in a turn about an item, and a child that was handed work for it. */
export function handedOver() {
  const family = new FamilyWorld()
  const main = family.of('main')
  const about = item(main, { focus: true })
  begin(main, 'continue_current')
  const child = family.spawn()
  const [result, delegation] = [taskResultId(family.taskOf(child).id), 'deleg_0001']
  return { family, main, about, child, result, delegation }
}

/** The child's turn makes an item; the turn stays open. */
export function makes(child: World, objective = 'Count'): WorkItemId {
  if (openTurn(child.facts) === null) begin(child)
  const id = child.mint('work')
  const made = { id, by: 'agent', objective, todo_list: [], plan: somePlan(id) } as const
  act(child, { tool: 'CreateWorkItem' }, (d) =>
    createItem(d, { ...made, plan_status: 'draft', budget: null }),
  )
  return id
}

export function reports(child: World, id: WorkItemId, report: string | null): void {
  act(child, { tool: 'CompleteWorkItem', input: { work_item_id: id } }, (d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report, turn: openTurn(d) }),
  )
}

export const changes = (child: World, id: WorkItemId, fields: Partial<UpdateItem>) =>
  act(child, { tool: 'UpdateWorkItem', input: { work_item_id: id } }, (d) =>
    updateItem(d, { work_item_id: id, by: 'agent', ...fields }),
  )

export const waits = (child: World, given: Parameters<typeof wait>[1]): void => {
  wait(child, given)
  end(child, { outcome: 'waiting' })
}
