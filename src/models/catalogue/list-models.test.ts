import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listModels, type Listing } from './list-models.ts'
import type { WireKind } from '../../ports/provider.ts'

const kinds: Readonly<Record<WireKind, { path: string; header: [string, string]; body: object }>> =
  {
    anthropic: {
      path: '/models',
      header: ['x-api-key', 'k'],
      body: {
        data: [
          { id: 'one' },
          { id: '' },
          { name: 'no id' },
          { id: 'x'.repeat(201) },
          { id: 'two' },
        ],
      },
    },
    openai: {
      path: '/models',
      header: ['authorization', 'Bearer k'],
      body: { data: [{ id: 'one' }, { id: 'two' }] },
    },
    'openai-compatible': {
      path: '/models',
      header: ['authorization', 'Bearer k'],
      body: { data: [{ id: 'one' }, { id: 'two' }] },
    },
    google: {
      path: '/models?pageSize=200',
      header: ['x-goog-api-key', 'k'],
      body: { models: [{ name: 'models/one' }, { name: 'models/two' }] },
    },
  }

const base_url = 'http://127.0.0.1:9/v1/'

for (const [kind, { path, header, body }] of Object.entries(kinds)) {
  const where = { kind: kind as WireKind, base_url, key: 'k' }
  const answered = async (answer: () => Response | Promise<Response>) => {
    const asked: [string, Headers][] = []
    const listing = await listModels(
      where,
      async (url, init) => {
        asked.push([String(url), new Headers(init?.headers)])
        return answer()
      },
      new AbortController().signal,
    )
    return { listing, asked }
  }

  test(`${kind}: the models are asked for once, at its address, with its key`, async () => {
    const { listing, asked } = await answered(() => Response.json(body))
    assert.deepEqual(listing, { ok: true, models: ['one', 'two'] })
    const [one, ...more] = asked
    assert.equal(one?.[0], `http://127.0.0.1:9/v1${path}`)
    assert.equal(one?.[1].get(header[0]), header[1])
    assert.deepEqual(more, [])
  })

  const url = `http://127.0.0.1:9/v1${path}`
  const failed = (message: string, refused_key = false): Listing => {
    return { ok: false, refused_key, message }
  }
  const bad: [string, () => Response | Promise<Response>, Listing][] = [
    ['401', () => new Response('k', { status: 401 }), failed('the key is refused (401)', true)],
    ['403', () => new Response('k', { status: 403 }), failed('the key is refused (403)', true)],
    ['500', () => new Response('k', { status: 500 }), failed(`${url} answers 500`)],
    ['no JSON', () => new Response('<html>'), failed(`${url} answers no JSON`)],
    [
      'another document',
      () => Response.json({ models: 1, data: 'x' }),
      failed(`${url} answers something else than a list of models`),
    ],
    [
      'too long a list',
      () => new Response(`"${'x'.repeat(4 * 1024 * 1024)}"`),
      failed(`${url} answers more than a list of models`),
    ],
    [
      'nobody there',
      () => {
        throw new TypeError('fetch failed', {
          cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
        })
      },
      failed(`${url} does not answer: ECONNREFUSED`),
    ],
    [
      'a fault without a code',
      () => Promise.reject(new TypeError('fetch failed')),
      failed(`${url} does not answer: fetch failed`),
    ],
  ]
  for (const [what, answer, said] of bad) {
    test(`${kind}: ${what} is said, and no key with it`, async () => {
      assert.deepEqual((await answered(answer)).listing, said)
    })
  }
}

test('where no address is known nothing is asked', async () => {
  const never = () => assert.fail('it asked')
  const where = { kind: 'openai-compatible', base_url: null, key: null } as const
  const listing = await listModels(where, never, new AbortController().signal)
  assert.deepEqual(listing, { ok: false, refused_key: false, message: 'no address is given' })
})

test('a question that is given up rejects with the reason', async () => {
  const reason = new Error('enough')
  const where = { kind: 'openai', base_url, key: null } as const
  const gone = listModels(where, () => Promise.reject(reason), AbortSignal.abort(reason))
  await assert.rejects(gone, reason)
})

test('of an answer without end no more is read than a list of models may have', async () => {
  const piece = new Uint8Array(64 * 1_024).fill(0x20)
  let read = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (to) => {
      read += piece.length
      to.enqueue(piece)
    },
  })
  const where = { kind: 'openai' as const, base_url, key: null }
  const answer = () => Promise.resolve(new Response(body))
  const listing = await listModels(where, answer, new AbortController().signal)
  assert.match(listing.ok ? '' : listing.message, /answers more than a list of models$/)
  assert.ok(read < 5 * 1_024 * 1_024, `${read} bytes were read`)
})
