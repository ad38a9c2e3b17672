import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook as Sender } from 'standardwebhooks'
import type { WebhookConfig } from '../../protocol/webhook.ts'
import { agentRow, done, fakeHome, problemIn } from '../../testing/http/http-home.ts'

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const asJson = { 'content-type': 'application/json' }

type Change = { config?: Partial<WebhookConfig>; secrets?: string[]; also_from?: string[] }

function opened({ config = {}, secrets = [secret], also_from = [] }: Change = {}) {
  const refusals: string[] = []
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  fake.put('agents', agentRow('child', { visibility: 'private' }))
  fake.state.reply = () => done({ message_id: 'msg_0001', id: 'dlv_0001' })
  const base = { scheme: 'standard' as const, secret_files: ['/srv/secret'], ...config }
  fake.webhooks.set('billing', { config: base, secrets, also_from })
  const post = (path: string, body: string, headers: Record<string, string>) =>
    fake.ask(path, { method: 'POST', body, headers: { ...asJson, authorization: '', ...headers } })
  /** As the published library of Standard Webhooks signs it. */
  const send = (path: string, body: string, id = 'msg_one', headers = {}) => {
    const at = new Date(fake.clock.now())
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Sender(secret).sign(id, at, body),
    }
    return post(path, body, { ...signed, ...headers })
  }
  return { fake, post, send, refusals }
}

const at = '/webhooks/main/billing'
const paid = JSON.stringify({ type: 'invoice.paid', data: { id: 'in_7' } })

