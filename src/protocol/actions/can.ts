/**
 * `can`: what may be done to a thing now, each action by its four doors
 * (docs/spec/http.md#what-may-be-done): key, shell line, method and path. What is not allowed now
 * says the code and the sentence of the very rejection the act would get.
 */
import * as rules from '../../domain/operator/can.ts'
import type { Delivery } from '../../domain/state/delivery.ts'
import type { Grant } from '../../domain/state/grant.ts'
import type { Rows, StoredEvent, Table } from '../../domain/state/event.ts'
import { activeWaitOf, type Facts } from '../../domain/facts/facts.ts'
import type { WaitId } from '../../domain/ids.ts'
import type { Message } from '../../domain/state/message.ts'
import { rankingOf } from '../../domain/facts/ranking.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import { answeredWaitIn, pageOfAnswer } from '../../domain/operator/take-back.ts'
import type { Task } from '../../domain/state/task.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { Schedule } from '../../domain/state/schedule.ts'
import type { Trigger } from '../../domain/state/trigger.ts'
import type { Wait } from '../../domain/state/wait.ts'
import type { Worktree } from '../../domain/state/worktree.ts'
import { actOn, agentAs, type Offered, type Subject, type Can } from './action.ts'
import type { AgentView } from '../agent-view.ts'

const withDoors = (said: readonly rules.ActionPermission[], subject: Subject): Can[] =>
  said.map((one) => ({
    ...actOn(one.key as Offered, one.label, subject),
    allowed: one.allowed,
    code: one.allowed ? null : one.code,
    why: one.allowed ? null : one.why,
  }))

type Narrow = { readonly [T in Table]?: readonly Rows[T][] }

/**
 * The facts with fewer rows to walk, for a dry run that looks at one thing among ten thousand: a
 * row is still found by its id, and what is not narrowed is there whole. A row that was handed in
 * is found as it was handed in, also when the facts have gone on meanwhile.
 */
const narrowed = (facts: Facts, narrow: Narrow): Facts => ({
  agent_id: facts.agent_id,
  seq: facts.seq,
  last_at: facts.last_at,
  row: <T extends Table>(table: T, id: string) =>
    narrow[table]?.find((row) => row.id === id) ?? facts.row(table, id),
  rows: <T extends Table>(table: T) => narrow[table] ?? facts.rows(table),
})

const at = (facts: Facts, now: Timestamp): rules.CanView => ({ facts, now })

/** Of the waits only those of the agent itself matter; messages are never counted for it. */
export function canOfAgent({ facts, now, agent }: AgentView): Can[] {
  const waits = [...rankingOf(facts).agentWaits()]
  const view = at(narrowed(facts, { waits, messages: [] }), now)
  return withDoors(rules.canOfAgent(view), agentAs(agent.id))
}

/** The item and the one in focus, with the waits of both, are all that an act on it looks at. */
export function canOfItem({ facts, now, agent }: AgentView, { item, wait }: Projection): Can[] {
  const { current_work_item_id: current } = agent
  const focus = current === null ? undefined : facts.row('work_items', current)
  const focusWait = current === null ? null : activeWaitOf(facts, current)
  const work_items = focus === undefined || focus.id === item.id ? [item] : [item, focus]
  const waits = [wait, focusWait].filter((one) => one !== null)
  const view = at(narrowed(facts, { work_items, waits, messages: [] }), now)
  return withDoors(rules.canOfItem(view, item), item)
}

export function canOfWait({ facts, now }: AgentView, wait: Wait): Can[] {
  const item = wait.work_item_id === null ? undefined : facts.row('work_items', wait.work_item_id)
  const work_items = item === undefined ? [] : [item]
  const view = at(narrowed(facts, { work_items, waits: [wait], messages: [] }), now)
  return withDoors(rules.canOfWait(view, wait), wait)
}

/**
 * The wait that the message ended though it does not name it, as its taking back asks
 * (docs/spec/message.md#binding); null: none.
 */
export async function answeredWait(
  message: Message,
  events: (page: NonNullable<ReturnType<typeof pageOfAnswer>>) => Promise<readonly StoredEvent[]>,
): Promise<WaitId | null> {
  const page = pageOfAnswer(message)
  return page === null ? null : answeredWaitIn(await events(page), message.id)
}

/** `answered_wait`: what `answeredWait` says of it. */
export function canOfMessage(
  { facts, now }: AgentView,
  message: Message,
  answered_wait: Wait['id'] | null,
): Can[] {
  const view = at(narrowed(facts, { messages: [message] }), now)
  return withDoors(rules.canOfMessage(view, message, answered_wait), message)
}

export const canOfTask = ({ facts, now }: AgentView, task: Task): Can[] =>
  withDoors(rules.canOfTask(at(facts, now), task), task)

export const canOfWorktree = ({ facts, now }: AgentView, worktree: Worktree): Can[] =>
  withDoors(rules.canOfWorktree(at(facts, now), worktree), worktree)

export const canOfGrant = ({ facts, now }: AgentView, grant: Grant): Can[] =>
  withDoors(rules.canOfGrant(at(facts, now), grant), grant)

export const canOfTrigger = ({ facts, now }: AgentView, trigger: Trigger): Can[] =>
  withDoors(rules.canOfTrigger(at(facts, now), trigger), trigger)

export const canOfSchedule = ({ facts, now }: AgentView, schedule: Schedule): Can[] =>
  withDoors(rules.canOfSchedule(at(facts, now), schedule), schedule)

export const canOfDelivery = ({ facts, now }: AgentView, delivery: Delivery): Can[] =>
  withDoors(rules.canOfDelivery(at(facts, now), delivery), delivery)
