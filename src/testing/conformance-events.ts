/**
 * Events of what comes from outside and what is due, for the conformance suite, with values that do
 * not matter filled in; those of work and turns are in lane.ts.
 */
import type { DeliveryEvent } from '../domain/delivery.ts'
import { slotId, type ScheduleId } from '../domain/ids.ts'
import type { ReceiptEvent } from '../domain/receipt.ts'
import { done } from '../domain/reply.ts'
import type { ScheduleEvent, SlotEvent } from '../domain/timetable.ts'
import type { TriggerEvent } from '../domain/trigger.ts'
import { freshMint } from './lane.ts'

type Of<E extends { type: string }, T extends E['type']> = Extract<E, { type: T }>

export const triggerCreated = (
  given: Partial<Of<TriggerEvent, 'trigger_created'>> = {},
): Of<TriggerEvent, 'trigger_created'> => ({
  type: 'trigger_created',
  id: freshMint('trig'),
  label: 'default',
  by: 'runtime',
  generation: 1,
  token_sha256: freshMint('token'),
  source: null,
  resource: null,
  delivery_mode: null,
  ...given,
})

const received = {
  via: { kind: 'webhook', webhook: 'github' },
  sender_id: null,
  source: 'github',
  resource: null,
  summary: null,
  body_sha256: null,
  content_type: null,
} as const

export const deliveryAccepted = (
  given: Partial<Of<DeliveryEvent, 'delivery_accepted'>> = {},
): Of<DeliveryEvent, 'delivery_accepted'> => ({
  type: 'delivery_accepted',
  id: freshMint('dlv'),
  message_id: 'msg_1',
  ...received,
  ...given,
})

export const deliveryDead = (
  given: Partial<Of<DeliveryEvent, 'delivery_dead'>> = {},
): Of<DeliveryEvent, 'delivery_dead'> => ({
  type: 'delivery_dead',
  id: freshMint('dlv'),
  reason: 'no mapping',
  ...received,
  ...given,
})

export const scheduleCreated = (): Of<ScheduleEvent, 'schedule_created'> => ({
  type: 'schedule_created',
  id: freshMint('sched'),
  label: 'morning',
  text: 'look at the garden',
  work_item_id: null,
  spec: { kind: 'once', at: '2026-02-01T00:00:00.000Z' },
  missed: 'once',
  overlap: 'skip',
  next_at: '2026-02-01T00:00:00.000Z',
  by: 'operator',
})

export const slotSettled = (schedule_id: ScheduleId, given: Partial<SlotEvent> = {}): SlotEvent => {
  const due_at = given.due_at ?? '2026-02-01T00:00:00.000Z'
  return {
    type: 'slot_settled',
    id: slotId(schedule_id, due_at),
    schedule_id,
    due_at,
    status: 'fired',
    message_id: null,
    late_by_ms: 0,
    missed_count: 0,
    ...given,
  }
}

export const receiptKept = (): ReceiptEvent => ({
  type: 'receipt_kept',
  id: freshMint('rcpt') as ReceiptEvent['id'],
  request_sha256: 'abc',
  reply: done('Accepted.'),
})

export const snoozed = (id: string, until: string | null) =>
  until === null
    ? ({ type: 'attention_dismissed', id, fingerprint: 'f' } as const)
    : ({ type: 'attention_snoozed', id, until, fingerprint: 'f' } as const)
