/**
 * Signatures of webhooks (docs/spec/http.md#webhooks): Standard Webhooks 1.0.0 (symmetric, `v1`)
 * and GitHub's `X-Hub-Signature-256`. Computed over the raw bytes as they came, compared in
 * constant time, and true for no delivery when there is no key. Pure.
 *
 * The `id` of a verified delivery is the key by which a replay is known, so it is always part of
 * what was signed. The sentences of a refusal are for the log: a sender is told 401 and no more.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookScheme } from '../../protocol/webhook.ts'

/** As `Headers`: names in any letter case, null when absent, repeated ones joined by `, `. */
export type HeaderReader = { get(name: string): string | null }

/** `secrets` are those of the endpoint, several while one replaces another; any of them may fit. */
export type SignedDelivery = {
  headers: HeaderReader
  body: Uint8Array
  secrets: readonly string[]
  /** Wall clock in milliseconds since 1970. */
  now_ms: number
}

export type SignatureRefusal =
  | 'signature_missing'
  | 'signature_invalid'
  | 'timestamp_outside'
  | 'id_missing'

/** `timestamp_ms` is null where the scheme signs none. */
export type Verified =
  | { ok: true; id: string; timestamp_ms: number | null }
  | { ok: false; code: SignatureRefusal; message: string }

/** How far the sender's clock may be from ours, in seconds: the five minutes of the standard. */
const toleranceSeconds = 5 * 60
/** Characters of a delivery id: those of the standard have about 30. */
const longestId = 256

const no = (code: SignatureRefusal, message: string): Verified => ({ ok: false, code, message })

/** Bytes of a key of the standard. */
const keyBytes = { least: 24, most: 64 } as const
/** Characters of a secret of GitHub, which takes any text: fewer can be guessed. */
const githubCharacters = { least: 16, most: 1_000 } as const

/**
 * Why a text cannot be the secret of a webhook, or null when it can: a sentence without a full stop
 * that does not show it. What fails here enables nothing (docs/spec/http.md#webhooks).
 */
export function secretProblem(scheme: WebhookScheme, secret: string): string | null {
  if (secret === '') return 'it is empty'
  switch (scheme) {
    case 'standard': {
      const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
      if (base64 === undefined) return 'it is not whsec_ followed by base64'
      const { length } = Buffer.from(base64, 'base64')
      const { least, most } = keyBytes
      if (length >= least && length <= most) return null
      return `its key has ${length} bytes; ${least} to ${most} are allowed`
    }
    case 'github': {
      const { least, most } = githubCharacters
      if (/[\p{Cc}]/u.test(secret)) return 'it is more than one line of text'
      if (secret.length >= least && secret.length <= most) return null
      return `it has ${secret.length} characters; ${least} to ${most} are allowed`
    }
  }
}

export function verifyWebhook(scheme: WebhookScheme, delivery: SignedDelivery): Verified {
  switch (scheme) {
    case 'standard':
      return verifyStandardWebhook(delivery)
    case 'github':
      return verifyGithub(delivery)
  }
}

/**
 * Accepts what carries at least one `v1` signature by one of the secrets (`whsec_…`) over
 * `id.timestamp.body`, no older and no newer than five minutes. Other versions are passed over.
 */
export function verifyStandardWebhook(delivery: SignedDelivery): Verified {
  const { headers, body, secrets, now_ms } = delivery
  const id = headers.get('webhook-id') ?? ''
  // A full stop in the id would let a signed body be read as another id, time and body.
  if (id === '' || id.length > longestId || !/^[!-~]+$/.test(id) || id.includes('.')) {
    const says = `webhook-id must be 1 to ${longestId} visible characters without a full stop.`
    return no('id_missing', says)
  }
  const timestamp = headers.get('webhook-timestamp')
  if (timestamp === null) return no('signature_missing', 'webhook-timestamp is missing.')
  const given = versionOne(headers.get('webhook-signature'))
  if (given.length === 0) return no('signature_missing', 'webhook-signature has no v1 signature.')
  if (!/^[0-9]{1,11}$/.test(timestamp)) {
    return no('timestamp_outside', 'webhook-timestamp is not a whole number of seconds.')
  }
  const wanted = secrets.flatMap((secret) => standardSignature(secret, id, timestamp, body) ?? [])
  if (!anyEqual(given, wanted)) {
    return no(
      'signature_invalid',
      'No signature in webhook-signature fits a secret of the webhook.',
    )
  }
  const apart = Math.floor(now_ms / 1000) - Number(timestamp)
  if (Math.abs(apart) > toleranceSeconds) {
    const side = apart > 0 ? 'behind' : 'ahead of'
    const says = `webhook-timestamp is ${Math.abs(apart)} s ${side} this clock; 300 s are allowed.`
    return no('timestamp_outside', says)
  }
  return { ok: true, id, timestamp_ms: Number(timestamp) * 1000 }
}

/**
 * Accepts what `X-Hub-Signature-256` signs with one of the secrets. GitHub signs the body and
 * nothing else: no time, and not `X-GitHub-Delivery`, which anybody could change on a delivery they
 * recorded. So the id is the digest of the body: GitHub's own redelivery and a replay under a fresh
 * delivery id are both the same delivery again, for as long as ids are remembered (8 days).
 */
export function verifyGithub(delivery: Omit<SignedDelivery, 'now_ms'>): Verified {
  const { headers, body, secrets } = delivery
  const given = headers.get('x-hub-signature-256')
  if (given === null) return no('signature_missing', 'X-Hub-Signature-256 is missing.')
  const wanted = secrets.flatMap((secret) => (secret === '' ? [] : [githubSignature(secret, body)]))
  if (!anyEqual([given], wanted)) {
    return no('signature_invalid', 'X-Hub-Signature-256 fits no secret of the webhook.')
  }
  const id = `sha256:${createHash('sha256').update(body).digest('hex')}`
  return { ok: true, id, timestamp_ms: null }
}

function versionOne(header: string | null): string[] {
  return (header ?? '').split(' ').filter((signature) => signature.startsWith('v1,'))
}

/** `v1,<base64>`, or null when the secret has no key in it: such a one signs nothing. */
function standardSignature(
  secret: string,
  id: string,
  timestamp: string,
  body: Uint8Array,
): string | null {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  if (key.length === 0) return null
  const signed = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
  return `v1,${signed.digest('base64')}`
}

function githubSignature(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/**
 * Compares the texts, not what they decode to: base64 and hex have several spellings of the same
 * bytes, and only the one that was made is right. Looks at every pair, whatever it found.
 */
function anyEqual(given: readonly string[], wanted: readonly string[]): boolean {
  let found = false
  for (const one of given) {
    for (const other of wanted) {
      const [a, b] = [Buffer.from(one), Buffer.from(other)]
      found = (a.length === b.length && timingSafeEqual(a, b)) || found
    }
  }
  return found
}
