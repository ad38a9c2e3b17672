/**
 * How long a request may be silent, slow or open: one table, and what shows life on a real wire.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { serveLoopback } from '../testing/http/loopback.ts'
import { asks, handClock, hear } from '../testing/model-server/client.ts'
import { keptAliveFetch, type FetchFunction } from './transport/fetch.ts'
import type { ModelRequest } from './model.ts'
import { openModel, type ProviderSetting } from './catalogue/open-model.ts'
import { Patience } from './patience.ts'

const limits = { first_ms: 600, idle_ms: 120, open_ms: 300, total_ms: 3_000 }

/** At a time: bytes, or a part with its characters, inside a thought or call or not. */
type Sign = readonly [at: number, sign: 'bytes' | number, isOpen?: boolean]

test('when patience ends, and why', () => {
  const table: readonly (readonly [string, readonly Sign[], string, number])[] = [
    ['nothing ever', [], 'silent', 600],
    ['comments before the answer', [[500, 'bytes']], 'silent', 1_100],
    [
      'comments in the answer',
      [
        [100, 4],
        [200, 'bytes'],
      ],
      'silent',
      220,
    ],
    ['an announced part', [[100, 0]], 'silent', 220],
    [
      'a trickle',
      [
        [10, 8],
        [100, 8],
        [120, 8],
      ],
      'slow',
      130,
    ],
    [
      'enough in time',
      [
        [10, 8],
        [100, 80],
      ],
      'silent',
      220,
    ],
    ['a thought', [[10, 8, true]], 'silent', 310],
    [
      'comments in a thought',
      [
        [10, 8, true],
        [200, 'bytes'],
      ],
      'silent',
      310,
    ],
    [
      'behind a thought',
      [
        [10, 8, true],
        [250, 0],
      ],
      'silent',
      370,
    ],
    [
      'in a call',
      [
        [10, 80],
        [20, 0, true],
      ],
      'silent',
      320,
    ],
  ]
  for (const [name, signs, is, end] of table) {
    const patience = new Patience(limits, 0)
    let open = false
    for (const [at, sign, isOpen = false] of signs) {
      if (sign === 'bytes') patience.bytes(at)
      else patience.part(at, sign, (open = isOpen))
    }
    assert.equal(patience.look(end - 1, open).is, 'patient', `${name}, a moment before`)
    assert.equal(patience.look(end, open).is, is, name)
  }
})

test('a request that goes on and on ends at its limit', () => {
  const patience = new Patience(limits, 0)
  for (let at = 0; at < 3_000; at += 50) patience.part(at, 400, false)
  assert.deepEqual(patience.look(2_960, false), { is: 'patient', left_ms: 40 })
  assert.deepEqual(patience.look(3_000, false), { is: 'too_long', after_ms: 3_000 })
})

/** A server that takes one request and sends what the test tells it to. */
async function silent(t: TestContext, setting: Partial<ProviderSetting> = {}) {
  const taken = Promise.withResolvers<ServerResponse>()
  const client = keptAliveFetch()
  t.after(() => client.close())
  const { port } = await serveLoopback(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    taken.resolve(response)
  })
  const base_url = `http://127.0.0.1:${port}/v1`
  const providers = { local: { kind: 'openai-compatible', base_url, ...setting } as const }
  const settings = { providers, env: {}, read_file: () => Promise.reject(new Error()) }
  const clock = handClock()
  /** Resolved when the time is asked for: each piece that arrives does. */
  let arrived = Promise.withResolvers<void>()
  const opened = await openModel('local/any', settings, { clock, fetch: client.fetch })
  assert.ok(opened.ok)
  const now = clock.now.bind(clock)
  clock.now = () => {
    arrived.resolve()
    return now()
  }
  const asked = hear(opened.model, asks('local/any'))
  const response = await taken.promise
  const sends = async (text: string) => {
    arrived = Promise.withResolvers<void>()
    response.write(text)
    await arrived.promise
  }
  return { clock, asked, sends }
}

const minute = 60_000

test('a server on this machine may read its prompt for half an hour', async (t) => {
  const { clock, asked } = await silent(t)
  clock.advance(30 * minute - 1)
  assert.equal(clock.pending(), 1)
  clock.advance(1)
  const { outcome } = await asked
  assert.equal(!outcome.ok && outcome.fault.message, 'local sent nothing for 1800 seconds.')
})

test('comments show life until the answer begins', { timeout: 20_000 }, async (t) => {
  const { clock, asked, sends } = await silent(t)
  for (let n = 0; n < 2; n += 1) {
    clock.advance(20 * minute)
    await sends(': PROCESSING\n\n')
  }
  clock.advance(20 * minute)
  const { outcome } = await asked
  assert.equal(!outcome.ok && outcome.fault.code, 'too_slow', 'an hour is the limit of all')
})

/** A provider on another machine that takes the request and never says anything. */
async function elsewhere(more: Partial<ModelRequest> = {}) {
  const taken = Promise.withResolvers<void>()
  const fetch: FetchFunction = (_, init) => {
    taken.resolve()
    const { promise, reject } = Promise.withResolvers<never>()
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
    return promise
  }
  const acme = { kind: 'openai-compatible', base_url: 'https://models.test/v1' } as const
  const settings = {
    providers: { acme: { ...acme, api_key_env: 'K' } },
    env: { K: 'a-key' },
    read_file: () => Promise.reject(new Error()),
  }
  const clock = handClock()
  const opened = await openModel('acme/any', settings, { clock, fetch })
  assert.ok(opened.ok)
  const asked = hear(opened.model, asks('acme/any', more))
  await taken.promise
  return { clock, asked }
}

test('a provider elsewhere has ten minutes for the first sign of its answer', async () => {
  const { clock, asked } = await elsewhere()
  clock.advance(10 * minute - 1)
  assert.equal(clock.pending(), 1)
  clock.advance(1)
  assert.equal(clock.pending(), 0, 'it is given up')
  const { outcome } = await asked
  assert.equal(!outcome.ok && outcome.fault.message, 'acme sent nothing for 600 seconds.')
})

test('a request has the minutes that are set for its model, and no more', async () => {
  const { clock, asked } = await elsewhere({ time_limit_ms: 5 * minute })
  clock.advance(5 * minute - 1)
  assert.equal(clock.pending(), 1)
  clock.advance(1)
  assert.equal(clock.pending(), 0, 'it is given up')
  const { outcome } = await asked
  const { code, message } = outcome.ok ? { code: null, message: null } : outcome.fault
  assert.deepEqual([code, message], ['too_slow', 'acme did not end its answer within 5 minutes.'])
})

test('a provider may be given less patience, or more', async (t) => {
  const { clock, asked } = await silent(t, { stream_idle: 30 })
  clock.advance(30_000)
  const { outcome } = await asked
  assert.equal(!outcome.ok && outcome.fault.message, 'local sent nothing for 30 seconds.')
})
