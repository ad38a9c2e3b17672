/**
 * Rules of schedules: made, changed, paused, resumed and removed. When a cron expression is due is
 * not known here: the timetable that is handed in says so.
 */
import type { Draft } from '../facts/facts.ts'
import type { ScheduleId, WorkItemId } from '../ids.ts'
import { utf8Length } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { between, earliest, fromMs, isTimestamp, toMs, type Timestamp } from '../time.ts'
import {
  isLiveSchedule,
  type MissedPolicy,
  type OverlapPolicy,
  type Schedule,
  type ScheduleChanges,
  type ScheduleSpec,
} from '../state/schedule.ts'
import { checkLabel } from '../inbox/triggers.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'

/** The first `limit` moments strictly after `after`, in order; fewer when there are no more. */
export type Occurrences = (
  spec: ScheduleSpec,
  after: Timestamp,
  limit: number,
) => readonly Timestamp[]

/** Contract: pure functions of their arguments; the first two are asked about valid specs only. */
export type Timetable = {
  occurrences: Occurrences
  /** The last `limit` moments strictly before `before`, in order. */
  occurred: (spec: ScheduleSpec, before: Timestamp, limit: number) => readonly Timestamp[]
  /** What is wrong with an expression or a zone, in a sentence; null when both can be read. */
  problem: (spec: ScheduleSpec & { kind: 'cron' }) => string | null
}

export type NewSchedule = {
  label: string
  text: string
  work_item_id: WorkItemId | null
  spec: ScheduleSpec
  missed: MissedPolicy
  overlap: OverlapPolicy
}

export type Scheduled = { ok: true; schedule: Schedule; changed: boolean }

export function createSchedule(
  d: Draft,
  given: NewSchedule,
  timetable: Timetable,
): Scheduled | Rejection {
  const wrong = checkWords(given) ?? checkItem(d, given.work_item_id)
  if (wrong) return wrong
  let live = 0
  for (const schedule of d.rows('schedules')) if (isLiveSchedule(schedule)) live += 1
  if (live >= limits.agent_schedules.value) return overLimit(limits.agent_schedules, live + 1)
  const first = firstSlot(d, given.spec, timetable)
  if (!first.ok) return first
  const id = d.mint('sched')
  const { spec, next_at } = first
  const label = given.label.trim()
  d.emit({ type: 'schedule_created', id, ...given, label, spec, next_at, by: 'operator' })
  return { ok: true, schedule: mustSchedule(d, id), changed: true }
}

/** Changes the fields given. Another time counts from now on; equal values write nothing. */
export function changeSchedule(
  d: Draft,
  id: ScheduleId,
  given: ScheduleChanges,
  timetable: Timetable,
): Scheduled | Rejection {
  const schedule = liveSchedule(d, id)
  if ('ok' in schedule) return schedule
  if (Object.values(given).every((value) => value === undefined)) {
    return no('nothing_to_update', `No field of ${id} is given.`)
  }
  const wrong = checkWords(given) ?? checkItem(d, given.work_item_id ?? null)
  if (wrong) return wrong
  const first = given.spec === undefined ? null : firstSlot(d, given.spec, timetable)
  if (first !== null && !first.ok) return first
  const label = given.label?.trim()
  const changed = differing(schedule, {
    ...given,
    ...(label === undefined ? {} : { label }),
    ...(first === null ? {} : { spec: first.spec }),
  })
  if (Object.keys(changed).length === 0) return { ok: true, schedule, changed: false }
  const moved = first !== null && changed.spec !== undefined && schedule.status === 'active'
  const next_at = moved ? first.next_at : schedule.next_at
  d.emit({ type: 'schedule_changed', id, by: 'operator', changed, next_at })
  return { ok: true, schedule: mustSchedule(d, id), changed: true }
}

export function pauseSchedule(d: Draft, id: ScheduleId): Scheduled | Rejection {
  const schedule = liveSchedule(d, id)
  if ('ok' in schedule) return schedule
  if (schedule.status === 'paused') return { ok: true, schedule, changed: false }
  d.emit({ type: 'schedule_paused', id, by: 'operator' })
  return { ok: true, schedule: mustSchedule(d, id), changed: true }
}

/**
 * Goes on from now: what would have been due while it was paused was not missed. The one moment of
 * a one-shot is not lost by a pause: when it has passed it is due at once.
 */
