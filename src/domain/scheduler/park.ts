/**
 * Parking: the runtime stops going in circles and asks the operator, once, in words that name what
 * happened (docs/spec/scheduler.md#parking). Also holds: an agent the provider cannot serve now.
 */
import type { Brief } from '../state/brief.ts'
import { askOperator } from '../waits/must-wait.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { activeWaits, agentOf, agentPacing, itemPacing, type Draft } from '../facts/facts.ts'
import { measuredWords } from '../facts/budget.ts'
import { registerHold } from '../waits/hold.ts'
import type { WorkItemId } from '../ids.ts'
import { holdMs, limits } from '../limits.ts'
import { paceAgent } from '../waits/pacing.ts'
import { isOpenItem, overShared } from '../facts/payer.ts'
import { ownTriggerHeld, unpaid } from './survey.ts'
import { plus, type Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import type { RuntimeCause, Wait } from '../state/wait.ts'

/** Puts an item to the operator; focus returns when the question is answered. */
export function park(d: Draft, item: WorkItemId, why: 'no_progress' | 'self_started'): void {
  const { no_progress_turns } = itemPacing(d, item)
  const question =
    why === 'no_progress'
      ? `Three turns in a row made no progress on ${item}: ${no_progress_turns.join(', ')}. ` +
        'How shall it go on?'
      : `${limits.self_started_turns.value} turns went by on ${item} without anything from ` +
        'outside. Shall it go on, and how?'
  ask(d, item, why === 'no_progress' ? 'no_progress' : 'self_started_limit', question)
}

/** After the third turn that left the queue as it was. */
export function askAboutQueue(d: Draft, turn: Turn): void {
  if (agentPacing(d).queue_wait_id !== null) return
  const wait = ask(
    d,
    null,
    'queue_no_progress',
    `Three turns looked at the queue and took nothing up, the last was ${turn.id}. ` +
      'Which item shall be worked on?',
  )
  paceAgent(d, { queue_wait_id: wait.id })
}

/** The agent used up its self-started turns. Asks once; says whether it asked now. */
export function askAboutBucket(d: Draft): boolean {
  if (agentPacing(d).bucket_wait_id !== null) return false
  const wait = ask(
    d,
    null,
    'bucket_empty',
    `The agent used its ${limits.bucket.value} self-started turns; one comes back every ten ` +
      'minutes. Any word from you fills them up again. Shall it go on?',
  )
  paceAgent(d, { bucket_wait_id: wait.id })
  return true
}

/** Its own trigger used up what it may start by itself, and something waits: asks once. */
export function askAboutOwnTrigger(d: Draft): void {
  if (agentOf(d).state !== 'active' || agentPacing(d).trigger_wait_id !== null) return
  if (!ownTriggerHeld(d, d.now)) return
  const wait = ask(
    d,
    null,
    'trigger_turns_used',
    `The agent's own trigger started ${limits.trigger_turns.value} turns without a word from ` +
      'you, a signed webhook or a trigger that you made, and more deliveries wait. A command of ' +
      'the agent itself may send them: its tasks are in `holon tasks`. Any word from you lets ' +
      'them in; until then one turn starts every ten minutes. Shall it go on?',
  )
  paceAgent(d, { trigger_wait_id: wait.id })
}

/**
 * Level-triggered: what came of a completed item's work waits, since its budget is used up. That of
 * an open one asks itself.
 */
export function askAboutUnpaid(d: Draft): void {
  const held = agentOf(d).state === 'active' ? unpaid(d, d.now) : null
  const asks = held !== null && !isOpenItem(d, held.payer)
  for (const wait of [...activeWaits(d)]) {
    if (wait.runtime_cause !== 'budget_left') continue
    if (asks) return
    d.emit({ type: 'wait_resolved', id: wait.id, by: { kind: 'runtime' } })
  }
  if (!asks) return
  const { payer, messages, waits } = held
  const over = overShared(d, payer, d.now).map(measuredWords).join(', ')
  const count = messages.length + waits.length
  const what = count === 1 ? 'One thing that came' : `${count} things that came`
  ask(
    d,
    null,
    'budget_left',
    `${what} of the work on ${payer}, which is completed, ${count === 1 ? 'waits' : 'wait'}: ` +
      `its budget is used up, ${over}. ` +
      'Any word from you lets the agent go on with it. Shall it?',
  )
}

/** With no budget to hold them, it and those it made sent so many requests: asks once. */
export function askAboutRequests(d: Draft, requests: number): void {
  if (agentOf(d).state !== 'active') return
  for (const wait of activeWaits(d)) if (wait.runtime_cause === 'requests_unasked') return
  ask(
    d,
    null,
    'requests_unasked',
    `${d.agent_id} and the agents made under it sent ${requests} requests since your last word ` +
      'to them, and no budget holds them. They stand still. Any word from you lets them send ' +
      `${limits.requests_unasked.value} more; with a budget you are asked when that is used up: ` +
      `holon agents configure ${d.agent_id} --max-usd <n> --per day. Shall they go on?`,
  )
}

function ask(d: Draft, work_item_id: WorkItemId | null, cause: RuntimeCause, words: string): Wait {
  const asked = { work_item_id, runtime_cause: cause, reason: words, question: null }
  return askOperator(d, { by: 'runtime', ...asked })
}

export type AgentHold = {
  cause: 'provider_world' | 'provider_setup' | 'disk_full'
  message: string
  /** When the provider said it would serve again; null: by the steps of the back-off. */
  until: Timestamp | null
}

/** Holds the agent: one agent-level system wait and one failure brief; no item is touched. */
export function holdAgent(d: Draft, hold: AgentHold): void {
  const { holds } = agentPacing(d)
  const step = holdMs[Math.min(holds, holdMs.length - 1)] ?? 0
  const wake_at = hold.cause === 'provider_setup' ? null : (hold.until ?? plus(d.now, step))
  const [runtime_cause, reason] = [hold.cause, hold.message]
  const id = registerHold(d, { runtime_cause, reason, resource: null, source: null, wake_at })
  if (id === null) return
  const until =
    wake_at === null
      ? 'until you start it again or change the setting'
      : `until ${wake_at}, then it goes on by itself`
  deliverBrief(d, {
    kind: 'failure',
    text: `${hold.message} The agent is held ${until}. Nothing is lost.`,
    wait_id: id,
  })
  paceAgent(d, { holds: holds + 1 })
}

/** Whether it is the notice of a hold, which says what is so while that lasts and no longer. */
export const tellsHold = ({ kind, wait_id }: Pick<Brief, 'kind' | 'wait_id'>): boolean =>
  kind === 'failure' && wait_id !== null

/** Tells the operator that a turn failed, and why. */
export function deliverFailure(d: Draft, turn: Turn, text: string): void {
  deliverBrief(d, {
    kind: 'failure',
    text,
    turn_id: turn.id,
    work_item_id: turn.work_item_id,
  })
}

/** The provider served again: the next failure starts with the shortest hold. */
export const providerServed = (d: Draft): void => paceAgent(d, { holds: 0 })

/** Ends every hold, because the operator says so or the setting behind it changed. */
export function releaseHolds(d: Draft): void {
  for (const wait of [...activeWaits(d)]) {
    if (wait.wake !== 'system') continue
    d.emit({ type: 'wait_resolved', id: wait.id, by: { kind: 'runtime' } })
  }
}
