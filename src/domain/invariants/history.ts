/**
 * The invariants that need the past: one walk over the events of an agent, folding only what the
 * rules compare. Each finding opens with the number of its invariant (docs/spec/invariants.md).
 */
import type { Event, EventType, StoredEvent } from '../state/event.ts'
import type { Facts } from '../facts/facts.ts'
import type { WorkItemId } from '../ids.ts'
import { expecting, missedTriggers, type KnownMessage, type KnownWait } from './triggers.ts'
import { limits } from '../limits.ts'
import { between, type Timestamp } from '../time.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

type KnownTask = { started: Timestamp | null; item: WorkItemId | null; ended: boolean }

class Known {
  readonly found: string[] = []
  focus: WorkItemId | null = null
  /** The item that stopped being runnable while in focus, and the time of that commit. */
  owed: { item: WorkItemId; at: Timestamp } | null = null
  turn: Of<'turn_started'> | null = null
  /** The item the open turn is about now. */
  about: WorkItemId | null = null
  readonly messages = new Map<string, KnownMessage>()
  readonly items = new Map<string, { revision: number; completed: boolean; reports: number }>()
  readonly waits = new Map<string, KnownWait>()
  readonly tasks = new Map<string, KnownTask>()
  /** By meter: the request that is reserved on it. */
  readonly reserved = new Map<string, string>()
  /** By meter: what an answer took, whole or cut, and this very commit has to settle. */
  readonly unsettled = new Map<string, { round: string; tokens: number; at: Timestamp }>()
  /** Self-started turns without progress in a row, by item. */
  readonly stalled = new Map<string, number>()

  /** 11: the item was in focus, and this very commit has to release it. */
  stops(item: WorkItemId | null | undefined, at: Timestamp): void {
    if (item && this.focus === item) this.owed = { item, at }
  }

  /** 23: something from outside, or the runtime's own question, starts the count again. */
  reset(item: WorkItemId | null | undefined): void {
    if (item) this.stalled.delete(item)
  }
}

/** What one kind of event means for one invariant. */
type On = { readonly [T in EventType]?: (k: Known, event: Of<T>, meta: StoredEvent) => void }
type Handler = (k: Known, event: Event, meta: StoredEvent) => void

export function historyViolations(facts: Facts, events: readonly StoredEvent[]): string[] {
  const k = new Known()
  for (const stored of events) {
    if (k.owed !== null && stored.at !== k.owed.at) {
      k.found.push(`11: ${k.owed.item} kept focus after it could not run`)
      k.owed = null
    }
    tellUnsettled(k, stored.at)
    for (const on of walks) {
      const handle = on[stored.event.type] as Handler | undefined
      handle?.(k, stored.event, stored)
    }
  }
  if (k.owed !== null) k.found.push(`11: ${k.owed.item} keeps focus and cannot run`)
  tellUnsettled(k, null)
  k.found.push(...missedTriggers(k.messages.values(), k.waits))
  for (const [id, item] of k.items) {
    const row = facts.row('work_items', id)
    if (row && row.revision !== item.revision) {
      k.found.push(`13: ${id} has revision ${row.revision} after ${item.revision} changes`)
    }
  }
  return k.found
}

/** 9: focus moves by its own events only; 11: what stops an item releases it. */
const focus: On = {
  work_item_picked(k, event) {
    if (event.previous_work_item_id !== k.focus) {
      k.found.push(`9: ${event.current_work_item_id} was picked after ${k.focus} by surprise`)
    }
    if (event.switch_kind === 'wait_resolved' && k.focus !== null) {
      k.found.push(`9: focus returned to ${event.current_work_item_id} over ${k.focus}`)
    }
    k.focus = event.current_work_item_id
    k.owed = null
  },
  focus_released(k, event) {
    if (event.work_item_id !== k.focus) {
      k.found.push(`9: ${event.work_item_id} was released and ${k.focus} was in focus`)
    }
    k.focus = null
    k.owed = null
  },
  work_item_completed: (k, event, { at }) => k.stops(event.id, at),
  work_item_updated(k, { id, changed }, { at }) {
    if (changed.blocked_by || changed.plan_status === 'needs_input') k.stops(id, at)
  },
  wait_registered: (k, event, { at }) => k.stops(event.work_item_id, at),
  wait_rearmed: (k, event, { at }) => k.stops(k.waits.get(event.id)?.work_item_id, at),
  // Answered in the call: the item never stopped being runnable.
  wait_resolved(k, event) {
    if (k.owed && k.owed.item === k.waits.get(event.id)?.work_item_id) k.owed = null
  },
}

