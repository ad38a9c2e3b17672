/**
 * Receipt: the stored answer of an act that came with an `Idempotency-Key`, kept 24 hours
 * (docs/spec/http.md#acts). It lands in the commit of the act, so a repetition gets the answer or
 * none.
 */
import type { AgentId, ReceiptId } from '../ids.ts'
import type { Done } from './reply.ts'
import type { Timestamp } from '../time.ts'

export type Receipt = {
  /** Of the agent, the route and the key: the same request again has the same id. */
  id: ReceiptId
  agent_id: AgentId
  request_sha256: string
  reply: Done
  created_at: Timestamp
}

export type ReceiptEvent = {
  type: 'receipt_kept'
  id: ReceiptId
  request_sha256: string
  reply: Done
}

/** A key that has expired may be used again: the newer receipt replaces the older. */
export function evolveReceipt(
  _: Receipt | null,
  event: ReceiptEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Receipt {
  const { type: __, ...given } = event
  return { ...given, agent_id: meta.agent_id, created_at: meta.at }
}
