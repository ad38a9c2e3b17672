/**
 * Schedules and their slots as readers get them: the rows, and what may be done to a schedule.
 */
import { z } from 'zod'
import { missedPolicies, overlapPolicies, type Schedule } from '../../domain/state/schedule.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, count, idOf, messageId, timestamp, workItemId } from '../scalar.ts'

export const scheduleId = idOf('sched')
export const scheduleStatuses = ['active', 'paused', 'ended', 'removed'] as const
export const slotStatuses = ['fired', 'missed', 'skipped'] as const

const spec = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('once'), at: timestamp }),
    z.strictObject({
      kind: z.literal('cron'),
      expression: z.string().min(1).max(200).describe('Five fields of cron.'),
      time_zone: z.string().min(1).max(100).describe('An IANA time zone.'),
    }),
  ])
  .meta({ id: 'ScheduleSpec' })

export const scheduleRecord = z
  .strictObject({
    id: scheduleId,
    agent_id: agentId,
    label: z.string(),
    text: z.string(),
    work_item_id: workItemId.nullable(),
    spec,
    missed: z.enum(missedPolicies),
    overlap: z.enum(overlapPolicies),
    status: z.enum(scheduleStatuses),
    next_at: timestamp.nullable(),
    last_slot_at: timestamp.nullable(),
    by: z.enum(['agent', 'operator', 'runtime']),
    created_at: timestamp,
    can: canList,
  })
  .meta({ id: 'Schedule' })
export type ScheduleRecord = z.infer<typeof scheduleRecord>

export const scheduleList = z
  .strictObject({ schedules: z.array(scheduleRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'ScheduleList' })

export const scheduleRecordOf = (schedule: Schedule, can: readonly Can[]): ScheduleRecord => ({
  ...schedule,
  can,
})

export const slotRecord = z
  .strictObject({
    id: z.string().describe('`<schedule>@<due at>`.'),
    agent_id: agentId,
    schedule_id: scheduleId,
    due_at: timestamp,
    status: z.enum(slotStatuses),
    message_id: messageId.nullable(),
    late_by_ms: count,
    missed_count: count,
    at: timestamp,
  })
  .meta({ id: 'Slot' })

export const slotList = z
  .strictObject({ slots: z.array(slotRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'SlotList' })

const settings = {
  label: z.string(),
  text: z.string().describe('What the agent reads when it is due.'),
  spec,
  missed: z.enum(missedPolicies),
  overlap: z.enum(overlapPolicies),
}

export const newSchedule = z
  .strictObject({ ...settings, work_item_id: z.string() })
  .partial({ work_item_id: true, missed: true, overlap: true })
  .meta({ id: 'NewSchedule' })

export const changeSchedule = z
  .strictObject({ ...settings, work_item_id: z.string().nullable() })
  .partial()
  .meta({ id: 'ChangeSchedule' })