/** 7, 10, 13, 14: items. */
const items: On = {
  work_item_created: (k, event) =>
    void k.items.set(event.id, { revision: 1, completed: false, reports: 0 }),
  work_item_updated(k, event) {
    changeItem(k, event)
    if (Object.keys(event.changed).length === 0) k.found.push(`13: nothing changed in ${event.id}`)
    if (event.changed.blocked_by !== undefined && event.by === 'runtime') {
      k.found.push(`10: the runtime changed blocked_by of ${event.id}`)
    }
  },
  work_item_adopted: (k, event) => changeItem(k, event),
  plan_changed: (k, event) => changeItem(k, event),
  work_item_completed(k, event) {
    changeItem(k, event)
    const item = k.items.get(event.id)
    if (item) item.completed = true
  },
  work_item_reported: (k, event) => changeItem(k, event),
  check_owed: (k, event) => checkItem(k, event),
  check_started: (k, event) => checkItem(k, event),
  check_finished: (k, event) => checkItem(k, event),
  brief_delivered(k, event) {
    if (event.kind !== 'result' || event.work_item_id === null) return
    const item = k.items.get(event.work_item_id)
    if (!item) return
    if (!item.completed)
      k.found.push(`14: ${event.id} reports ${event.work_item_id}, not completed`)
    item.reports += 1
    if (item.reports > 1) k.found.push(`14: ${event.work_item_id} has two reports`)
  },
}

/** What a claim's checks show changes nothing of an open item. */
function checkItem(k: Known, event: Event): void {
  if (k.items.get(event.id)?.completed === true) changeItem(k, event)
}

/** What may be learnt of a completed item. */
const stays = new Set(['work_item_reported', 'check_owed', 'check_started', 'check_finished'])

function changeItem(k: Known, event: Event): void {
  const item = k.items.get(event.id)
  if (!item) return
  item.revision += 1
  if (item.completed && !stays.has(event.type)) {
    k.found.push(`7: ${event.type} after the completion of ${event.id}`)
  }
}

/** 5, 24: a message is admitted once, ends once, and is bound to the open turn only. */
const messages: On = {
  message_admitted(k, event, { seq }) {
    if (k.messages.has(event.id)) k.found.push(`24: ${event.id} was admitted twice`)
    const over = event.consumed_because === null ? null : 'consumed'
    const expected = expecting(k.waits, event)
    k.messages.set(event.id, { ...event, seq, over, isClaimed: false, expected })
  },
  message_claimed(k, event) {
    moveMessage(k, event)
    if (event.turn_id !== k.turn?.id) {
      k.found.push(`5: ${event.id} was claimed by ${event.turn_id}, which is not open`)
    }
    claimMessage(k, event.id, true)
  },
  message_bound: (k, event) => moveMessage(k, event),
  message_shown: (k, event) => moveMessage(k, event),
  message_requeued(k, event) {
    moveMessage(k, event)
    claimMessage(k, event.id, false)
  },
  message_interjected: (k, event) => endMessage(k, event),
  message_coalesced: (k, event) => endMessage(k, event),
  message_consumed: (k, event) => endMessage(k, event),
  message_aborted: (k, event) => endMessage(k, event),
  message_failed: (k, event) => endMessage(k, event),
  message_dropped: (k, event) => endMessage(k, event),
  message_dead: (k, event) => endMessage(k, event),
  message_taken_back(k, event) {
    if (k.messages.get(event.id)?.isClaimed === true) {
      k.found.push(`5: ${event.id} was taken back from the turn that had claimed it`)
    }
    endMessage(k, event)
  },
  request_sent(k, event) {
    for (const id of event.message_ids) {
      if (k.messages.get(id)?.over !== 'message_taken_back') continue
      k.found.push(`5: ${event.id} shows ${id}, which was taken back`)
    }
  },
}

