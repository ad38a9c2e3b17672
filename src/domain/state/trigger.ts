/**
 * Trigger: a capability URL of an agent, by which the outside reaches it
 * (docs/spec/wait.md#triggers). The row keeps the hash of its token and what the operator fixed;
 * the token itself is derived from a secret file of the home and the generation, so a reset makes
 * the old URL worthless.
 */
import type { AgentId, DeliveryId, TriggerId } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import type { DeliveryMode } from './wait.ts'
import type { By } from './work-item.ts'

export type Trigger = {
  id: TriggerId
  agent_id: AgentId
  /** The agent's own one is called `default`. */
  label: string
  by: 'runtime' | 'operator'
  generation: number
  /** Hex sha256 of the token of this generation. */
  token_sha256: string
  /** Fixed by the operator: wins over what a delivery names; null: the delivery says. */
  source: string | null
  resource: string | null
  /** Null: the mode of each matching wait decides. */
  delivery_mode: DeliveryMode | null
  status: 'active' | 'revoked'
  delivered: number
  last_delivered_at: Timestamp | null
  created_at: Timestamp
  reset_at: Timestamp | null
}

export type TriggerEvent =
  | {
      type: 'trigger_created'
      id: TriggerId
      label: string
      by: Trigger['by']
      generation: number
      token_sha256: string
      source: string | null
      resource: string | null
      delivery_mode: DeliveryMode | null
    }
  | { type: 'trigger_reset'; id: TriggerId; generation: number; token_sha256: string }
  | { type: 'trigger_revoked'; id: TriggerId; by: By }
  | { type: 'trigger_delivered'; id: TriggerId; delivery_id: DeliveryId }

export function evolveTrigger(
  trigger: Trigger | null,
  event: TriggerEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Trigger {
  if (event.type === 'trigger_created') {
    if (trigger !== null) throw new Error(`a second trigger ${event.id}`)
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      status: 'active',
      delivered: 0,
      last_delivered_at: null,
      created_at: meta.at,
      reset_at: null,
    }
  }
  if (trigger === null) throw new Error(`${event.type} before trigger_created: ${event.id}`)
  if (trigger.status === 'revoked') throw new Error(`${event.type} after ${trigger.id} was revoked`)
  switch (event.type) {
    case 'trigger_reset':
      return {
        ...trigger,
        generation: event.generation,
        token_sha256: event.token_sha256,
        reset_at: meta.at,
      }
    case 'trigger_revoked':
      return { ...trigger, status: 'revoked' }
    case 'trigger_delivered':
      return { ...trigger, delivered: trigger.delivered + 1, last_delivered_at: meta.at }
  }
}
