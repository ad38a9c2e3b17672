/**
 * The invariants of one agent that the domain can see (docs/spec/invariants.md), each a pure
 * function named by its number. Asked after every simulated step, after every crash, and by `holon
 * doctor`. Rows may be live rows only; events, where given, are the agent's whole history in order.
 * What takes two agents is `familyViolations`.
 */
import type { StoredEvent } from '../state/event.ts'
import { agentOf, agentPacing, openTurn, type Facts } from '../facts/facts.ts'
import { checkHistory, checkRows } from './checks.ts'
import { familyHistory, familyRows } from './children.ts'
import { grantHistory } from './grants.ts'
import { historyViolations } from './history.ts'
import { shownHistory } from './shown.ts'
import { outsideHistory, outsideRows } from './outside.ts'
import { isLate } from '../inbox/late-results.ts'
import { limits } from '../limits.ts'
import { isLiveMessage } from '../state/message.ts'
import { isOverBudget, meterOf } from '../facts/payer.ts'
import { rankingOf } from '../facts/ranking.ts'
import { decideNext } from '../scheduler/next.ts'
import { parkedItems, survey } from '../scheduler/survey.ts'
import { isTerminal } from '../state/task.ts'
import { unreviewed } from '../state/wait.ts'

type Check = (facts: Facts) => Iterable<string>

/** Every violated invariant, one sentence each, opening with its number; empty: all hold. */
export function violations(facts: Facts, events: readonly StoredEvent[] = []): string[] {
  const found: string[] = []
  for (const [number, check] of checks) {
    for (const sentence of check(facts)) found.push(`${number}: ${sentence}`)
  }
  const past = [
    historyViolations(facts, events),
    shownHistory(events),
    outsideHistory(events),
    familyHistory(events),
    checkHistory(events),
    grantHistory(events),
  ]
  return [...found, ...past.flat()]
}

const byRows: { readonly [number: string]: Check } = {
  /** No message is bound to a turn that is not open; what is live is queued or claimed by it. */
  *5(facts) {
    const turn = openTurn(facts)
    for (const message of facts.rows('messages')) {
      if (message.status === 'claimed' && message.turn_id !== turn?.id) {
        yield `${message.id} is claimed by ${message.turn_id}, which is not open`
      }
      if (message.status === 'queued' && message.turn_id !== null) {
        yield `${message.id} is queued and bound to ${message.turn_id}`
      }
    }
  },

  /** A completed item is not current, blocked by a wait, or waited on. */
  *7(facts) {
    const current = agentOf(facts).current_work_item_id
    for (const item of facts.rows('work_items')) {
      if (item.state !== 'completed') continue
      if (item.completed_at === null) yield `${item.id} is completed at no time`
      if (item.id === current) yield `${item.id} is completed and in focus`
    }
  },

  /** Focus is an open item of the agent. */
  *8(facts) {
    const current = agentOf(facts).current_work_item_id
    if (current === null) return
    const item = facts.row('work_items', current)
    if (item?.agent_id !== facts.agent_id) yield `focus ${current} is no item of the agent`
    else if (item.state !== 'open') yield `focus ${current} is ${item.state}`
  },

  /** A report exists only with a completion. */
  *14(facts) {
    for (const item of facts.rows('work_items')) {
      const reported = item.result_brief_id !== null
      if (reported !== (item.result_summary !== null)) yield `${item.id} has half a report`
      if (reported && item.state !== 'completed') yield `${item.id} is open and has a report`
    }
  },

  /** At most one turn is open. */
  *16(facts) {
    const open = [...facts.rows('turns')].filter((turn) => turn.state === 'open')
    if (open.length > 1) yield `${open.map((turn) => turn.id).join(' and ')} are open`
  },

  /** The counts that park an item or stop the queue are never passed. */
  *23(facts) {
    for (const pacing of facts.rows('pacing')) {
      const count = pacing.kind === 'item' ? pacing.no_progress + 1 : pacing.queue_no_progress
      if (count > limits.no_progress_turns.value) {
        yield `${pacing.id} had ${count} turns in a row without progress`
      }
    }
    const { queue_no_progress, queue_wait_id } = agentPacing(facts)
    const isOver = queue_no_progress >= limits.no_progress_turns.value
    if (isOver && queue_wait_id === null) yield 'the queue was left three times and nobody asked'
  },

  /** No wait was reviewed more often than it was triggered, nor ended in two ways. */
  *24(facts) {
    for (const wait of facts.rows('waits')) {
      if (wait.reviewed_trigger_count > wait.trigger_count) {
        const { reviewed_trigger_count, trigger_count } = wait
        yield `${wait.id} was reviewed ${reviewed_trigger_count} of ${trigger_count} times`
      }
      const ends = [wait.resolved_at, wait.cancelled_at].filter((at) => at !== null).length
      if (ends !== (wait.status === 'active' ? 0 : 1))
        yield `${wait.id} is ${wait.status}, ${ends} ends`
    }
  },

  /**
   * What has a budget is metered; a request is reserved while it is open, and no longer; one budget
   * at most pays for what is about no open item.
   */
  *25(facts) {
    for (const item of facts.rows('work_items')) {
      if (item.state !== 'open' || item.budget === null) continue
      if (meterOf(facts, item.id) === null) yield `${item.id} has a budget and no meter`
    }
    const paying: string[] = []
    for (const { id, reserved, pays_on } of facts.rows('meters')) {
      if (pays_on) paying.push(id)
      if (reserved === null) continue
      const round = facts.row('rounds', reserved.round_id)
      if (round?.state !== 'requested') yield `${id} is reserved for ${reserved.round_id}`
    }
    if (paying.length > 1) yield `${paying.join(' and ')} pay on`
  },

  *26(facts) {
    yield* carried(facts)
  },

  /** The item of an active wait is open; an item has at most one; system waits are the agent's. */
  *27(facts) {
    const seen = new Set<string>()
    for (const wait of facts.rows('waits')) {
      if (wait.status !== 'active' || wait.work_item_id === null) continue
      const item = facts.row('work_items', wait.work_item_id)
      if (item?.state !== 'open')
        yield `${wait.id} waits on ${wait.work_item_id}, which is not open`
      if (wait.wake === 'system') yield `${wait.id} is a system wait on ${wait.work_item_id}`
      if (seen.has(wait.work_item_id)) yield `${wait.work_item_id} has two active waits`
      seen.add(wait.work_item_id)
    }
  },

  /** An item that needs input and that nothing else holds has asked; any other asks nothing. */
  *44(facts) {
    if (openTurn(facts) === null && agentOf(facts).state !== 'deleted') {
      for (const item of rankingOf(facts).at(facts.last_at).unasked) {
        // One of an earlier program is asked by the first look at it.
        if (item.input_wanted !== null) yield `${item.id} needs input and nobody was asked`
      }
    }
    for (const wait of facts.rows('waits')) {
      if (wait.status !== 'active' || wait.question?.settles !== 'plan_status') continue
      const status = facts.row('work_items', wait.work_item_id ?? '')?.plan_status
      if (status !== 'needs_input') yield `${wait.id} asks for a plan that is ${status}`
    }
  },

  /** A task that ended says when, and one that did not, does not. */
  *30(facts) {
    for (const task of facts.rows('tasks')) {
      if (isTerminal(task) !== (task.ended_at !== null)) {
        yield `${task.id} is ${task.status}, ended ${task.ended_at ?? 'never'}`
      }
    }
  },
}

