/**
 * The continuation anchor: why this turn runs, what was waited for and how that ended, in the
 * words of prompts/anchors.md. One text for each cause; a message's depends on who wrote it.
 */
import { heldAbout } from '../../domain/approvals/held-text.ts'
import type { Message } from '../../domain/state/message.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import { approval, type Wait } from '../../domain/state/wait.ts'
import { ago, clock, counted, quoted } from '../phrase.ts'
import { heldStillText } from './notes.ts'
import { callsDone } from './recap.ts'
import type { Situation } from './situation.ts'
import { template } from '../template.ts'
import { waitLine, wokenLine } from './wait-line.ts'

/** Items that wait for the operator, named beside a message that names none. */
const waitingShown = 3

/** `goes_on`: the turn is in its middle, and what it began with is no task to begin again. */
export function anchorSection(situation: Situation, goes_on: boolean): string {
  const { now, answered = [] } = situation
  // An answer stands below its question, in the input.
  const woken_by = situation.woken_by.filter((w) => !answered.some(({ id }) => id === w.id))
  const agentWaits = situation.agent_waits.filter((w) => !woken_by.some(({ id }) => id === w.id))
  const because = [...abortedText(situation), goes_on ? goesOn(situation) : causeText(situation)]
  return [
    '# Why this turn runs',
    `It is ${clock(now)}. ${because.join('\n\n')}`,
    ...(woken_by.length === 0
      ? []
      : [woken_by.map((wait) => `- ${wokenText(wait, situation)}`).join('\n')]),
    ...(agentWaits.length === 0
      ? []
      : [
          'Your waits that belong to no item:',
          agentWaits.map((w) => `- ${waitLine(w, now)}`).join('\n'),
        ]),
  ].join('\n\n')
}

function causeText(situation: Situation): string {
  const { cause } = situation.turn
  switch (cause.kind) {
    case 'continue_current':
      return template('anchors', 'continue')
    case 'review_triggered':
      return template('anchors', 'review')
    case 'queued_available':
      if (situation.offered !== null) return template('anchors', 'queue_one')
      return template('anchors', 'queue', { ready: counted(cause.work_item_ids.length, 'item') })
    case 'message': {
      const message = situation.messages.find(({ id }) => id === cause.message_id)
      if (message === undefined) throw new Error(`the cause ${cause.message_id} is not among them`)
      return messageCause(message, situation)
    }
  }
}

/** Calls of an aborted turn that are named, the newest. */
const abortedCalls = 8

function abortedText({ aborted, now, agent }: Situation): string[] {
  if (!aborted) return []
  const { turn, calls } = aborted
  const shown = callsDone(calls).slice(-abortedCalls)
  const values = {
    who: agent.supervisor_agent_id ?? 'The operator',
    turn: turn.id,
    ago: ago(turn.ended_at ?? now, now),
    item: turn.work_item_id === null ? '' : ` about ${turn.work_item_id}`,
  }
  if (shown.length === 0) return [template('anchors', 'aborted_quiet', values)]
  const more = calls.length - shown.length
  const older = more === 0 ? [] : [`- ${counted(more, 'call')} before those`]
  return [
    [template('anchors', 'aborted', values), ...older, ...shown.map((line) => `- ${line}`)].join(
      '\n',
    ),
  ]
}

const goesOn = (situation: Situation): string =>
  template('anchors', 'goes_on', { because: beganBecause(situation) })

function beganBecause({ turn: { cause }, messages }: Situation): string {
  switch (cause.kind) {
    case 'continue_current':
      return template('anchors', 'began_continue')
    case 'review_triggered':
      return template('anchors', 'began_review')
    case 'queued_available':
      return template('anchors', 'began_queue')
    case 'message': {
      const message = messages.find(({ id }) => id === cause.message_id)
      if (message === undefined) throw new Error(`the cause ${cause.message_id} is not among them`)
      return beganWith(message)
    }
  }
}

function beganWith({ kind, work_item_id: item, task_id }: Message): string {
  const task = task_id ?? '(unnamed)'
  switch (kind) {
    case 'operator_prompt':
      return item === null
        ? template('anchors', 'began_operator_unbound')
        : template('anchors', 'began_operator_bound', { item })
    case 'task_result':
      return template('anchors', 'began_task', { task })
    case 'task_status':
      return template('anchors', 'began_asks', { task })
    case 'callback_event':
    case 'webhook_event':
      return template('anchors', 'began_event')
    case 'delegation':
      return template('anchors', 'began_delegation')
    case 'timer_tick':
    case 'internal_followup':
      return template('anchors', 'began_runtime')
  }
}

