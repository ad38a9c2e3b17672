/**
 * Outside events as a test gives them to a host: one shape for both acts, and the reply as a sender
 * would be told.
 */
import type { AgentId } from '../../domain/ids.ts'
import type { OperatorAct } from '../../domain/operator/act.ts'
import type { OperatorReply } from '../../protocol/acts/operator.ts'
import type { Host } from '../../runtime/ports.ts'

/** One outside event, whole and trusted as far as its door can be. */
export type OutsideDelivery = {
  agent_id: AgentId
  via: { kind: 'trigger'; trigger_id: string } | { kind: 'webhook'; webhook: string }
  /** The sender's own id of the delivery: the same one again within 8 days is a duplicate. */
  sender_id: string | null
  source: string | null
  resource: string | null
  summary: string | null
  body: string
  content_type: string | null
}

export type DeliveryReply =
  | {
      ok: true
      message_id: string | null
      delivery_id: string
      /** It came before: nothing new is stored, and these are the ids of the first. */
      duplicate: boolean
    }
  | { ok: false; code: string; message: string; hint: string }

type Door = Pick<Host, 'act'>

/** Commits an outside event; durable when it resolves with `ok`. */
export const deliver = async (host: Door, event: OutsideDelivery): Promise<DeliveryReply> =>
  replyOf(await host.act({ do: 'deliver', ...fieldsOf(event) }))

/** Keeps an outside event that no message can be made of; `message_id` is then null. */
export const deadLetter = async (
  host: Door,
  event: OutsideDelivery,
  reason: string,
): Promise<DeliveryReply> =>
  replyOf(await host.act({ do: 'dead_letter', ...fieldsOf(event), reason }))

const fieldsOf = (event: OutsideDelivery): Omit<OperatorAct & { do: 'deliver' }, 'do'> => ({
  agent_id: event.agent_id,
  via: event.via,
  body: event.body,
  sender_id: event.sender_id ?? undefined,
  source: event.source ?? undefined,
  resource: event.resource ?? undefined,
  summary: event.summary ?? undefined,
  content_type: event.content_type ?? undefined,
})

function replyOf(reply: OperatorReply): DeliveryReply {
  if (!reply.ok) return reply
  const { id, message_id, warnings } = reply
  if (id === null) throw new Error('a delivery was accepted without a row of its own')
  const duplicate = warnings.some(({ kind }) => kind === 'duplicate')
  return { ok: true, message_id, delivery_id: id, duplicate }
}
