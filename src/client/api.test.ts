import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from '../testing/virtual-clock.ts'
import {
  Api,
  mayHaveArrived,
  pages,
  undoneSentence,
  type ApiResult,
  type ApiCall,
  type FetchInit,
} from './api.ts'

type Seen = { url: string; method: string; headers: Record<string, string>; body?: string }
type Step = Response | Error | 'silence'

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers })

const problem = (status: number, code: string, headers: Record<string, string> = {}) =>
  json(
    status,
    { type: `urn:holon:problem:${code}`, code, status, detail: `It is ${code}.` },
    headers,
  )

const socketError = (code: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

/** An API over scripted answers; the last one is given again and again. */
function given(...steps: Step[]) {
  const clock = virtualClock()
  const seen: Seen[] = []
  const api = new Api(
    {
      fetch: async (url, { signal, ...init }: FetchInit) => {
        seen.push({ url, ...init })
        const step = steps.length > 1 ? steps.shift() : steps[0]
        if (step instanceof Response) return step.clone()
        if (step instanceof Error) throw step
        signal.throwIfAborted()
        const never = Promise.withResolvers<Response>()
        signal.addEventListener('abort', () => never.reject(signal.reason as Error))
        return never.promise
      },
      clock,
      mint_key: () => 'key-1',
      token: () => Promise.resolve('secret'),
    },
    { base_url: 'http://127.0.0.1:7777/', patience_ms: 1_000 },
  )
  return { api, clock, seen }
}

/** Lets time pass until the answer is there. */
async function soon<T>(clock: ReturnType<typeof virtualClock>, answer: Promise<T>): Promise<T> {
  const state = { done: false }
  const watched = answer.finally(() => (state.done = true))
  while (!state.done) await clock.advance(100)
  return watched
}

test('a call sends the token, its query and its body, and the value comes back', async () => {
  const { api, seen } = given(json(200, { agents: [] }))
  const call: ApiCall = {
    method: 'PATCH',
    path: '/agents/main',
    query: { limit: 5, cursor: undefined },
    body: { model: 'a/b' },
  }
  assert.deepEqual(await api.call(call), { ok: true, value: { agents: [] }, status: 200 })
  assert.deepEqual(seen, [
    {
      url: 'http://127.0.0.1:7777/agents/main?limit=5',
      method: 'PATCH',
      headers: {
        accept: 'application/json, application/problem+json',
        authorization: 'Bearer secret',
        'content-type': 'application/json',
      },
      body: '{"model":"a/b"}',
    },
  ])
})

describe('what comes back instead of a value', () => {
  const cases: [name: string, step: Step, failure: unknown][] = [
    [
      'a problem document',
      problem(409, 'turn_running'),
      { kind: 'problem', status: 409, code: 'turn_running', retry_after_ms: null },
    ],
    [
      'something that is no API',
      new Response('<html>', { status: 200 }),
      { kind: 'foreign', status: 200, message: 'it answered 200 without JSON' },
    ],
    [
      'nobody who listens',
      socketError('ECONNREFUSED'),
      { kind: 'unreachable', status: null, message: 'ECONNREFUSED', refused: true },
    ],
    ['no answer in time', 'silence', { kind: 'timeout', status: null, after_ms: 1_000 }],
  ]
  for (const [name, step, wanted] of cases) {
    test(`${name} is a value, told once`, async () => {
      const { api, clock, seen } = given(step)
      const answer = await soon(clock, api.get('/agents'))
      assert.ok(!answer.ok)
      const { failure } = answer
      const told =
        failure.kind === 'problem'
          ? { ...failure, problem: undefined, code: failure.problem.code }
          : failure
      assert.deepEqual(JSON.parse(JSON.stringify(told)), wanted)
      assert.equal(seen.length, 1)
    })
  }

  test('a call that the caller gives up is aborted', async () => {
    const { api } = given('silence')
    const giveUp = new AbortController()
    const answer = api.get('/agents', {}, giveUp.signal)
    giveUp.abort()
    assert.deepEqual(await answer, { ok: false, failure: { kind: 'aborted', status: null } })
  })
})

describe('a call is sent again only where that can do no harm', () => {
  const busy = problem(503, 'degraded', { 'retry-after': '2' })
  const cases: [name: string, steps: Step[], call: ApiCall, sent: number, ok: boolean][] = [
    ['a read of a busy server', [busy, busy, json(200, 1)], { method: 'GET', path: '/a' }, 3, true],
    ['at most three times', [busy], { method: 'GET', path: '/a' }, 3, false],
    ['a write without a key', [busy, json(200, 1)], { method: 'POST', path: '/a' }, 1, false],
    [
      'a write with a key',
      [socketError('ECONNRESET'), json(202, 1)],
      { method: 'POST', path: '/a', idempotency_key: 'k' },
      2,
      true,
    ],
    [
      'not when it shall come back in an hour',
      [problem(429, 'locked_out', { 'retry-after': '3600' }), json(200, 1)],
      { method: 'GET', path: '/a' },
      1,
      false,
    ],
    [
      'not when it is refused',
      [problem(404, 'not_found')],
      { method: 'GET', path: '/a' },
      1,
      false,
    ],
  ]
  for (const [name, steps, call, sent, ok] of cases) {
    test(name, async () => {
      const { api, clock, seen } = given(...steps)
      const answer: ApiResult<unknown> = await soon(clock, api.call(call))
      assert.deepEqual([answer.ok, seen.length], [ok, sent])
    })
  }

  test('with the same key each time, and the pause the server asked for', async () => {
    const { api, clock, seen } = given(busy, json(202, { message_id: 'msg_1' }))
    const answer = api.create({ method: 'POST', path: '/agents/main/messages', body: {} })
    await clock.advance(1_900)
    assert.equal(seen.length, 1)
    await soon(clock, answer)
    assert.deepEqual(
      seen.map(({ headers }) => headers['idempotency-key']),
      ['key-1', 'key-1'],
    )
  })
})

test('a list is read page by page until there is no cursor', async () => {
  const { api, seen } = given(
    json(200, { briefs: [1], next_cursor: 'b' }),
    json(200, { briefs: [2], next_cursor: null }),
  )
  const found: number[] = []
  for await (const page of pages<{ briefs: number[]; next_cursor: string | null }>(
    api,
    '/agents/main/briefs',
    { limit: 1 },
  )) {
    assert.ok(page.ok)
    found.push(...page.value.briefs)
  }
  assert.deepEqual(found, [1, 2])
  assert.deepEqual(
    seen.map(({ url }) => url.slice(url.indexOf('?'))),
    ['?limit=1', '?limit=1&cursor=b'],
  )
})

describe('a write one try of which may have arrived', () => {
  const reset = socketError('ECONNRESET')
  const cases: [name: string, steps: Step[], kind: string, mayHave: boolean][] = [
    ['that nobody listens afterwards', [reset, socketError('ECONNREFUSED')], 'unreachable', true],
    ['that a standby answers', [reset, problem(503, 'unresponsive')], 'unreachable', true],
    ['that the server is busy', [reset, problem(429, 'locked_out')], 'unreachable', true],
    ['that its receipt says no', [reset, problem(409, 'turn_running')], 'problem', false],
    ['that a standby answers from the first', [problem(503, 'unresponsive')], 'problem', false],
    ['that nobody ever listened', [socketError('ECONNREFUSED')], 'unreachable', false],
    ['that a bug ended', [problem(500, 'internal')], 'problem', true],
    ['without any answer', ['silence'], 'timeout', true],
    ['that something else answered', [new Response('<html>', { status: 200 })], 'foreign', true],
    ['that something else refused', [new Response('<html>', { status: 404 })], 'foreign', false],
  ]
  for (const [name, steps, kind, mayHave] of cases) {
    test(`${name}: ${mayHave ? 'nobody says that it did not' : 'it did not'}`, async () => {
      const { api, clock } = given(...steps)
      const call: ApiCall = { method: 'POST', path: '/a', body: {}, idempotency_key: 'k' }
      const answer = await soon(clock, api.call(call))
      assert.ok(!answer.ok)
      assert.equal(answer.failure.kind, kind)
      assert.equal(mayHaveArrived(answer.failure), mayHave)
      assert.equal(undoneSentence(answer.failure).startsWith('it may have arrived: '), mayHave)
    })
  }
})
