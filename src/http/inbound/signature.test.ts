// Signatures of webhooks against the published vectors, the published sender, and forgeries.
import { signGithub, signStandardWebhook } from '../../testing/http/webhook-sender.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { secretProblem, verifyGithub, verifyStandardWebhook, verifyWebhook } from './signature.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The vectors of the specification and of the tests of its libraries. */
const vectors = [
  {
    secret: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
    body: '{"event_type":"ping","data":{"success":true}}',
    id: 'msg_loFOjxBNrRLzqYUf',
    seconds: 1_731_705_121,
    signature: 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  },
  {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    seconds: 1_614_265_330,
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
]
const spare = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

type Vector = (typeof vectors)[number]
const vector = vectors[1] as Vector

function headersOf({ id, seconds, signature }: Omit<Vector, 'secret' | 'body'>): Headers {
  return new Headers({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  })
}

/** What comes of the second vector after some changes. */
function outcome(changed: Partial<Vector> & { secrets?: string[]; now_ms?: number }): string {
  const given = { ...vector, ...changed }
  const verified = verifyStandardWebhook({
    headers: headersOf(given),
    body: bytes(given.body),
    secrets: changed.secrets ?? [given.secret],
    now_ms: changed.now_ms ?? given.seconds * 1000,
  })
  return verified.ok ? `ok ${verified.id}` : verified.code
}

describe('Standard Webhooks', () => {
  for (const given of vectors) {
    const { secret, body, id, seconds, signature } = given
    test(`the published vector of ${id} is made and accepted`, () => {
      const signed = signStandardWebhook({
        id,
        timestamp_ms: seconds * 1000 + 999,
        body: bytes(body),
        secrets: [secret],
      })
      assert.deepEqual(signed, {
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature,
      })
      const now_ms = seconds * 1000
      const delivery = {
        headers: new Headers(signed),
        body: bytes(body),
        secrets: [secret],
        now_ms,
      }
      assert.deepEqual(verifyStandardWebhook(delivery), { ok: true, id, timestamp_ms: now_ms })
      assert.deepEqual(verifyWebhook('standard', delivery), { ok: true, id, timestamp_ms: now_ms })
    })
  }

  test('what the published library signs is accepted, and what this signs the library accepts', () => {
    const now_ms = Math.floor(performance.timeOrigin)
    const body = '{"type":"invoice.paid","data":{"über":"ünïcode 🙂"}}'
    for (const secret of [vector.secret, spare]) {
      const sender = new Webhook(secret)
      const headers = new Headers({
        'Webhook-Id': 'msg_1',
        'Webhook-Timestamp': String(Math.floor(now_ms / 1000)),
        'Webhook-Signature': sender.sign('msg_1', new Date(now_ms), body),
      })
      const theirs = { headers, body: bytes(body), secrets: [secret], now_ms }
      assert.equal(verifyStandardWebhook(theirs).ok, true)
      const mine = {
        id: 'msg_2',
        timestamp_ms: now_ms,
        body: bytes(body),
        secrets: [secret, spare],
      }
      assert.deepEqual(sender.verify(body, signStandardWebhook(mine)), JSON.parse(body))
    }
  })

  const other = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc='
  const table: [string, Parameters<typeof outcome>[0], string][] = [
    ['as it is', {}, `ok ${vector.id}`],
    [
      'one of several signatures fits',
      { signature: `${other} v1a,x ${vector.signature} ${other}` },
      `ok ${vector.id}`,
    ],
    ['the old secret while it is replaced', { secrets: [spare, vector.secret] }, `ok ${vector.id}`],
    ['a secret without its prefix', { secrets: [vector.secret.slice(6)] }, `ok ${vector.id}`],
    ['five minutes old', { now_ms: (vector.seconds + 300) * 1000 + 999 }, `ok ${vector.id}`],
    ['five minutes ahead', { now_ms: (vector.seconds - 300) * 1000 }, `ok ${vector.id}`],
    ['a second older', { now_ms: (vector.seconds + 301) * 1000 }, 'timestamp_outside'],
    ['a second further ahead', { now_ms: (vector.seconds - 300) * 1000 - 1 }, 'timestamp_outside'],
    ['no secret', { secrets: [] }, 'signature_invalid'],
    ['an empty secret', { secrets: [''] }, 'signature_invalid'],
    ['a secret that is only the prefix', { secrets: ['whsec_'] }, 'signature_invalid'],
    ['another secret', { secrets: [spare] }, 'signature_invalid'],
    ['another id', { id: 'msg_2' }, 'signature_invalid'],
    ['another time', { seconds: vector.seconds + 1 }, 'signature_invalid'],
    ['a time with a sign', { seconds: -1 }, 'timestamp_outside'],
    ['another body', { body: '{"test": 2432232315}' }, 'signature_invalid'],
    ['the same JSON in other bytes', { body: '{"test":2432232314}' }, 'signature_invalid'],
    ['an empty body', { body: '' }, 'signature_invalid'],
    ['no signature', { signature: '' }, 'signature_missing'],
    [
      'only other versions',
      { signature: vector.signature.replace('v1,', 'v1a,') },
      'signature_missing',
    ],
    ['half a signature', { signature: vector.signature.slice(0, 20) }, 'signature_invalid'],
    [
      'the same bytes in another base64',
      { signature: vector.signature.replace('E=', 'F=') },
      'signature_invalid',
    ],
    [
      'a signature without padding',
      { signature: vector.signature.slice(0, -1) },
      'signature_invalid',
    ],
    ['no id', { id: '' }, 'id_missing'],
    ['an id with a full stop', { id: 'msg.1' }, 'id_missing'],
    ['an id with a blank', { id: 'msg 1' }, 'id_missing'],
    ['an endless id', { id: 'x'.repeat(257) }, 'id_missing'],
  ]
  for (const [what, changed, expected] of table) {
    test(`${what}: ${expected}`, () => assert.equal(outcome(changed), expected))
  }

  test('a missing time is a missing signature', () => {
    const headers = headersOf(vector)
    headers.delete('webhook-timestamp')
    const { secret, seconds } = vector
    const delivery = {
      headers,
      body: bytes(vector.body),
      secrets: [secret],
      now_ms: seconds * 1000,
    }
    const verified = verifyStandardWebhook(delivery)
    assert.deepEqual(verified, {
      ok: false,
      code: 'signature_missing',
      message: 'webhook-timestamp is missing.',
    })
  })

  test('bytes that are no text are verified as they came', () => {
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const signed = { id: 'msg_1', timestamp_ms: 1_000_000, body, secrets: [spare] }
    const headers = new Headers(signStandardWebhook(signed))
    const delivery = { headers, body, secrets: [spare], now_ms: 1_000_000 }
    assert.equal(verifyStandardWebhook(delivery).ok, true)
    const flipped = body.with(200, 0)
    assert.equal(verifyStandardWebhook({ ...delivery, body: flipped }).ok, false)
  })

  test('signing with a secret that has no key is a bug', () => {
    const signed = { id: 'msg_1', timestamp_ms: 0, body: bytes(''), secrets: ['whsec_'] }
    assert.throws(() => signStandardWebhook(signed), /secret/)
  })
})

describe('GitHub', () => {
  // The example of GitHub's documentation on validating webhook deliveries.
  const secret = "It's a Secret to Everybody"
  const body = bytes('Hello, World!')
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const id = 'sha256:dffd6021bb2bd5b0af676290809ec3a53191dd81c7f70a4b28688a362182986f'

  test('the documented example is made and accepted', () => {
    const signed = signGithub({ id: 'guid', event: 'push', body, secret })
    assert.deepEqual(signed, {
      'x-github-delivery': 'guid',
      'x-github-event': 'push',
      'x-hub-signature-256': signature,
    })
    const delivery = { headers: new Headers(signed), body, secrets: [secret], now_ms: 0 }
    assert.deepEqual(verifyWebhook('github', delivery), { ok: true, id, timestamp_ms: null })
  })

  test('a replay under a fresh delivery id keeps its id, for that header is not signed', () => {
    const ids = ['one', 'two'].map((guid) => {
      const headers = new Headers(signGithub({ id: guid, event: 'push', body, secret }))
      const verified = verifyGithub({ headers, body, secrets: [secret] })
      return verified.ok ? verified.id : verified.code
    })
    assert.deepEqual(ids, [id, id])
  })

  const table: [
    string,
    { signature: string | null; secrets?: string[]; body?: Uint8Array },
    string,
  ][] = [
    ['the old secret while it is replaced', { signature, secrets: ['another', secret] }, 'ok'],
    ['no signature', { signature: null }, 'signature_missing'],
    ['an empty signature', { signature: '' }, 'signature_invalid'],
    ['no secret', { signature, secrets: [] }, 'signature_invalid'],
    ['an empty secret', { signature, secrets: [''] }, 'signature_invalid'],
    ['another body', { signature, body: bytes('Hello, World?') }, 'signature_invalid'],
    [
      'the old SHA-1 form',
      { signature: 'sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59' },
      'signature_invalid',
    ],
    ['digits in upper case', { signature: signature.toUpperCase() }, 'signature_invalid'],
    ['a signature sent twice', { signature: `${signature}, ${signature}` }, 'signature_invalid'],
    ['a longer signature', { signature: `${signature}0` }, 'signature_invalid'],
  ]
  for (const [what, given, expected] of table) {
    test(`${what}: ${expected}`, () => {
      const headers = new Headers()
      if (given.signature !== null) headers.set('x-hub-signature-256', given.signature)
      const verified = verifyGithub({
        headers,
        body: given.body ?? body,
        secrets: given.secrets ?? [secret],
      })
      assert.equal(verified.ok ? 'ok' : verified.code, expected)
    })
  }

  test('signing with an empty secret is a bug', () => {
    assert.throws(() => signGithub({ id: 'x', event: 'push', body, secret: '' }), /secret/)
  })
})

describe('a secret that enables a webhook', () => {
  const key = (length: number) => `whsec_${Buffer.alloc(length, 7).toString('base64')}`
  const table: ['standard' | 'github', string, string | null][] = [
    ['standard', key(24), null],
    ['standard', key(64), null],
    ['standard', vector.secret, null],
    ['standard', '', 'it is empty'],
    ['standard', key(23), 'its key has 23 bytes; 24 to 64 are allowed'],
    ['standard', key(65), 'its key has 65 bytes; 24 to 64 are allowed'],
    ['standard', key(24).slice(6), 'it is not whsec_ followed by base64'],
    ['standard', 'whsec_', 'it is not whsec_ followed by base64'],
    ['standard', 'whsec_not base64 at all!', 'it is not whsec_ followed by base64'],
    ['standard', `${key(24)}\n${key(24)}`, 'it is not whsec_ followed by base64'],
    ['github', "It's a Secret to Everybody", null],
    ['github', '', 'it is empty'],
    ['github', 'fifteen letters', 'it has 15 characters; 16 to 1000 are allowed'],
    ['github', 'x'.repeat(1_001), 'it has 1001 characters; 16 to 1000 are allowed'],
    ['github', 'two lines of a\nsecret', 'it is more than one line of text'],
  ]
  for (const [n, [scheme, secret, problem]] of table.entries()) {
    test(`${n + 1}, ${scheme}: ${problem ?? 'usable'}`, () => {
      assert.equal(secretProblem(scheme, secret), problem)
    })
  }
})

/** Numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const visible = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-,'

/** One character changed, taken away or put in; never the text itself. */
function mutated(text: string, below: (n: number) => number): string {
  for (;;) {
    const at = below(text.length)
    const char = visible.charAt(below(visible.length))
    const made = [
      text.slice(0, at) + char + text.slice(at + 1),
      text.slice(0, at) + text.slice(at + 1),
      text.slice(0, at) + char + text.slice(at),
    ][below(3)]
    if (made !== undefined && made !== text) return made
  }
}

describe('forgeries', () => {
  test('of 500 changes of id, time, signature, body or secret none is accepted', () => {
    const below = numbers(7)
    const seen = { id: 0, seconds: 0, signature: 0, body: 0, secret: 0 }
    const accepted: unknown[] = []
    for (let n = 0; n < 500; n++) {
      const fields = ['id', 'seconds', 'signature', 'body', 'secret'] as const
      const field = fields[n % fields.length] ?? 'id'
      const headers = headersOf(vector)
      let { body, secret } = vector
      if (field === 'id') headers.set('webhook-id', mutated(vector.id, below))
      else if (field === 'seconds') {
        headers.set('webhook-timestamp', mutated(String(vector.seconds), below))
      } else if (field === 'signature') {
        headers.set('webhook-signature', mutated(vector.signature, below))
      } else if (field === 'body') body = mutated(body, below)
      else {
        // Within the key: base64 has spellings that decode to the same bytes.
        const key = Buffer.from(secret.slice(6), 'base64')
        const at = below(key.length)
        key[at] = (key[at] ?? 0) ^ (1 << below(8))
        secret = `whsec_${key.toString('base64')}`
      }
      const now_ms = vector.seconds * 1000
      const delivery = { headers, body: bytes(body), secrets: [secret], now_ms }
      if (verifyStandardWebhook(delivery).ok) accepted.push([field, [...headers], body, secret])
      seen[field] += 1
    }
    assert.deepEqual(accepted, [])
    assert.deepEqual(seen, { id: 100, seconds: 100, signature: 100, body: 100, secret: 100 })
  })

  test('of 500 changes of a GitHub delivery none is accepted', () => {
    const below = numbers(11)
    const secret = 'a-secret-of-github'
    const body = '{"action":"opened","number":12}'
    const signed = signGithub({ id: 'x', event: 'push', body: bytes(body), secret })
    const right = signed['x-hub-signature-256']
    const accepted: unknown[] = []
    for (let n = 0; n < 500; n++) {
      const changed = {
        signature: n % 3 === 0 ? mutated(right, below) : right,
        body: n % 3 === 1 ? mutated(body, below) : body,
        secret: n % 3 === 2 ? mutated(secret, below) : secret,
      }
      const headers = new Headers({ 'x-hub-signature-256': changed.signature })
      const delivery = { headers, body: bytes(changed.body), secrets: [changed.secret] }
      if (verifyGithub(delivery).ok) accepted.push(changed)
    }
    assert.deepEqual(accepted, [])
  })
})
