/**
 * What keeps words to an agent from being read, and what has to be done about it: of the agent
 * first, then of the item they are about. Who accepts them and who is about to send them tell it in
 * the same words. Pure.
 */
import { overOf, useOf, measuredWords } from '../facts/budget.ts'
import { agentOf, type Facts } from '../facts/facts.ts'
import { activeHold } from '../waits/hold.ts'
import type { WorkItemId } from '../ids.ts'
import type { Measured } from '../state/meter.ts'
import { raises } from '../budgets/settle.ts'
import { isOverBudget, meterOf } from '../facts/payer.ts'
import type { Timestamp } from '../time.ts'
import type { Wait } from '../state/wait.ts'

export type Unread = {
  because: string
  /** In the words of what holds it; null: `because` says all. */
  detail: string | null
  /** What must be so before they are read. */
  once: string
  /** The command that makes it so; null: nobody has to do anything. */
  cli: string | null
}

export const unreadOf = (
  facts: Facts,
  work_item_id: WorkItemId | null,
  now: Timestamp,
): Unread | null =>
  agentUnread(facts, now) ?? itemUnread(work_item_id, overNow(facts, work_item_id, now))

export function agentUnread(facts: Facts, now: Timestamp): Unread | null {
  const { id, model } = agentOf(facts)
  if (model === null) {
    const because = `${id} has no model`
    return { because, detail: null, once: 'it has one', cli: modelLine(id) }
  }
  const hold = activeHold(facts)
  if (hold === null || (hold.wake_at !== null && hold.wake_at <= now)) return null
  const end = endOf(id, hold)
  return end === null ? null : { because: `${id} is held`, detail: hold.reason, ...end }
}

export const modelLine = (agent_id: string): string =>
  `holon agents configure ${agent_id} --model <provider/model>`

/** How the hold of an agent ends; null: these very words end it. */
function endOf(id: string, hold: Wait): Pick<Unread, 'once' | 'cli'> | null {
  const { runtime_cause, resource, source, wake_at } = hold
  const time = wake_at === null ? null : `it is ${wake_at}`
  const more = (agent: string) => `holon agents configure ${agent} --max-usd <n>`
  if (runtime_cause === 'budget') return { once: 'it may spend more', cli: more(id) }
  if (runtime_cause !== 'spending') {
    if (time !== null) return { once: time, cli: null }
    return { once: 'that is settled and it is started', cli: `holon agents start ${id}` }
  }
  if (source === 'question') {
    if (resource === id || resource === null) return null
    return { once: `you let ${resource} go on`, cli: `holon send --agent ${resource} <text>` }
  }
  const cli = resource === null ? 'holon config set budget <limits>' : more(resource)
  return { once: time === null ? 'that is raised' : `that is raised, or ${time}`, cli }
}

/** Of an item, by the limits of it that are reached. */
export function itemUnread(id: string | null, over: readonly Measured[]): Unread | null {
  if (id === null || over.length === 0) return null
  return {
    because: `${id} is over its budget`,
    detail: over.map(measuredWords).join(', '),
    once: 'that is raised',
    cli: `holon work update ${id} ${over.map(({ what }) => raises[what]).join(' ')}`,
  }
}

function overNow(facts: Facts, id: WorkItemId | null, now: Timestamp): readonly Measured[] {
  if (id === null || !isOverBudget(facts, id, now)) return []
  const meter = meterOf(facts, id)
  const budget = facts.row('work_items', id)?.budget ?? null
  return budget === null ? (meter?.over ?? []) : overOf(budget, useOf(meter), now)
}

/** `main is held: The key is wrong. It is read once …: holon agents start main`. */
export function unreadWords({ because, detail, once, cli }: Unread): string {
  const why = detail === null ? because : `${because}: ${detail.replace(/\.$/, '')}`
  return `${why}. It is read once ${once}${cli === null ? '' : `: ${cli}`}`
}
