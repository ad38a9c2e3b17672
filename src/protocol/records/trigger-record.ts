/**
 * Triggers and their delivery log as readers get them (docs/spec/wait.md#triggers). The hash of a
 * token stays in the ledger; the URL, which is a capability, is shown to whoever holds the control
 * token.
 */
import { z } from 'zod'
import type { Delivery } from '../../domain/state/delivery.ts'
import type { Trigger } from '../../domain/state/trigger.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, count, idOf, messageId, sha256, timestamp } from '../scalar.ts'

export const triggerId = idOf('trig')
export const deliveryId = idOf('dlv')

export const triggerStatuses = ['active', 'revoked'] as const
export const deliveryStatuses = ['accepted', 'dead'] as const
const deliveryModes = ['enqueue_message', 'wake_hint'] as const

export const triggerRecord = z
  .strictObject({
    id: triggerId,
    agent_id: agentId,
    label: z.string(),
    by: z.enum(['runtime', 'operator']),
    generation: count,
    source: z.string().nullable(),
    resource: z.string().nullable(),
    delivery_mode: z.enum(deliveryModes).nullable(),
    status: z.enum(triggerStatuses),
    delivered: count,
    last_delivered_at: timestamp.nullable(),
    created_at: timestamp,
    reset_at: timestamp.nullable(),
    url: z.string().nullable().describe('Where to POST; null once it is revoked.'),
    can: canList,
  })
  .meta({ id: 'Trigger' })
export type TriggerRecord = z.infer<typeof triggerRecord>

export const triggerList = z
  .strictObject({ triggers: z.array(triggerRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'TriggerList' })

export function triggerRecordOf(
  trigger: Trigger,
  url: string | null,
  can: readonly Can[],
): TriggerRecord {
  const { token_sha256: _, ...fields } = trigger
  return { ...fields, url: trigger.status === 'active' ? url : null, can }
}

export const newTrigger = z
  .strictObject({
    label: z.string(),
    source: z.string().optional(),
    resource: z.string().optional(),
    delivery_mode: z.enum(deliveryModes).optional(),
  })
  .meta({ id: 'NewTrigger' })

const via = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('trigger'), trigger_id: triggerId }),
  z.strictObject({ kind: z.literal('webhook'), webhook: z.string() }),
])

export const deliveryRecord = z
  .strictObject({
    id: deliveryId,
    agent_id: agentId,
    via,
    sender_id: z.string().nullable(),
    source: z.string().nullable(),
    resource: z.string().nullable(),
    summary: z.string().nullable(),
    body_sha256: sha256.nullable(),
    content_type: z.string().nullable(),
    status: z.enum(deliveryStatuses),
    reason: z.string().nullable(),
    message_id: messageId.nullable(),
    attempts: count,
    received_at: timestamp,
    can: canList,
  })
  .meta({ id: 'Delivery' })
export type DeliveryRecord = z.infer<typeof deliveryRecord>

export const deliveryList = z
  .strictObject({ deliveries: z.array(deliveryRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'DeliveryList' })

export const deliveryRecordOf = (delivery: Delivery, can: readonly Can[]): DeliveryRecord => ({
  ...delivery,
  can,
})
