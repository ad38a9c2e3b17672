import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Hono } from 'hono'
import { problemIn } from '../../testing/http/http-home.ts'
import type { HttpEnv } from './app-env.ts'
import { receiptOf } from './idempotency.ts'

type Given = { key?: string; agent?: string; route?: string; path?: string; body?: string }

/** What a request makes of its key, in an application that does nothing else. */
async function receiptFor({
  key,
  agent = 'main',
  route = 'POST /a',
  path = '/a',
  body = '{}',
}: Given) {
  const app = new Hono<HttpEnv>().post('*', (c) => {
    c.set('body', new TextEncoder().encode(body))
    const made = receiptOf(c, agent, route)
    return made.ok ? c.json(made.receipt ?? null) : made.refusal
  })
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  return app.request(path, { method: 'POST', headers })
}

const read = async (given: Given) =>
  (await (await receiptFor(given)).json()) as { id: string; request_sha256: string }

describe('Idempotency-Key', () => {
  test('without one there is no receipt', async () => {
    assert.equal(await read({}), null)
  })

  test('agent, route and key make the id; path and body the hash', async () => {
    const base = await read({ key: 'k' })
    assert.match(base.id, /^rcpt_[0-9a-f]{64}$/)
    const same = (other: { id: string; request_sha256: string }) => [
      other.id === base.id,
      other.request_sha256 === base.request_sha256,
    ]
    const changed = [
      {},
      { key: 'l' },
      { agent: 'b' },
      { route: 'POST /b' },
      { path: '/b' },
      { body: '{ }' },
    ]
    const found = await Promise.all(
      changed.map(async (more) => same(await read({ key: 'k', ...more }))),
    )
    assert.deepEqual(found, [
      [true, true],
      [false, true],
      [false, true],
      [false, true],
      [true, false],
      [true, false],
    ])
  })

  const keys: [name: string, key: string, status: number][] = [
    ['one character', '!', 200],
    ['255 characters', 'k'.repeat(255), 200],
    ['256 characters', 'k'.repeat(256), 400],
    ['nothing', '', 400],
    ['a blank inside', 'a b', 400],
    ['a letter beyond ASCII', 'caf\u00e9', 400],
  ]
  for (const [name, key, status] of keys) {
    test(`a key of ${name} is ${status}`, async () => {
      const answer = await receiptFor({ key })
      if (status === 200) assert.equal(answer.status, 200)
      else assert.deepEqual(await problemIn(answer), [400, 'invalid_idempotency_key'])
    })
  }
})
