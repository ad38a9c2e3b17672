/**
 * Signs a delivery as the sender of a webhook does, by Standard Webhooks or as GitHub: headers for
 * tests, by code that shares nothing with what verifies them.
 */
import { createHmac } from 'node:crypto'

/** Headers of a delivery signed by each secret; throws for a secret that is none. */
export function signStandardWebhook(delivery: {
  id: string
  timestamp_ms: number
  body: Uint8Array
  secrets: readonly string[]
}): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const { id, body, secrets } = delivery
  const timestamp = String(Math.floor(delivery.timestamp_ms / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    if (key.length === 0) throw new Error('signing with a secret that is not whsec_ and base64')
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
    return `v1,${signed.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** Headers of a delivery as GitHub sends it. `id` is a GUID there. */
export function signGithub(delivery: {
  id: string
  event: string
  body: Uint8Array
  secret: string
}): Record<'x-github-delivery' | 'x-github-event' | 'x-hub-signature-256', string> {
  const { id, event, body, secret } = delivery
  if (secret === '') throw new Error('signing with an empty secret')
  const signed = createHmac('sha256', secret).update(body).digest('hex')
  return {
    'x-github-delivery': id,
    'x-github-event': event,
    'x-hub-signature-256': `sha256=${signed}`,
  }
}
