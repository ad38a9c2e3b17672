/**
 * Delivery: one outside event that came in by a trigger or a signed webhook, accepted or dead: the
 * delivery log. An accepted one has its message; a dead one says why it has none.
 */
import type { AgentId, DeliveryId, MessageId, TriggerId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

export type Via =
  | { kind: 'trigger'; trigger_id: TriggerId }
  /** The name of the webhook in the configuration. */
  | { kind: 'webhook'; webhook: string }

export type Delivery = {
  id: DeliveryId
  agent_id: AgentId
  via: Via
  /** What its sender calls it: with the source, the key by which a repetition is known. */
  sender_id: string | null
  source: string | null
  resource: string | null
  summary: string | null
  /** The blob of the raw body, as it came. */
  body_sha256: string | null
  content_type: string | null
  status: 'accepted' | 'dead'
  /** Why it is dead; null while accepted. */
  reason: string | null
  /** The newest message made from it; null while dead. */
  message_id: MessageId | null
  /** 1, and one more for each redelivery. */
  attempts: number
  received_at: Timestamp
}

/** What came in, whatever became of it. */
export type Received = Pick<
  Delivery,
  'via' | 'sender_id' | 'source' | 'resource' | 'summary' | 'body_sha256' | 'content_type'
>

/** What a delivery is about, for waits and for people. */
export type About = Pick<Delivery, 'source' | 'resource' | 'summary'>

export type DeliveryEvent =
  | ({ type: 'delivery_accepted'; id: DeliveryId; message_id: MessageId } & Received)
  | ({ type: 'delivery_dead'; id: DeliveryId; reason: string } & Received)
  /** What it is about may be known only now: the mapping was mended, or the sender sent better. */
  | ({ type: 'delivery_redelivered'; id: DeliveryId; message_id: MessageId } & About)

export function evolveDelivery(
  delivery: Delivery | null,
  event: DeliveryEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Delivery {
  if (event.type === 'delivery_redelivered') {
    if (delivery === null) throw new Error(`${event.type} before ${event.id} came in`)
    const { message_id, source, resource, summary } = event
    const attempts = delivery.attempts + 1
    const about = { source, resource, summary }
    return { ...delivery, ...about, status: 'accepted', reason: null, message_id, attempts }
  }
  if (delivery !== null) throw new Error(`a second delivery ${event.id}`)
  const { type: _, ...given } = event
  const common = { agent_id: meta.agent_id, attempts: 1, received_at: meta.at }
  switch (event.type) {
    case 'delivery_accepted':
      return { status: 'accepted', reason: null, message_id: event.message_id, ...given, ...common }
    case 'delivery_dead':
      return { status: 'dead', reason: event.reason, message_id: null, ...given, ...common }
  }
}
