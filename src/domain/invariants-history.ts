/**
 * The invariants that need the past: one walk over the events of an agent, folding only what the
 * rules compare. Each finding opens with the number of its invariant (reliability 6).
 */
import type { Event, StoredEvent } from './event.ts'
import type { Facts } from './facts.ts'
import type { TaskId, WaitId, WorkItemId } from './ids.ts'
import { limits } from './limits.ts'
import { between, type Timestamp } from './time.ts'
import { matches } from './waiting.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

type Known = {
  focus: WorkItemId | null
  /** Why focus may move away without a pick: the item that stopped being runnable, and when. */
  owed: { item: WorkItemId; at: Timestamp } | null
  openTurn: Of<'turn_started'> | null
  /** The item the open turn is about now. */
  about: WorkItemId | null
  messages: Map<string, KnownMessage>
  items: Map<string, { revision: number; completed: boolean; reports: number }>
  waits: Map<string, KnownWait>
  tasks: Map<string, { started: Timestamp | null; item: WorkItemId | null; ended: boolean }>
  /** Self-started turns without progress in a row, by item; the queue under its own name. */
  stalled: Map<string, number>
}

type KnownMessage = Of<'message_admitted'> & {
  seq: number
  over: string | null
  /** The external waits it should trigger. */
  expected: string[]
}

type KnownWait = Pick<
  Of<'wait_registered'>,
  'work_item_id' | 'wake' | 'source' | 'resource' | 'since_seq' | 'by'
> & { created: Timestamp; seq: number; ended: boolean; triggers: Set<string> }

export function historyViolations(facts: Facts, events: readonly StoredEvent[]): string[] {
  const found: string[] = []
  const known: Known = {
    focus: null,
    owed: null,
    openTurn: null,
    about: null,
    messages: new Map(),
    items: new Map(),
    waits: new Map(),
    tasks: new Map(),
    stalled: new Map(),
  }
  for (const stored of events) {
    owedFocus(known, stored, found)
    for (const walk of walks) walk(known, stored, found)
  }
  if (known.owed) found.push(`11: ${known.owed.item} keeps focus and cannot run`)
  missedTriggers(known, found)
  for (const [id, item] of known.items) {
    const row = facts.row('work_items', id)
    if (row && row.revision !== item.revision) {
      found.push(`13: ${id} has revision ${row.revision} after ${item.revision} changes`)
    }
  }
  return found
}

type Walk = (known: Known, stored: StoredEvent, found: string[]) => void

/** A release that is still owed when a later commit begins. */
function owedFocus(known: Known, { at }: StoredEvent, found: string[]): void {
  if (known.owed === null || at === known.owed.at) return
  found.push(`11: ${known.owed.item} kept focus after it could not run`)
  known.owed = null
}

/** 9: focus moves by its own events only; 11: what stops an item releases it. */
const focus: Walk = (known, { event, at }, found) => {
  const stops = (item: WorkItemId) => {
    if (known.focus === item) known.owed = { item, at }
  }
  switch (event.type) {
    case 'work_item_picked':
      if (event.previous_work_item_id !== known.focus) {
        found.push(`9: ${event.current_work_item_id} was picked after ${known.focus} by surprise`)
      }
      if (event.switch_kind === 'wait_resolved' && known.focus !== null) {
        found.push(`9: focus returned to ${event.current_work_item_id} over ${known.focus}`)
      }
      known.focus = event.current_work_item_id
      known.owed = null
      break
    case 'focus_released':
      if (event.work_item_id !== known.focus) {
        found.push(`9: ${event.work_item_id} was released and ${known.focus} was in focus`)
      }
      known.focus = null
      known.owed = null
      break
    case 'work_item_completed':
      stops(event.id)
      break
    case 'work_item_updated':
      if (event.changed.blocked_by || event.changed.plan_status === 'needs_input') stops(event.id)
      break
    case 'wait_registered':
      if (event.work_item_id !== null) stops(event.work_item_id)
      break
    case 'wait_rearmed': {
      const item = known.waits.get(event.id)?.work_item_id
      if (item) stops(item)
      break
    }
    case 'wait_resolved': {
      // Answered in the call: the item never stopped being runnable.
      const item = known.waits.get(event.id)?.work_item_id
      if (known.owed && known.owed.item === item) known.owed = null
      break
    }
    default:
  }
}

