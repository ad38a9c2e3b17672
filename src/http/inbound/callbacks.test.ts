import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../domain/limits.ts'
import { agentRow, done, fakeHome, problemIn, triggerRow } from '../../testing/http/http-home.ts'

const token = 'a-token-of-forty-three-characters-0123456789'
const at = `/callbacks/${token}`
const asJson = { 'content-type': 'application/json' }

/** A home with one trigger; the control token is not sent along. */
function opened() {
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  fake.put('triggers', triggerRow('main', token))
  fake.state.reply = () => done({ message_id: 'msg_0001', id: 'dlv_0001' })
  const post = (path: string, init: RequestInit = {}) =>
    fake.ask(path, {
      method: 'POST',
      ...init,
      headers: { authorization: '', ...(init.headers as Record<string, string>) },
    })
  return { fake, post }
}

const delivered = {
  do: 'deliver',
  agent_id: 'main',
  via: { kind: 'trigger', trigger_id: 'trig_0001' },
}

describe('POST /callbacks/{token}', () => {
  test('is accepted with the ids of what was stored', async () => {
    const { post } = opened()
    const answer = await post(at)
    assert.deepEqual(
      [answer.status, await answer.json()],
      [202, { message_id: 'msg_0001', delivery_id: 'dlv_0001', duplicate: false }],
    )
  })

  const body = JSON.stringify({ source: 'ci', resource: 'build/7', ok: true })
  const shapes: [name: string, path: string, init: RequestInit, act: object][] = [
    ['nothing at all', at, {}, { body: '' }],
    [
      'names in the query',
      `${at}?source=ci&resource=build%2F7`,
      {},
      { body: '', source: 'ci', resource: 'build/7' },
    ],
    [
      'the same names in a JSON body',
      at,
      { body, headers: asJson },
      { body, source: 'ci', resource: 'build/7', content_type: 'application/json' },
    ],
    [
      'other names in the query, which win',
      `${at}?resource=build/8`,
      { body, headers: asJson },
      { body, source: 'ci', resource: 'build/8', content_type: 'application/json' },
    ],
    [
      'a JSON body that is no object',
      at,
      { body: '[1]', headers: { 'content-type': 'application/vnd.ci+json; charset=utf-8' } },
      { body: '[1]', content_type: 'application/vnd.ci+json; charset=utf-8' },
    ],
    [
      'names that are no texts',
      at,
      { body: '{"source":7,"resource":{}}', headers: asJson },
      { body: '{"source":7,"resource":{}}', content_type: 'application/json' },
    ],
    [
      'plain text',
      at,
      { body: 'it is done', headers: { 'content-type': 'text/plain' } },
      { body: 'it is done', content_type: 'text/plain' },
    ],
    [
      'an id of the sender',
      at,
      { headers: { 'idempotency-key': 'evt-7' } },
      { body: '', sender_id: 'evt-7' },
    ],
    [
      'a webhook-id',
      at,
      { headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' } },
      { body: '', sender_id: 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    ],
  ]
  for (const [name, path, init, more] of shapes) {
    test(`takes ${name}`, async () => {
      const { fake, post } = opened()
      const answer = await post(path, init)
      assert.deepEqual([answer.status, fake.acts], [202, [{ ...delivered, ...more }]])
    })
  }

  test('a duplicate is answered with the first, and says so', async () => {
    const { fake, post } = opened()
    const warnings = [{ kind: 'duplicate', message: 'It came before.' }]
    fake.state.reply = () => done({ message_id: 'msg_0001', id: 'dlv_0001', warnings })
    const answer = await post(at, { headers: { 'idempotency-key': 'evt-7' } })
    assert.deepEqual(
      [answer.status, await answer.json()],
      [202, { message_id: 'msg_0001', delivery_id: 'dlv_0001', duplicate: true }],
    )
  })

  test('unknown, revoked, private, deleted and gone are one and the same 404', async () => {
    const gone: ((fake: ReturnType<typeof fakeHome>) => void)[] = [
      (fake) => fake.rows.clear(),
      (fake) => fake.put('triggers', triggerRow('main', token, { status: 'revoked' })),
      (fake) => fake.put('triggers', triggerRow('main', 'another token')),
      (fake) => fake.put('agents', agentRow('main', { visibility: 'private' })),
      (fake) => fake.put('agents', agentRow('main', { state: 'deleted' })),
      (fake) => {
        const message = 'trig_0001 was revoked just now.'
        fake.state.reply = () => ({ ok: false, code: 'trigger_not_found', message, hint: '' })
      },
    ]
    const texts = await Promise.all(
      gone.map(async (change) => {
        const { fake, post } = opened()
        change(fake)
        const answer = await post(at)
        const headers = [...answer.headers].filter(([name]) => name !== 'date')
        return JSON.stringify([answer.status, headers, await answer.text()])
      }),
    )
    assert.equal(new Set(texts).size, 1, texts.join('\n'))
    assert.match(texts[0] ?? '', /^\[404/)
  })

  const long = 'x'.repeat(limits.event_name.value + 1)
  const refused: [name: string, path: string, init: RequestInit, status: number, code: string][] = [
    [
      'a form',
      at,
      { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
    ],
    ['a body of no type', at, { body: Uint8Array.of(1) }, 415, 'unsupported_media_type'],
    ['no JSON', at, { body: '{', headers: asJson }, 400, 'not_json'],
    ['deep JSON', at, { body: '['.repeat(65) + ']'.repeat(65), headers: asJson }, 400, 'too_deep'],
    [
      'text that is not UTF-8',
      at,
      { body: Uint8Array.of(0xff), headers: { 'content-type': 'text/plain' } },
      400,
      'bad_request',
    ],
    ['a long name', `${at}?source=${long}`, {}, 422, 'invalid_request'],
    ['an empty name', `${at}?resource=`, {}, 422, 'invalid_request'],
    [
      'a long name in the body',
      at,
      { body: JSON.stringify({ source: long }), headers: asJson },
      422,
      'invalid_request',
    ],
    [
      'an id with a blank',
      at,
      { headers: { 'idempotency-key': 'a b' } },
      400,
      'invalid_idempotency_key',
    ],
    [
      'a long id',
      at,
      { headers: { 'idempotency-key': 'x'.repeat(256) } },
      400,
      'invalid_idempotency_key',
    ],
    ['another method', at, { method: 'PATCH' }, 405, 'method_not_allowed'],
  ]
  for (const [name, path, init, status, code] of refused) {
    test(`refuses ${name} with ${status} ${code}, and nothing is stored`, async () => {
      const { fake, post } = opened()
      assert.deepEqual(await problemIn(await post(path, init)), [status, code])
      assert.deepEqual(fake.acts, [])
    })
  }

  test('while nothing can be stored it says when to come again', async () => {
    const { fake, post } = opened()
    fake.state.degraded = { code: 'disk_full', message: 'The disk is full.', retry_after_s: 30 }
    const answer = await post(at)
    assert.deepEqual(
      [answer.headers.get('retry-after'), await problemIn(answer), fake.acts],
      ['30', [503, 'degraded'], []],
    )
  })

  test('a full queue is 429 with a time to come again', async () => {
    const { fake, post } = opened()
    fake.state.reply = () => ({ ok: false, code: 'queue_full', message: 'Full.', hint: 'Later.' })
    const answer = await post(at)
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
    assert.deepEqual(await problemIn(answer), [429, 'queue_full'])
  })

  test('what is nearly the token is another one', async () => {
    const { fake, post } = opened()
    const variants = [
      token.slice(1),
      `${token}x`,
      token.toUpperCase(),
      `${token}%00`,
      `%20${token}`,
    ]
    for (const variant of variants) {
      assert.equal((await post(`/callbacks/${variant}`)).status, 404, variant)
    }
    assert.deepEqual(fake.acts, [])
  })
})