const checks: readonly (readonly [string, Check])[] = [
  byRows,
  outsideRows,
  familyRows,
  checkRows,
].flatMap((one) => Object.entries(one))

/**
 * An idle agent says so, and nothing lies where nobody will come by: when `next` sleeps nothing is
 * left to do, and when it waits, each message and trigger has a moment or a person to bring it up.
 */
function* carried(facts: Facts): Iterable<string> {
  if (openTurn(facts)) return
  const s = survey(facts, facts.last_at, false)
  const next = decideNext(s)
  if (next.do !== 'sleep' && !(next.do === 'wait' && next.for !== 'system')) return
  const { until } = next
  const parked = parkedItems(facts)
  for (const message of facts.rows('messages')) {
    if (!isLiveMessage(message) || isLate(facts, message)) continue
    if (isOverBudget(facts, message.work_item_id, s.now)) continue
    if (s.unpaid?.messages.includes(message)) continue
    // One that only an empty bucket holds back has a moment: that of the next turn in it.
    const { kind, work_item_id } = message
    const held = kind === 'task_result' && work_item_id !== null && parked.has(work_item_id)
    if (!held && until === null) yield `${message.id} is ${message.status} and next is ${next.do}`
  }
  for (const wait of facts.rows('waits')) {
    // Its budget is under attention, and raising it brings the trigger up.
    if (isOverBudget(facts, wait.work_item_id, s.now) || s.unpaid?.waits.includes(wait)) continue
    if (wait.status === 'active' && unreviewed(wait) && until === null) {
      yield `${wait.id} was triggered and next is ${next.do}`
    }
  }
  const runnable = s.candidates.current_runnable.length + s.candidates.queued_runnable.length
  const asked = [...facts.rows('waits')].some((w) => w.status === 'active' && w.by === 'runtime')
  if (runnable > 0 && until === null && !asked) {
    yield `${runnable} items can run and next is ${next.do}`
  }
}