export function resumeSchedule(
  d: Draft,
  id: ScheduleId,
  timetable: Timetable,
): Scheduled | Rejection {
  const schedule = liveSchedule(d, id)
  if ('ok' in schedule) return schedule
  if (schedule.status === 'active') return { ok: true, schedule, changed: false }
  const { spec } = schedule
  const next_at = spec.kind === 'once' ? spec.at : timetable.occurrences(spec, d.now, 1)[0]
  if (next_at === undefined) return no('schedule_never', `${id} is never due again.`)
  d.emit({ type: 'schedule_resumed', id, by: 'operator', next_at })
  return { ok: true, schedule: mustSchedule(d, id), changed: true }
}

/** Final. Its slots and messages stay. */
export function removeSchedule(d: Draft, id: ScheduleId): Scheduled | Rejection {
  const schedule = d.row('schedules', id)
  if (!schedule || schedule.agent_id !== d.agent_id || schedule.status === 'removed') {
    return no('schedule_not_found', `${id} is not a schedule of ${d.agent_id}.`)
  }
  d.emit({ type: 'schedule_removed', id, by: 'operator' })
  return { ok: true, schedule: mustSchedule(d, id), changed: true }
}

/** When the next slot of this agent is due; null: never. */
export const nextSlotAt = (d: Pick<Draft, 'rows'>): Timestamp | null =>
  earliest([...d.rows('schedules')].map(({ next_at }) => next_at))

/** A schedule that can still be due, or the refusal. */
function liveSchedule(d: Draft, id: ScheduleId): Schedule | Rejection {
  const schedule = d.row('schedules', id)
  if (!schedule || schedule.agent_id !== d.agent_id || schedule.status === 'removed') {
    return no('schedule_not_found', `${id} is not a schedule of ${d.agent_id}.`)
  }
  if (schedule.status === 'ended') {
    return no('schedule_over', `${id} ended: its last slot was ${schedule.last_slot_at}.`)
  }
  return schedule
}

function checkWords(given: Partial<Pick<NewSchedule, 'label' | 'text'>>): Rejection | null {
  const wrong = given.label === undefined ? null : checkLabel(given.label.trim())
  if (wrong || given.text === undefined) return wrong
  if (given.text.trim() === '') return no('message_empty', 'The text of the schedule is empty.')
  const bytes = utf8Length(given.text)
  return bytes > limits.operator_text.value ? overLimit(limits.operator_text, bytes) : null
}

function checkItem(d: Draft, id: WorkItemId | null): Rejection | null {
  if (id === null) return null
  const item = d.row('work_items', id)
  if (!item || item.agent_id !== d.agent_id) {
    return no('work_item_not_found', `${id} is not a work item of ${d.agent_id}.`)
  }
  return item.state === 'completed'
    ? no('work_item_completed', `${id} is completed; nothing is scheduled for it any more.`)
    : null
}

type First = { ok: true; spec: ScheduleSpec; next_at: Timestamp }

/** The spec as it is kept, and its first moment after now. */
function firstSlot(d: Draft, spec: ScheduleSpec, timetable: Timetable): First | Rejection {
  const next_at = spec.kind === 'once' ? onceAt(d, spec.at) : cronAt(d, spec, timetable)
  if (typeof next_at !== 'string') return next_at
  if (between(d.now, next_at) > limits.schedule_ahead.value) {
    return no('time_too_far', `${next_at} is more than ten years ahead.`, 'Name an earlier moment.')
  }
  return { ok: true, spec: spec.kind === 'once' ? { kind: 'once', at: next_at } : spec, next_at }
}

function onceAt(d: Draft, at: string): Timestamp | Rejection {
  if (!isTimestamp(at)) return no('time_invalid', `"${at}" is not a time.`)
  const moment = fromMs(toMs(at))
  return moment > d.now ? moment : no('schedule_never', `${moment} has passed already.`)
}

function cronAt(
  d: Draft,
  spec: ScheduleSpec & { kind: 'cron' },
  timetable: Timetable,
): Timestamp | Rejection {
  const problem = timetable.problem(spec)
  if (problem !== null) return no('schedule_invalid', problem)
  const next_at = timetable.occurrences(spec, d.now, 1)[0]
  return next_at ?? no('schedule_never', `"${spec.expression}" is never due.`)
}

function differing(schedule: Schedule, given: ScheduleChanges): ScheduleChanges {
  const changed: Record<string, unknown> = {}
  for (const key of ['label', 'text', 'work_item_id', 'spec', 'missed', 'overlap'] as const) {
    const value = given[key]
    if (value === undefined) continue
    if (JSON.stringify(schedule[key]) !== JSON.stringify(value)) changed[key] = value
  }
  return changed
}

function mustSchedule(d: Draft, id: ScheduleId): Schedule {
  const schedule = d.row('schedules', id)
  if (!schedule) throw new Error(`no row for ${id}`)
  return schedule
}