/** 7, 10, 13, 14: items. */
const items: Walk = (known, { event }, found) => {
  switch (event.type) {
    case 'work_item_created':
      known.items.set(event.id, { revision: 1, completed: false, reports: 0 })
      break
    case 'work_item_updated':
    case 'plan_changed':
    case 'work_item_completed':
    case 'work_item_reported': {
      const item = known.items.get(event.id)
      if (!item) return
      item.revision += 1
      if (item.completed && event.type !== 'work_item_reported') {
        found.push(`7: ${event.type} after the completion of ${event.id}`)
      }
      if (event.type === 'work_item_updated') {
        if (Object.keys(event.changed).length === 0)
          found.push(`13: nothing changed in ${event.id}`)
        if (event.changed.blocked_by !== undefined && event.by === 'runtime') {
          found.push(`10: the runtime changed blocked_by of ${event.id}`)
        }
      }
      if (event.type === 'work_item_completed') item.completed = true
      break
    }
    case 'brief_delivered': {
      if (event.kind !== 'result') return
      const item = known.items.get(event.work_item_id ?? '')
      if (!item?.completed)
        found.push(`14: ${event.id} reports ${event.work_item_id}, not completed`)
      if (item && ++item.reports > 1) found.push(`14: ${event.work_item_id} has two reports`)
      break
    }
    default:
  }
}

const live = new Set<Event['type']>(['message_claimed', 'message_shown', 'message_requeued'])

/** 5, 24: a message ends once, and is bound to the open turn only. */
const messages: Walk = (known, { event, seq }, found) => {
  if (event.type === 'message_admitted') {
    if (known.messages.has(event.id)) found.push(`24: ${event.id} was admitted twice`)
    const over = event.consumed_because === null ? null : 'consumed'
    const expected = expecting(known, event)
    known.messages.set(event.id, { ...event, seq, over, expected })
    return
  }
  if (!event.type.startsWith('message_')) return
  const message = known.messages.get(event.id)
  if (!message) return
  if (message.over !== null) found.push(`5: ${event.type} after ${event.id} was ${message.over}`)
  if (event.type === 'message_claimed' && event.turn_id !== known.openTurn?.id) {
    found.push(`5: ${event.id} was claimed by ${event.turn_id}, which is not open`)
  }
  if (!live.has(event.type)) message.over = event.type
}

/** 16, 23: turns. */
const turns: Walk = (known, { event }, found) => {
  switch (event.type) {
    case 'turn_started':
      if (known.openTurn) found.push(`16: ${event.id} started while ${known.openTurn.id} was open`)
      known.openTurn = event
      known.about = event.work_item_id
      break
    case 'turn_bound':
      known.about = event.work_item_id
      break
    case 'turn_ended': {
      const turn = known.openTurn
      if (turn?.id !== event.id) found.push(`16: ${event.id} ended and was not open`)
      else if (event.reason !== 'no_request') countStalled(known, turn, event, found)
      known.openTurn = null
      break
    }
    default:
  }
}

function countStalled(
  known: Known,
  turn: Of<'turn_started'>,
  end: Of<'turn_ended'>,
  found: string[],
): void {
  // What a queue turn has to do in order not to count is written beside the rule; its count is 23
  // of the rows.
  const about = known.about
  if (turn.cause.kind === 'queued_available' || about === null) return
  if (end.progress) known.stalled.delete(about)
  if (end.progress || !turn.self_started) return
  const count = (known.stalled.get(about) ?? 0) + 1
  known.stalled.set(about, count)
  if (count > limits.no_progress_turns.value) {
    found.push(`23: ${about} had ${count} self-started turns in a row without progress`)
  }
}

/** What starts the count of an item again: anything from outside, and the runtime's own question. */
const outside: Walk = (known, { event, at }) => {
  const reset = (item: WorkItemId | null | undefined) => item && known.stalled.delete(item)
  const lasted = (since: Timestamp | null) =>
    since !== null && between(since, at) >= limits.outside_input.value
  switch (event.type) {
    case 'message_admitted':
      if (event.provenance.origin !== 'task' && event.provenance.origin !== 'system') {
        reset(event.work_item_id)
      }
      break
    case 'work_item_updated':
    case 'wait_cancelled':
      if (event.by === 'agent') return
      reset(event.type === 'work_item_updated' ? event.id : known.waits.get(event.id)?.work_item_id)
      break
    case 'work_item_picked':
      if (event.switch_kind === 'operator_pick') reset(event.current_work_item_id)
      break
    case 'wait_registered':
      if (event.by === 'runtime') reset(event.work_item_id)
      break
    case 'item_paced':
      // An operator's act may leave no other trace; a counted turn never leaves both at zero.
      if (event.pacing.no_progress === 0 && event.pacing.self_started === 0) reset(event.id)
      break
    case 'wait_triggered':
      reset(known.waits.get(event.id)?.work_item_id)
      break
    case 'wait_resolved': {
      const wait = known.waits.get(event.id)
      const task = event.by.kind === 'task' ? known.tasks.get(event.by.task_id) : undefined
      const exact = event.by.kind === 'task' || event.by.kind === 'timer'
      if (!exact || lasted(wait?.created ?? null) || lasted(task?.started ?? null)) {
        reset(wait?.work_item_id)
      }
      break
    }
    case 'task_ended': {
      const task = known.tasks.get(event.id)
      if (lasted(task?.started ?? null)) reset(task?.item)
      break
    }
    default:
  }
}

