/** A history of a completion whose report the runtime has put a warning below. */
import { completeItem } from '../../domain/work/complete.ts'
import { updateItem } from '../../domain/work/create-and-update.ts'
import { item, say, World } from '../world/agent-world.ts'
import { act, begin, end, turnOf } from '../world/turns.ts'

const report = 'All flags are gone, and every test passes.\n\nOne todo is left: the docs.'

export function reportedWithWarning() {
  const w = new World()
  say(w, { text: 'Remove dead flags' })
  begin(w)
  const id = item(w, { objective: 'Remove dead flags', focus: true })
  w.do((d) => d.emit({ type: 'turn_bound', id: turnOf(w).id, work_item_id: id }))
  act(w, { tool: 'UpdateWorkItem', input: {} }, (d) =>
    updateItem(d, {
      work_item_id: id,
      by: 'agent',
      todo_list: [{ text: 'the docs', state: 'pending' }],
    }),
  )
  act(w, { tool: 'CompleteWorkItem', text: report }, (d) =>
    completeItem(d, { work_item_id: id, by: 'agent', report, turn: turnOf(w) }),
  )
  end(w)
  return { id, events: w.events }
}