/** 44: what an answer took is told to each meter that had reserved for it, in the same commit. */
const meters: On = {
  meter_reserved: (k, { id, round_id }) => void k.reserved.set(id, round_id),
  meter_released: (k, { id }) => void k.reserved.delete(id),
  answer_cut: (k, { id, usage }, { at }) => owe(k, id, usage, at),
  round_recorded: (k, { id, usage }, { at }) => owe(k, id, usage, at),
  meter_settled(k, { id, round_id, use }) {
    if (k.reserved.get(id) === round_id) k.reserved.delete(id)
    const owed = k.unsettled.get(id)
    if (owed?.round !== round_id) return
    k.unsettled.delete(id)
    if (use.tokens >= owed.tokens) return
    k.found.push(`44: ${round_id} took ${owed.tokens} tokens and ${id} was told ${use.tokens}`)
  },
}

/** Of commits before `at`; null: of all. */
function tellUnsettled(k: Known, at: Timestamp | null): void {
  for (const [meter, owed] of k.unsettled) {
    if (owed.at === at) continue
    k.found.push(`44: ${owed.round} took ${owed.tokens} tokens and ${meter} was not told`)
    k.unsettled.delete(meter)
  }
}

function owe(k: Known, round: string, usage: Of<'answer_cut'>['usage'], at: Timestamp): void {
  for (const [meter, reserved] of k.reserved) {
    if (reserved !== round) continue
    const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0)
    k.unsettled.set(meter, { round, tokens, at })
  }
}

function moveMessage(k: Known, event: Event): void {
  const over = k.messages.get(event.id)?.over ?? null
  if (over !== null) k.found.push(`5: ${event.type} after ${event.id} was ${over}`)
}

function claimMessage(k: Known, id: string, isClaimed: boolean): void {
  const message = k.messages.get(id)
  if (message) message.isClaimed = isClaimed
}

function endMessage(k: Known, event: Event): void {
  moveMessage(k, event)
  const message = k.messages.get(event.id)
  if (message) message.over = event.type
}

/** 16, 23: turns. */
const turns: On = {
  turn_started(k, event) {
    if (k.turn) k.found.push(`16: ${event.id} started while ${k.turn.id} was open`)
    k.turn = event
    k.about = event.work_item_id
  },
  turn_bound(k, event) {
    k.about = event.work_item_id
  },
  turn_ended(k, event) {
    const { turn } = k
    k.turn = null
    if (turn?.id !== event.id) k.found.push(`16: ${event.id} ended and was not open`)
    else if (event.reason !== 'no_request') countStalled(k, turn, event)
  },
}

/**
 * The queue's count is 23 of the rows: what such a turn must do is written beside its rule. A look
 * at a wait that changed nothing counts against nobody.
 */
function countStalled(k: Known, turn: Of<'turn_started'>, end: Of<'turn_ended'>): void {
  const { about } = k
  if (turn.cause.kind === 'queued_available' || about === null) return
  if (end.progress) k.stalled.delete(about)
  const isCounted = turn.started_by === 'itself' && turn.cause.kind !== 'review_triggered'
  if (end.progress || !isCounted) return
  const count = (k.stalled.get(about) ?? 0) + 1
  k.stalled.set(about, count)
  if (count > limits.no_progress_turns.value) {
    k.found.push(`23: ${about} had ${count} self-started turns in a row without progress`)
  }
}

const lasted = (since: Timestamp | null | undefined, at: Timestamp): boolean =>
  since !== null && since !== undefined && between(since, at) >= limits.outside_input.value

