/** The operator's acts on schedules and triggers, and what is said of them. */
import type { Draft } from '../facts/facts.ts'
import type { ScheduleId, TriggerId, WorkItemId } from '../ids.ts'
import type { Prepared } from './act-inputs.ts'
import type { DecidedAct } from './act.ts'
import { done, type Done } from '../state/reply.ts'
import {
  changeSchedule,
  createSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
  type Scheduled,
} from '../timers/schedules.ts'
import type { Schedule, ScheduleChanges } from '../state/schedule.ts'
import { createTrigger, resetTrigger, revokeTrigger, type Triggered } from '../inbox/triggers.ts'
import { isRejection, type Rejection } from '../rejection.ts'

type Act<K extends DecidedAct['do']> = Extract<DecidedAct, { do: K }>

export function schedule(d: Draft, act: Prepared<ScheduleVerb>): Done | Rejection {
  const settled = decided(d, act)
  if (isRejection(settled)) return settled
  const { schedule: row, changed } = settled
  const said = changed ? saidOf[act.do](row) : `${row.id} was so already.`
  return done(said, { id: row.id })
}

type ScheduleVerb =
  | 'create_schedule'
  | 'change_schedule'
  | 'pause_schedule'
  | 'resume_schedule'
  | 'remove_schedule'

const saidOf: { [V in ScheduleVerb]: (row: Schedule) => string } = {
  create_schedule: ({ id, next_at }) => `${id} is scheduled, first for ${next_at}.`,
  change_schedule: ({ id, next_at }) =>
    next_at === null ? `${id} is changed; it is paused.` : `${id} is changed, next ${next_at}.`,
  pause_schedule: ({ id }) => `${id} is paused; nothing is due until it is resumed.`,
  resume_schedule: ({ id, next_at }) => `${id} is resumed, next ${next_at}.`,
  remove_schedule: ({ id }) => `${id} is removed.`,
}

function decided(d: Draft, act: Prepared<ScheduleVerb>): Scheduled | Rejection {
  const { timetable } = act.inputs
  switch (act.do) {
    case 'create_schedule': {
      const { label, text, spec, missed = 'once', overlap = 'skip' } = act
      const work_item_id = (act.work_item_id ?? null) as WorkItemId | null
      return createSchedule(d, { label, text, work_item_id, spec, missed, overlap }, timetable)
    }
    case 'change_schedule':
      return changeSchedule(d, act.schedule_id as ScheduleId, changesOf(act), timetable)
    case 'pause_schedule':
      return pauseSchedule(d, act.schedule_id as ScheduleId)
    case 'resume_schedule':
      return resumeSchedule(d, act.schedule_id as ScheduleId, timetable)
    case 'remove_schedule':
      return removeSchedule(d, act.schedule_id as ScheduleId)
  }
}

function changesOf(act: Act<'change_schedule'>): ScheduleChanges {
  const { label, text, work_item_id, spec, missed, overlap } = act
  return {
    ...(label === undefined ? {} : { label }),
    ...(text === undefined ? {} : { text }),
    ...(work_item_id === undefined ? {} : { work_item_id: work_item_id as WorkItemId | null }),
    ...(spec === undefined ? {} : { spec }),
    ...(missed === undefined ? {} : { missed }),
    ...(overlap === undefined ? {} : { overlap }),
  }
}

export function trigger(
  d: Draft,
  act: Prepared<'create_trigger' | 'reset_trigger' | 'revoke_trigger'>,
): Done | Rejection {
  switch (act.do) {
    case 'create_trigger': {
      const { label, source = null, resource = null, delivery_mode = null } = act
      const given = { label, by: 'operator', source, resource, delivery_mode } as const
      return said(createTrigger(d, given, act.inputs.token_hash), 'is made')
    }
    case 'reset_trigger': {
      const reset = resetTrigger(d, act.trigger_id as TriggerId, act.inputs.token_hash)
      return said(reset, 'is reset; its old URL opens nothing any more')
    }
    case 'revoke_trigger':
      return said(revokeTrigger(d, act.trigger_id as TriggerId), 'is revoked, for good')
  }
}

const said = (result: Triggered | Rejection, what: string): Done | Rejection =>
  result.ok
    ? done(`${result.trigger.id} (${result.trigger.label}) ${what}.`, { id: result.trigger.id })
    : result
