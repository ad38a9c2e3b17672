/**
 * Slots that fell due: each is settled once, as a row, in the commit that admits its message and
 * moves its schedule on (docs/spec/recovery.md#timers: recurring ones once with `missed_count`).
 * The same after a second, a night of downtime or on a stopped agent, whose messages wait like all
 * others.
 */
import { openTurn, type Draft } from '../facts/facts.ts'
import { slotId, type MessageId, type SlotId } from '../ids.ts'
import { admit } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import type { Message } from '../state/message.ts'
import { outsideInput } from '../waits/pacing.ts'
import { timerTick } from '../state/provenance.ts'
import type { Timetable } from './schedules.ts'
import { between, second, type Timestamp } from '../time.ts'
import type { Schedule, SlotStatus } from '../state/schedule.ts'

/** Settles every due slot of the agent, earliest schedule first. Returns what was settled. */
export function fireSlots(d: Draft, timetable: Timetable): SlotId[] {
  const due = [...d.rows('schedules')]
    .filter((s) => s.status === 'active' && s.next_at !== null && s.next_at <= d.now)
    .sort((a, b) => order(a.next_at ?? '', b.next_at ?? '') || order(a.id, b.id))
  return due.flatMap((schedule) => settle(d, schedule, timetable))
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function settle(d: Draft, schedule: Schedule, timetable: Timetable): SlotId[] {
  const slots = dueSlots(d, schedule, timetable)
  const last = slots.at(-1)
  if (last === undefined) throw new Error(`${schedule.id} was not due`)
  // An open item is always among the facts: one that is not there is completed.
  const item = schedule.work_item_id
  const over = item !== null && d.row('work_items', item)?.state !== 'open'
  const before = ticks(d, schedule)
  const fires = over ? [] : toFire(d, schedule, slots)
  let missed_count = slots.length - fires.length
  for (const due_at of slots) {
    const fired = fires.includes(due_at)
    const fate = fired ? overlap(d, schedule, before) : { status: unfired(over), message_id: null }
    const stands_for = fired ? missed_count : 0
    if (fired) missed_count = 0
    const message_id =
      fate.status === 'fired' ? tick(d, schedule, due_at, stands_for) : fate.message_id
    d.emit({
      type: 'slot_settled',
      id: slotId(schedule.id, due_at),
      schedule_id: schedule.id,
      due_at,
      status: fate.status,
      message_id,
      late_by_ms: between(due_at, d.now),
      missed_count: stands_for,
    })
  }
  const next_at = over ? null : (timetable.occurrences(schedule.spec, d.now, 1)[0] ?? null)
  const ended = next_at === null
  d.emit({ type: 'schedule_advanced', id: schedule.id, next_at, last_slot_at: last, ended })
  return slots.map((due_at) => slotId(schedule.id, due_at))
}

const unfired = (over: boolean): SlotStatus => (over ? 'skipped' : 'missed')

/** The newest due moments, in order: more than `limits.missed_slots` of them are not counted. */
function dueSlots(d: Draft, schedule: Schedule, timetable: Timetable): Timestamp[] {
  const { spec, next_at } = schedule
  if (next_at === null) return []
  const following = timetable.occurrences(spec, next_at, 1)[0]
  if (following === undefined || following > d.now) return [next_at]
  const later = timetable
    .occurred(spec, d.now, limits.missed_slots.value)
    .filter((at) => at > next_at)
  const now = timetable.occurrences(spec, later.at(-1) ?? next_at, 1).filter((at) => at <= d.now)
  return [next_at, ...later, ...now].slice(-limits.missed_slots.value)
}

/** Which of the due slots become messages, by the policy for missed ones. */
function toFire(d: Draft, schedule: Schedule, slots: readonly Timestamp[]): Timestamp[] {
  switch (schedule.missed) {
    case 'once':
      return slots.slice(-1)
    case 'skip':
      return slots.filter((at) => between(at, d.now) <= limits.slot_grace.value)
    case 'all':
      return [...slots]
  }
}

/** Messages of the schedule's earlier slots that no turn is done with. */
function ticks(d: Draft, schedule: Schedule): Message[] {
  const found: Message[] = []
  const turn = openTurn(d)
  for (const message of d.rows('messages')) {
    if (message.kind !== 'timer_tick') continue
    if (message.status !== 'queued' && (turn === null || message.turn_id !== turn.id)) continue
    if (message.dedupe_key?.startsWith(`${schedule.id}@`) === true) found.push(message)
  }
  return found
}

type Fate = { status: SlotStatus; message_id: MessageId | null }

/**
 * By the policy for overlaps. Looked at is what waited before: slots that are made up for together
 * do not stand in each other's way.
 */
function overlap(d: Draft, schedule: Schedule, before: readonly Message[]): Fate {
  const fired = { status: 'fired', message_id: null } as const
  const skipped = { status: 'skipped', message_id: null } as const
  const queued = before.find((message) => message.status === 'queued')
  switch (schedule.overlap) {
    case 'skip':
      return before.length === 0 ? fired : skipped
    case 'coalesce':
      return queued === undefined ? fired : { status: 'skipped', message_id: queued.id }
    case 'queue':
      return ticks(d, schedule).length < limits.queued_ticks.value ? fired : skipped
  }
}

/** Admits the message of a slot. */
function tick(d: Draft, schedule: Schedule, due_at: Timestamp, missed: number): MessageId {
  const id = d.mint('msg')
  admit(d, {
    id,
    provenance: timerTick,
    priority: 'normal',
    body: words(d, schedule, due_at, missed),
    dedupe_key: slotId(schedule.id, due_at),
    source: 'schedule',
    resource: schedule.id,
    work_item_id: schedule.work_item_id,
  })
  outsideInput(d, schedule.work_item_id, 'lasting')
  return id
}

function words(d: Draft, schedule: Schedule, due_at: Timestamp, missed: number): string {
  const late = between(due_at, d.now)
  const facts = [
    `Schedule "${schedule.label}", ${schedule.id}, due ${due_at}`,
    ...(late > limits.slot_grace.value ? [`${Math.round(late / second)} s late`] : []),
    ...(missed > 0 ? [missedWords(missed)] : []),
  ]
  return `${schedule.text}\n\n(${facts.join('; ')}.)`
}

function missedWords(missed: number): string {
  if (missed === 1) return '1 earlier slot was missed'
  const least = missed >= limits.missed_slots.value - 1 ? 'at least ' : ''
  return `${least}${missed} earlier slots were missed`
}