/** 23: what starts the count of an item again. */
const outside: On = {
  message_admitted(k, event) {
    const { origin } = event.provenance
    if (origin !== 'task' && origin !== 'system') k.reset(event.work_item_id)
  },
  work_item_updated(k, event) {
    if (event.by !== 'agent') k.reset(event.id)
  },
  wait_cancelled(k, event) {
    if (event.by !== 'agent') k.reset(k.waits.get(event.id)?.work_item_id)
  },
  work_item_picked(k, event) {
    if (event.switch_kind === 'operator_pick') k.reset(event.current_work_item_id)
  },
  wait_registered(k, event) {
    if (event.by === 'runtime') k.reset(event.work_item_id)
  },
  // An operator's act may leave no other trace; a counted turn never leaves both at zero.
  item_paced(k, { id, pacing }) {
    if (pacing.no_progress === 0 && pacing.self_started === 0) k.reset(id)
  },
  wait_triggered: (k, event) => k.reset(k.waits.get(event.id)?.work_item_id),
  wait_resolved(k, { id, by }, { at }) {
    const wait = k.waits.get(id)
    const task = by.kind === 'task' ? k.tasks.get(by.task_id) : undefined
    const isExact = by.kind === 'task' || by.kind === 'timer'
    if (!isExact || lasted(wait?.created, at) || lasted(task?.started, at)) {
      k.reset(wait?.work_item_id)
    }
  },
  task_ended(k, event, { at }) {
    const task = k.tasks.get(event.id)
    if (lasted(task?.started, at)) k.reset(task?.item)
  },
}

/** 24, 28: a wait ends once, and each event triggers it once, if it came after the wait looked. */
const waits: On = {
  wait_registered: (k, event, { at, seq }) =>
    void k.waits.set(event.id, { ...event, created: at, seq, ended: false, triggers: new Set() }),
  wait_triggered(k, event) {
    const wait = k.waits.get(event.id)
    const message = k.messages.get(event.message_id)
    if (!wait || !message) return
    if (wait.ended) k.found.push(`24: ${event.id} was triggered after its end`)
    if (wait.triggers.has(event.message_id)) {
      k.found.push(`24: ${event.message_id} triggered ${event.id} twice`)
    }
    if (message.seq <= wait.since_seq) {
      k.found.push(`28: ${event.message_id} is older than ${event.id} and triggered it`)
    }
    wait.triggers.add(event.message_id)
    if (event.count !== wait.triggers.size) {
      k.found.push(`24: ${event.id} counts ${event.count} of ${wait.triggers.size} triggers`)
    }
  },
  wait_resolved: (k, event) => endWait(k, event),
  wait_cancelled: (k, event) => endWait(k, event),
}

function endWait(k: Known, event: Of<'wait_resolved' | 'wait_cancelled'>): void {
  const wait = k.waits.get(event.id)
  if (wait?.ended) k.found.push(`24: ${event.type} after the end of ${event.id}`)
  if (wait) wait.ended = true
}

/** 30: nothing happens to a task after its one end. */
const tasks: On = {
  task_queued: (k, event) =>
    void k.tasks.set(event.id, { started: null, item: event.work_item_id, ended: false }),
  task_started(k, event) {
    moveTask(k, event)
    const task = k.tasks.get(event.id)
    if (task) task.started = event.started_at
  },
  task_decided: (k, event) => moveTask(k, event),
  task_held_again: (k, event) => moveTask(k, event),
  task_promoted: (k, event) => moveTask(k, event),
  task_readopted: (k, event) => moveTask(k, event),
  task_cancelling: (k, event) => moveTask(k, event),
  task_ended(k, event) {
    moveTask(k, event)
    const task = k.tasks.get(event.id)
    if (task) task.ended = true
  },
}

function moveTask(k: Known, event: Event): void {
  if (k.tasks.get(event.id)?.ended) k.found.push(`30: ${event.type} after the end of ${event.id}`)
}

// `outside` reads waits and tasks as they were before the event, so it comes before they move.
const walks: readonly On[] = [focus, items, outside, messages, turns, waits, tasks, meters]