describe('POST /webhooks/{agent}/{source}', () => {
  test('a delivery of the published sender is stored with its mapping', async () => {
    const { fake, send } = opened({ config: { resource: '{/data/id}' } })
    const answer = await send(at, paid)
    assert.deepEqual(
      [answer.status, await answer.json(), fake.acts],
      [
        202,
        { message_id: 'msg_0001', delivery_id: 'dlv_0001', duplicate: false },
        [
          {
            do: 'deliver',
            agent_id: 'main',
            via: { kind: 'webhook', webhook: 'billing' },
            sender_id: 'msg_one',
            body: paid,
            source: 'billing',
            resource: 'in_7',
            summary: 'invoice.paid',
            content_type: 'application/json',
          },
        ],
      ],
    )
  })

  test('a delivery signed as GitHub signs is stored, known again by its body', async () => {
    const { fake, post } = opened({ config: { scheme: 'github' }, secrets: ['s3cret'] })
    const body = JSON.stringify({ action: 'opened', repository: { full_name: 'o/r' } })
    const signature = createHmac('sha256', 's3cret').update(body).digest('hex')
    const headers = {
      'x-hub-signature-256': `sha256=${signature}`,
      'x-github-event': 'issues',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    }
    const answer = await post(at, body, headers)
    const [act] = fake.acts
    assert.equal(answer.status, 202)
    assert.ok(act?.do === 'deliver')
    assert.match(act.sender_id ?? '', /^sha256:[0-9a-f]{64}$/)
    assert.equal(act.resource, 'o/r')
  })

  const changed: [name: string, body: string, headers: Record<string, string>][] = [
    ['another body', `${paid} `, {}],
    ['another id', paid, { 'webhook-id': 'msg_two' }],
    ['another time', paid, { 'webhook-timestamp': '1' }],
    ['no signature', paid, { 'webhook-signature': '' }],
    ['another version', paid, { 'webhook-signature': 'v2,abc' }],
  ]
  for (const [name, body, headers] of changed) {
    test(`${name} is 401, and nothing is parsed or stored`, async () => {
      const { fake, post } = opened()
      const time = new Date(fake.clock.now())
      const answer = await post(at, body, {
        'webhook-id': 'msg_one',
        'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
        'webhook-signature': new Sender(secret).sign('msg_one', time, paid),
        ...headers,
      })
      assert.deepEqual(await problemIn(answer), [401, 'signature_invalid'])
      assert.deepEqual([fake.acts, fake.reads], [[], []])
    })
  }

  test('an old delivery is 401, though its signature is right', async () => {
    const { fake, post } = opened()
    const old = new Date(fake.clock.now() - 6 * 60_000)
    const answer = await post(at, paid, {
      'webhook-id': 'msg_one',
      'webhook-timestamp': String(Math.floor(old.getTime() / 1000)),
      'webhook-signature': new Sender(secret).sign('msg_one', old, paid),
    })
    assert.deepEqual(await problemIn(answer), [401, 'signature_invalid'])
    assert.deepEqual(fake.acts, [])
  })

  test('a webhook without a secret takes nothing, however it is signed', async () => {
    const { fake, send } = opened({ secrets: [] })
    assert.deepEqual(await problemIn(await send(at, paid)), [401, 'signature_invalid'])
    assert.deepEqual(fake.acts, [])
  })

  const nowhere: [name: string, path: string, config: Partial<WebhookConfig>][] = [
    ['an unknown webhook', '/webhooks/main/shop', {}],
    ['an unknown agent', '/webhooks/nobody/billing', {}],
    ['a private agent', '/webhooks/child/billing', {}],
    ['an agent it may not reach', at, { agents: ['other'] }],
  ]
  for (const [name, path, config] of nowhere) {
    test(`${name} is 404 for a sender who can sign`, async () => {
      const { fake, send } = opened({ config })
      assert.deepEqual(await problemIn(await send(path, paid)), [404, 'not_found'])
      assert.deepEqual(fake.acts, [])
    })
  }

  test('who cannot sign does not learn which agents there are', async () => {
    const { post } = opened()
    const known = await post(at, paid, {})
    const unknown = await post('/webhooks/nobody/billing', paid, {})
    assert.equal(await known.text(), await unknown.text())
  })

  test('what cannot be mapped is kept as a dead letter, and acknowledged', async () => {
    const { fake, send } = opened({ config: { resource: '{/data/number}' } })
    fake.state.reply = () => done({ id: 'dlv_0001' })
    const answer = await send(at, paid)
    assert.deepEqual(
      [answer.status, await answer.json()],
      [202, { message_id: null, delivery_id: 'dlv_0001', duplicate: false }],
    )
    assert.deepEqual(fake.acts, [
      {
        do: 'dead_letter',
        agent_id: 'main',
        via: { kind: 'webhook', webhook: 'billing' },
        sender_id: 'msg_one',
        body: paid,
        source: 'billing',
        content_type: 'application/json',
        reason: 'The resource cannot be made: the body has nothing at /data/number.',
      },
    ])
  })

  test('an event that is not asked for is answered and not kept', async () => {
    const { fake, send } = opened({ config: { events: ['customer'] } })
    const answer = await send(at, paid)
    assert.deepEqual(
      [answer.status, await answer.json(), fake.acts],
      [202, { message_id: null, delivery_id: null, duplicate: false }, []],
    )
  })

  const unreadable: [name: string, body: string, headers: object, status: number, code: string][] =
    [
      [
        'a form',
        'a=1',
        { 'content-type': 'application/x-www-form-urlencoded' },
        415,
        'unsupported_media_type',
      ],
      ['deep JSON', '['.repeat(65), {}, 400, 'too_deep'],
    ]
  for (const [name, body, headers, status, code] of unreadable) {
    test(`${name} is ${status} ${code}`, async () => {
      const { fake, send } = opened()
      assert.deepEqual(await problemIn(await send(at, body, 'msg_one', headers)), [status, code])
      assert.deepEqual(fake.acts, [])
    })
  }

  test('while nothing can be stored it is 503, after the signature', async () => {
    const { fake, send, post } = opened()
    fake.state.degraded = { code: 'disk_full', message: 'The disk is full.', retry_after_s: 30 }
    const signed = await send(at, paid)
    const forged = await post(at, paid, {})
    assert.deepEqual(
      [signed.headers.get('retry-after'), await problemIn(signed), forged.status, fake.acts],
      ['30', [503, 'degraded'], 401, []],
    )
  })
})
