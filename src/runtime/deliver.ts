/**
 * Outside events at the host's door (contracts 3): a delivery is an act like any other, so it has
 * the same one commit and the same refusals; here its reply becomes what a sender is told.
 */
import type { OperatorAct } from '../domain/operator-act.ts'
import type { OperatorReply } from '../protocol/operator.ts'
import type { DeliveryReply, Incoming } from './ports.ts'

export const deliveryAct = (delivery: Incoming): OperatorAct & { do: 'deliver' } => ({
  do: 'deliver',
  ...fieldsOf(delivery),
})

export const deadLetterAct = (
  delivery: Incoming,
  reason: string,
): OperatorAct & { do: 'dead_letter' } => ({ do: 'dead_letter', ...fieldsOf(delivery), reason })

const fieldsOf = (delivery: Incoming) => ({
  agent_id: delivery.agent_id,
  via: delivery.via,
  body: delivery.body,
  sender_id: delivery.sender_id ?? undefined,
  source: delivery.source ?? undefined,
  resource: delivery.resource ?? undefined,
  summary: delivery.summary ?? undefined,
  content_type: delivery.content_type ?? undefined,
})

export function deliveryReply(reply: OperatorReply): DeliveryReply {
  if (!reply.ok) return reply
  const { id, message_id, warnings } = reply
  if (id === null) throw new Error('a delivery was accepted without a row of its own')
  const duplicate = warnings.some(({ kind }) => kind === 'duplicate')
  return { ok: true, message_id, delivery_id: id, duplicate }
}
