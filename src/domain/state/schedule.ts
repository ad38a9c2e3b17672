/**
 * Schedule: a future or recurring input to an agent; Slot: one moment it was due, and what became
 * of it. Each slot that falls due is a row before anything is done about it. The rules are in
 * timers/schedules.ts and timers/slots.ts; the agent's own scheduler is another thing, in
 * scheduler/next.ts.
 */
import type { AgentId, MessageId, ScheduleId, SlotId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import type { By } from './work-item.ts'

export type ScheduleSpec =
  | { kind: 'once'; at: Timestamp }
  /** Five fields of cron, read in an IANA time zone. */
  | { kind: 'cron'; expression: string; time_zone: string }

export const missedPolicies = ['once', 'skip', 'all'] as const
/** What to do about slots that fell due while nobody looked. */
export type MissedPolicy = (typeof missedPolicies)[number]

export const overlapPolicies = ['skip', 'queue', 'coalesce'] as const
/** What to do about a slot while an earlier one's message is queued or claimed. */
export type OverlapPolicy = (typeof overlapPolicies)[number]

export type Schedule = {
  id: ScheduleId
  agent_id: AgentId
  label: string
  /** What the agent reads when it is due. */
  text: string
  work_item_id: WorkItemId | null
  spec: ScheduleSpec
  missed: MissedPolicy
  overlap: OverlapPolicy
  status: 'active' | 'paused' | 'ended' | 'removed'
  /** The next slot; null unless active. */
  next_at: Timestamp | null
  /** When the newest settled slot was due. */
  last_slot_at: Timestamp | null
  by: By
  created_at: Timestamp
}

export type ScheduleChanges = Partial<
  Pick<Schedule, 'label' | 'text' | 'work_item_id' | 'spec' | 'missed' | 'overlap'>
>

export type ScheduleEvent =
  | {
      type: 'schedule_created'
      id: ScheduleId
      label: string
      text: string
      work_item_id: WorkItemId | null
      spec: ScheduleSpec
      missed: MissedPolicy
      overlap: OverlapPolicy
      next_at: Timestamp
      by: By
    }
  | {
      type: 'schedule_changed'
      id: ScheduleId
      by: By
      changed: ScheduleChanges
      next_at: Timestamp | null
    }
  | { type: 'schedule_paused'; id: ScheduleId; by: By }
  | { type: 'schedule_resumed'; id: ScheduleId; by: By; next_at: Timestamp }
  | { type: 'schedule_removed'; id: ScheduleId; by: By }
  | {
      type: 'schedule_advanced'
      id: ScheduleId
      next_at: Timestamp | null
      last_slot_at: Timestamp
      ended: boolean
    }

export function evolveSchedule(
  schedule: Schedule | null,
  event: ScheduleEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Schedule {
  if (event.type === 'schedule_created') {
    if (schedule !== null) throw new Error(`a second schedule ${event.id}`)
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      status: 'active',
      last_slot_at: null,
      created_at: meta.at,
    }
  }
  if (schedule === null) throw new Error(`${event.type} before schedule_created: ${event.id}`)
  const over = schedule.status === 'ended' && event.type !== 'schedule_removed'
  if (over || schedule.status === 'removed') {
    throw new Error(`${event.type} after ${schedule.id} was ${schedule.status}`)
  }
  switch (event.type) {
    case 'schedule_changed':
      return { ...schedule, ...event.changed, next_at: event.next_at }
    case 'schedule_paused':
      return { ...schedule, status: 'paused', next_at: null }
    case 'schedule_resumed':
      return { ...schedule, status: 'active', next_at: event.next_at }
    case 'schedule_removed':
      return { ...schedule, status: 'removed', next_at: null }
    case 'schedule_advanced':
      return {
        ...schedule,
        status: event.ended ? 'ended' : schedule.status,
        next_at: event.next_at,
        last_slot_at: event.last_slot_at,
      }
  }
}

/** Whether it can still be due, now or when it is resumed. */
export const isLiveSchedule = (schedule: Pick<Schedule, 'status'>): boolean =>
  schedule.status === 'active' || schedule.status === 'paused'

export type SlotStatus = 'fired' | 'missed' | 'skipped'

export type Slot = {
  id: SlotId
  agent_id: AgentId
  schedule_id: ScheduleId
  due_at: Timestamp
  /** `skipped`: an earlier one was still waiting, or what it was for is over. */
  status: SlotStatus
  /** The message it made; of a skipped one, the queued message that stands for it too. */
  message_id: MessageId | null
  late_by_ms: number
  /** Earlier slots that were missed and that this one stands for. */
  missed_count: number
  at: Timestamp
}

export type SlotEvent = { type: 'slot_settled' } & Omit<Slot, 'agent_id' | 'at'>

export function evolveSlot(
  slot: Slot | null,
  event: SlotEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Slot {
  if (slot !== null) throw new Error(`${event.id} was settled before`)
  const { type: _, ...given } = event
  return { ...given, agent_id: meta.agent_id, at: meta.at }
}
