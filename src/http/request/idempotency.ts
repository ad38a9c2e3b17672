/**
 * `Idempotency-Key` on creating POSTs (docs/spec/http.md): a key, its agent and its route make the
 * id of a receipt, the body its hash. The rules keep both with the act; this only names them.
 */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import type { ReceiptKey } from '../../domain/operator/receipts.ts'
import type { HttpEnv } from './app-env.ts'
import { httpLimits } from './limits.ts'
import { refuse, type Refusal } from './problem.ts'

/**
 * What to hand to `act`: nothing when the request has no key. `route` is the pattern of the route
 * with its method. The path is part of the hash, so one key cannot mean two things.
 */
export function receiptOf(
  c: Context<HttpEnv>,
  agent_id: string,
  route: string,
): { ok: true; receipt?: ReceiptKey } | { ok: false; refusal: Refusal } {
  const key = c.req.header('idempotency-key')
  if (key === undefined) return { ok: true }
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > httpLimits.idempotency_key.value) {
    const message = 'The Idempotency-Key is not one.'
    return { ok: false, refusal: refuse({ code: 'invalid_idempotency_key', message }) }
  }
  // The parts cannot hold a line break, so no two requests are the same text.
  const id = `rcpt_${hash([agent_id, route, key].join('\n'))}` as const
  const request_sha256 = hash(`${c.req.path}\n`, c.get('body'))
  return { ok: true, receipt: { id, request_sha256 } }
}

function hash(...parts: readonly (string | Uint8Array)[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}