function messageCause(message: Message, situation: Situation): string {
  switch (message.kind) {
    case 'operator_prompt':
      return [
        operatorCause(message, situation),
        ...laterText(situation),
        ...heldText(message, situation),
      ].join(' ')
    case 'task_result':
      return template('anchors', 'task', { task: message.task_id ?? '(unnamed)' })
    case 'task_status':
      return template('anchors', 'asks', { task: message.task_id ?? '(unnamed)' })
    case 'callback_event':
    case 'webhook_event':
      return template('anchors', 'event')
    case 'delegation':
      return [delegationCause(message, situation), ...laterText(situation)].join(' ')
    case 'timer_tick':
    case 'internal_followup':
      return template('anchors', 'runtime')
  }
}

/** A handoff and an answer are told apart from words that come by themselves. */
function delegationCause({ id }: Message, { handoff, agent }: Situation): string {
  const parent = agent.supervisor_agent_id
  if (handoff?.message.id === id) return template('anchors', 'handed', { parent: parent ?? '' })
  return parent === null
    ? template('anchors', 'delegation')
    : template('anchors', 'parent', { parent })
}

/** An unbound message never answers a wait by itself: the items it may be meant for are named. */
function operatorCause(message: Message, situation: Situation): string {
  const item = message.work_item_id
  if (item !== null) {
    const own = situation.item?.projection
    const done = own?.item.id === item && own.lifecycle === 'completed'
    return template('anchors', done ? 'operator_bound_completed' : 'operator_bound', { item })
  }
  const later = askedLater(situation)
  const waiting = waitingItems(situation).filter((one) => !later.includes(one))
  if (waiting.length === 0) return template('anchors', 'operator_unbound')
  const wait = `${namesOf(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'}`
  return template('anchors', 'operator_unbound_waiting', { wait })
}

/** What was held when the message was written, and may be what it is meant to answer. */
function heldText(message: Message, { running_tasks }: Situation): string[] {
  const about = heldAbout(running_tasks, message.work_item_id)
  const held = about.filter((task) => task.held.asked_at <= message.created_at)
  return held.length === 0 ? [] : [heldStillText(held)]
}

function namesOf(items: readonly Projection[]): string {
  const ids = items.slice(0, waitingShown).map(({ item: { id } }) => id)
  const more = items.length - ids.length
  return more > 0 ? `${ids.join(', ')} and ${more} more` : ids.join(', ')
}

function laterText(situation: Situation): string[] {
  const later = askedLater(situation)
  return later.length === 0 ? [] : [template('anchors', 'asked_later', { items: namesOf(later) })]
}

/** Items whose question is newer than all words of the turn: nobody had read it who wrote them. */
function askedLater(situation: Situation): Projection[] {
  const written = situation.messages
    .filter(({ kind }) => kind === 'operator_prompt' || kind === 'delegation')
    .map(({ created_at }) => created_at)
  return waitingItems(situation).filter(
    ({ wait }) => wait !== null && written.every((at) => at < wait.created_at),
  )
}

/** That a question holds: a yes to what is held is no message, and its item none to clear. */
function waitingItems({ item, candidates }: Situation): Projection[] {
  const own = item?.projection
  const waits = own?.readiness === 'waiting_for_operator' ? [own] : []
  const others = candidates.waiting_for_operator.filter((p) => p.item.id !== own?.item.id)
  return [...waits, ...others].filter(({ wait }) => wait?.source !== approval)
}

/** The wait's sentence, with the item it belongs to where that is not the turn's. */
function wokenText(wait: Wait, situation: Situation): string {
  const hints = (situation.hints ?? []).filter(({ wait_id }) => wait_id === wait.id)
  const says = wokenLine(wait, situation.turn.id, situation.now, hints)
  const id = wait.work_item_id
  if (id === null) return `${says} This wait belongs to no item.`
  if (id === situation.item?.projection.item.id) return says
  const other = Object.values(situation.candidates)
    .flat()
    .find((p) => p.item.id === id)
  return `${says} It is a wait of ${id}${other ? ` ${quoted(other.item.objective, 500)}` : ''}.`
}
