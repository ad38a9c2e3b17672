/**
 * An item that two things hold at once, or all: made from the type of what can hold one, so that
 * every reader can be asked whether it names both.
 */
import type { WorkItemId } from '../../domain/ids.ts'
import { updateItem } from '../../domain/work/create-and-update.ts'
import { project } from '../../domain/facts/candidates.ts'
import type { Hold, Projection } from '../../domain/facts/readiness.ts'
import { plus } from '../../domain/time.ts'
import type { Wake } from '../../domain/state/wait.ts'
import { somePlan, T0, task, wait, World } from '../world/agent-world.ts'
import { minute } from './why-world.ts'
import { itemCreated } from '../events.ts'

type Code = Hold['code']

/** What a wait of an item may be for. */
type ItemWake = Exclude<Wake, 'system'>
const each: { readonly [W in ItemWake]: W } = {
  timer: 'timer',
  operator_input: 'operator_input',
  task_result: 'task_result',
  external: 'external',
}
export const wakes: readonly ItemWake[] = Object.values(each)

/** In the order in which they have to go. */
const order: { readonly [C in Code]: number } = {
  imported: 0,
  wait: 1,
  blocked_by: 2,
  needs_input: 3,
  budget: 4,
}
export const codes = (Object.keys(order) as Code[]).toSorted((a, b) => order[a] - order[b])

export const pairs: readonly (readonly [Code, Code])[] = codes.flatMap((a, n) =>
  codes.slice(n + 1).map((b) => [a, b] as const),
)

const by = 'operator' as const
const noLimits = { max_tokens: null, max_usd: null, max_rounds: null, deadline: null }

const hold: { readonly [C in Code]: (w: World, work_item_id: WorkItemId, wake: ItemWake) => void } =
  {
    // It is so from the first.
    imported: () => undefined,
    wait(w, work_item_id, wake) {
      const given = { work_item_id, by, reason: 'the build' }
      const made = wake === 'task_result' ? task(w, { work_item_id }) : null
      wait(w, {
        ...given,
        wake,
        ...(made === null ? {} : { resource: made.id, task: made }),
        ...(wake === 'timer' ? { wake_at: plus(T0, 30 * minute) } : {}),
        ...(wake === 'external' ? { source: 'ci', recheck_at: plus(T0, 10 * minute) } : {}),
      })
    },
    blocked_by: (w, work_item_id) =>
      void w.do((d) => updateItem(d, { work_item_id, by, blocked_by: 'no key' })),
    needs_input: (w, work_item_id) =>
      void w.do((d) =>
        updateItem(d, { work_item_id, by, plan_status: 'needs_input', question: 'Which key?' }),
      ),
    budget: (w, work_item_id) =>
      void w.do((d) => updateItem(d, { work_item_id, by, budget: { ...noLimits, deadline: T0 } })),
  }

/** `Release 2.4.0.`, held by each of these. */
export function held(
  by: readonly Code[],
  wake: ItemWake = 'timer',
): { w: World; id: WorkItemId; p: Projection } {
  const w = new World()
  const id = w.mint('work')
  const from = { agent_id: 'docs', work_item_id: 'work_0', exported_at: T0, file_sha256: '0' }
  const origin = by.includes('imported') ? { imported: from } : {}
  const made = { id, by: 'operator', objective: 'Release 2.4.0.', plan_status: 'ready' } as const
  w.do((d) => d.emit(itemCreated({ ...made, plan: somePlan(id), ...origin })))
  for (const code of by) hold[code](w, id, wake)
  const p = project(w.facts, id, w.now)
  if (p === null) throw new Error(`no row for ${id}`)
  return { w, id, p }
}