/** 24, 28, 30: waits end once and are triggered by what came after they looked; tasks end once. */
const waits: Walk = (known, { event, at, seq }, found) => {
  switch (event.type) {
    case 'wait_registered':
      known.waits.set(event.id, {
        ...event,
        created: at,
        seq,
        ended: false,
        triggers: new Set(),
      })
      break
    case 'wait_triggered':
      triggered(known, event, found)
      break
    case 'wait_resolved':
    case 'wait_cancelled':
      endWait(known, event.id, event.type, found)
      break
    case 'task_queued':
      known.tasks.set(event.id, { started: null, item: event.work_item_id, ended: false })
      break
    case 'task_started':
    case 'task_promoted':
    case 'task_readopted':
    case 'task_cancelling':
    case 'task_ended':
      moveTask(known, event, found)
      break
    default:
  }
}

function triggered(known: Known, event: Of<'wait_triggered'>, found: string[]): void {
  const wait = known.waits.get(event.id)
  const message = known.messages.get(event.message_id)
  if (!wait || !message) return
  if (wait.ended) found.push(`24: ${event.id} was triggered after its end`)
  if (wait.triggers.has(event.message_id)) {
    found.push(`24: ${event.message_id} triggered ${event.id} twice`)
  }
  if (message.seq <= wait.since_seq) {
    found.push(`28: ${event.message_id} is older than ${event.id} and triggered it`)
  }
  wait.triggers.add(event.message_id)
  if (event.count !== wait.triggers.size) {
    found.push(`24: ${event.id} counts ${event.count} of ${wait.triggers.size} triggers`)
  }
}

function endWait(known: Known, id: WaitId, type: string, found: string[]): void {
  const wait = known.waits.get(id)
  if (wait?.ended) found.push(`24: ${type} after the end of ${id}`)
  if (wait) wait.ended = true
}

type TaskMove = Event & { type: `task_${string}`; id: TaskId }

function moveTask(known: Known, event: TaskMove, found: string[]): void {
  const task = known.tasks.get(event.id)
  if (!task) return
  if (task.ended) found.push(`30: ${event.type} after the end of ${event.id}`)
  if (event.type === 'task_started') task.started = event.started_at
  if (event.type === 'task_ended') task.ended = true
}

const walks: readonly Walk[] = [focus, items, outside, messages, turns, waits]

/** The active external waits that an event of this commit is about. */
const expecting = (known: Known, event: Of<'message_admitted'>): string[] =>
  [...known.waits].flatMap(([id, wait]) =>
    !wait.ended && wait.wake === 'external' && matches(wait, event) ? [id] : [],
  )

/**
 * 28, the other half: an event that came while a matching wait was active, or between its look and
 * its registration, is among its triggers. One fired by hand at a wait reaches that wait alone.
 */
function missedTriggers(known: Known, found: string[]): void {
  for (const message of known.messages.values()) {
    if (!isOutside(message)) continue
    const [only] = message.expected
    const alone = message.expected.length === 1 ? only : null
    const byHand = message.wait_id !== null && message.wait_id !== alone
    for (const id of byHand ? [message.wait_id ?? ''] : message.expected) {
      if (known.waits.get(id)?.triggers.has(message.id)) continue
      found.push(`28: ${message.id} is about ${id} and did not trigger it`)
    }
    for (const [id, wait] of known.waits) {
      const between = message.seq > wait.since_seq && message.seq < wait.seq
      const missed = between && wait.wake === 'external' && matches(wait, message)
      if (missed && !wait.triggers.has(message.id)) {
        found.push(`28: ${message.id} came before ${id} was registered and was missed`)
      }
    }
  }
}

const isOutside = ({ provenance }: Of<'message_admitted'>): boolean =>
  provenance.kind === 'callback_event' || provenance.kind === 'webhook_event'
