/**
 * Idempotency: an act that carries a receipt id is carried out once in 24 hours
 * (docs/spec/http.md#acts). The receipt lands in the commit of the act, so a repetition after a
 * crash finds both or neither.
 */
import type { Draft } from '../facts/facts.ts'
import type { ReceiptId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Receipt } from '../state/receipt.ts'
import type { Done } from '../state/reply.ts'
import { between, type Timestamp } from '../time.ts'
import { no, type Rejection } from '../rejection.ts'

/** `id` is of the agent, the route and the key; `request_sha256` of the whole request. */
export type ReceiptKey = { id: string; request_sha256: string }

/** The first answer, the refusal of another request under the same key, or null: go on. */
export const keptReceipt = (d: Draft, key: ReceiptKey | undefined): Done | Rejection | null =>
  key === undefined ? null : answeredBy(d.row('receipts', key.id), key, d.now)

/** As `keptReceipt`, of a receipt that was read. */
export function answeredBy(
  receipt: Receipt | null | undefined,
  { request_sha256 }: ReceiptKey,
  now: Timestamp,
): Done | Rejection | null {
  if (!receipt || between(receipt.created_at, now) >= limits.idempotency.value) return null
  if (receipt.request_sha256 === request_sha256) return receipt.reply
  const message = `This key was used for another request at ${receipt.created_at}.`
  return no('idempotency_mismatch', message)
}

export function keepReceipt(d: Draft, key: ReceiptKey | undefined, reply: Done): void {
  if (key === undefined) return
  const { id, request_sha256 } = key
  d.emit({ type: 'receipt_kept', id: id as ReceiptId, request_sha256, reply })
}
