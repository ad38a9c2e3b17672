/**
 * The invariant of checks (43): a run exists only behind a completion or a claim, at most one of a
 * check is alive, a command begins at most once for each run, nobody but the operator asks or
 * answers, and an item that was completed as verified had passing runs.
 * What verifies an item is derived, so there is no row of it that could be wrong.
 */
import { isMachine } from '../state/check.ts'
import type { StoredEvent } from '../state/event.ts'
import type { Facts } from '../facts/facts.ts'

export const checkRows: { readonly [number: string]: (facts: Facts) => Iterable<string> } = {
  *43(facts) {
    const tasks = new Set<string>()
    for (const item of facts.rows('work_items')) {
      const names = new Set(item.checks.map(({ name }) => name))
      if (names.size < item.checks.length) yield `${item.id} has two checks of one name`
      for (const check of item.checks) {
        const { name, run } = check
        const which = `"${name}" of ${item.id}`
        const claimed = item.claim !== undefined && isMachine(check)
        if (run === null ? item.state === 'completed' : item.state === 'open' && !claimed) {
          yield `${which} is ${run?.state ?? 'not owed'}, and the item is ${item.state}`
        }
        if (run?.state !== 'running') continue
        if (check.kind !== 'command') yield `${which} is a ${check.kind} that runs`
        if (tasks.has(run.task_id)) yield `${run.task_id} runs two checks`
        tasks.add(run.task_id)
      }
    }
    if (tasks.size > 1) yield `${[...tasks].join(' and ')} run checks at the same time`
  },
}

/** Over every event of the agent, in order. */
export function checkHistory(events: readonly StoredEvent[]): string[] {
  const found: string[] = []
  const begun = new Set<string>()
  const kinds = new Map<string, boolean>()
  for (const { event } of events) {
    if (event.type === 'work_item_created' || event.type === 'work_item_updated') {
      const { id, by } = event
      const checks = event.type === 'work_item_created' ? event.checks : event.changed.checks
      if (checks === undefined) continue
      if (by !== 'operator') found.push(`43: ${by} set the checks of ${id}`)
      for (const check of checks) kinds.set(`${id} ${check.name}`, isMachine(check))
    }
    if (event.type === 'check_started') {
      const key = `${event.id} ${event.name} ${event.n}`
      if (begun.has(key)) found.push(`43: the command of ${key} began twice`)
      begun.add(key)
    }
    if (event.type === 'check_finished') {
      const machine = kinds.get(`${event.id} ${event.name}`)
      const given = event.by === 'operator'
      // A question that is given up with its agent is nobody's answer.
      const unanswered = machine === false && event.outcome === 'unknown'
      if (machine !== undefined && machine === given && !unanswered) {
        found.push(`43: "${event.name}" of ${event.id} was ended by the ${event.by}`)
      }
    }
  }
  return found
}
