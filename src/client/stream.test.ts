import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from '../testing/virtual-clock.ts'
import { Api, type FetchInit } from './api.ts'
import { follow, type StreamItem } from './stream.ts'

/** What one connection gives: pieces of text, then its end, or an error, or nothing more. */
type Connection = { pieces: string[]; end: 'ends' | 'breaks' | 'hangs' } | Response | Error

const frame = (seq: number) => `id: ${seq}\nevent: message_admitted\ndata: {"seq":${seq}}\n\n`
const live = 'event: live\ndata: {"kind":"heartbeat","at":"2026-01-05T09:00:00.000Z"}\n\n'

function response(
  { pieces, end }: Exclude<Connection, Response | Error>,
  signal: AbortSignal,
): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      if (end === 'ends') controller.close()
      if (end === 'hangs') signal.addEventListener('abort', () => controller.error(signal.reason))
    },
    pull(controller) {
      if (end === 'breaks') controller.error(new TypeError('terminated'))
    },
  })
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } })
}

function given(...connections: Connection[]) {
  const clock = virtualClock()
  const asked: (string | undefined)[] = []
  const fetch = (_: string, { headers, signal }: FetchInit): Promise<Response> => {
    asked.push(headers['last-event-id'])
    const next = connections.shift()
    if (next === undefined) return Promise.reject(new TypeError('fetch failed'))
    if (next instanceof Error) return Promise.reject(next)
    return Promise.resolve(next instanceof Response ? next : response(next, signal))
  }
  const ports = { fetch, clock, mint_key: () => 'k', token: () => Promise.resolve('t') }
  const api = new Api(ports, { base_url: 'http://x' })
  return { api, ports, clock, asked }
}

/** Follows until the stream ends by itself; time passes while it pauses. */
async function all(
  from: ReturnType<typeof given>,
  until: (item: StreamItem) => boolean = () => false,
): Promise<StreamItem[]> {
  const stop = new AbortController()
  const items: StreamItem[] = []
  const state = { done: false }
  const reading = (async () => {
    const options = { path: '/events', after: 4, signal: stop.signal, tries: 3 }
    for await (const item of follow(from.api, from.ports, options)) {
      items.push(item)
      if (until(item)) stop.abort()
    }
  })().finally(() => (state.done = true))
  while (!state.done) await from.clock.advance(50)
  await reading
  return items
}

const seqs = (items: readonly StreamItem[]) =>
  items.flatMap((item) => (item.kind === 'event' ? [item.seq] : []))

test('events come in order with their seq, and live frames between them', async () => {
  const from = given({ pieces: [': hello\n\n', frame(5), live, frame(6)], end: 'hangs' })
  const items = await all(from, (item) => item.kind === 'event' && item.seq === 6)
  assert.deepEqual(items, [
    { kind: 'open' },
    { kind: 'event', seq: 5, event: { seq: 5 } },
    { kind: 'live', frame: { kind: 'heartbeat', at: '2026-01-05T09:00:00.000Z' } },
    { kind: 'event', seq: 6, event: { seq: 6 } },
  ])
})

test('a frame cut anywhere is whole again, and letters of several bytes too', async () => {
  const text = `id: 5\nevent: x\ndata: {"text":"ä€😀"}\n\n`
  const bytes = new TextEncoder().encode(text)
  for (let cut = 1; cut < bytes.length; cut++) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, cut))
        controller.enqueue(bytes.slice(cut))
        controller.close()
      },
    })
    const from = given(new Response(body, { status: 200 }))
    const items = await all(from, (item) => item.kind === 'event')
    assert.deepEqual(items.at(-1), { kind: 'event', seq: 5, event: { text: 'ä€😀' } }, `at ${cut}`)
  }
})

test('an event has come though what follows it in the same piece cannot be read', async () => {
  const unreadable = 'id: 6\ndata: {"cut\n\n'
  const from = given(
    { pieces: [frame(5) + unreadable], end: 'hangs' },
    { pieces: [frame(6)], end: 'hangs' },
  )
  const items = await all(from, (item) => item.kind === 'event' && item.seq === 6)
  assert.deepEqual(seqs(items), [5, 6])
  assert.deepEqual(from.asked, ['4', '5'])
})

test('a broken connection is resumed behind the last event, none lost or repeated', async () => {
  const from = given(
    { pieces: [frame(5), frame(6).slice(0, 12)], end: 'breaks' },
    new TypeError('fetch failed'),
    { pieces: [frame(6), frame(7)], end: 'ends' },
    { pieces: [frame(8)], end: 'hangs' },
  )
  const items = await all(from, (item) => item.kind === 'event' && item.seq === 8)
  assert.deepEqual(seqs(items), [5, 6, 7, 8])
  assert.deepEqual(from.asked, ['4', '5', '5', '7'])
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'broken' ? [item.pause_ms] : [])),
    [100, 200, 100],
  )
})

test('a connection that falls silent for three heartbeats is given up and opened again', async () => {
  const from = given({ pieces: [frame(5)], end: 'hangs' }, { pieces: [frame(6)], end: 'hangs' })
  const items = await all(from, (item) => item.kind === 'event' && item.seq === 6)
  assert.deepEqual(seqs(items), [5, 6])
  assert.deepEqual(
    items.flatMap((item) => (item.kind === 'broken' ? [item.message] : [])),
    ['timeout'],
  )
})

describe('what ends a stream', () => {
  const answer = (status: number, code: string, more: object = {}) =>
    new Response(JSON.stringify({ code, status, detail: code, ...more }), { status })
  const cases: [name: string, connections: Connection[], last: unknown, tries: number][] = [
    [
      'history that is gone names the snapshot',
      [answer(410, 'events_pruned', { snapshot: '/state' })],
      { kind: 'reload', snapshot: '/state' },
      1,
    ],
    ['a token that is wrong', [answer(401, 'unauthorized')], ['ended', 'problem'], 1],
    [
      'a server that stays busy',
      [answer(503, 'not_ready'), answer(503, 'not_ready'), answer(503, 'not_ready')],
      ['ended', 'problem'],
      3,
    ],
    ['nobody there any more', [], ['ended', 'unreachable'], 3],
  ]
  for (const [name, connections, last, tries] of cases) {
    test(name, async () => {
      const from = given(...connections)
      const end = (await all(from)).at(-1)
      const told = end?.kind === 'ended' ? [end.kind, end.failure.kind] : end
      assert.deepEqual([told, from.asked.length], [last, tries])
    })
  }
})
