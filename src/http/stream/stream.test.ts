import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentFrame } from '../../protocol/live-frame.ts'
import { agentRow, fakeHome, problemIn, type FakeHome } from '../../testing/http/http-home.ts'
import { settle } from '../../testing/virtual-clock.ts'
import { httpLimits } from '../request/limits.ts'

const sse = { accept: 'text/event-stream' }
const fact = (n: number) => ({ type: 'agent_started', id: 'main', n })

function withEvents(count: number, agent = 'main'): FakeHome {
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  fake.put('agents', agentRow('other'))
  for (let n = 1; n <= count; n += 1) fake.commit(agent, fact(n))
  return fake
}

type Frame = { id?: string; event?: string; data?: string; comment?: string; retry?: string }

/** Reads frames off a stream as they come. */
function reading(answer: Response) {
  const reader = (answer.body ?? assert.fail('no body')).getReader()
  const decoder = new TextDecoder()
  let text = ''
  const frames = async (count: number): Promise<Frame[]> => {
    const found: Frame[] = []
    while (found.length < count) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        found.push(frameOf(text.slice(0, end)))
        text = text.slice(end + 2)
        continue
      }
      const { done, value } = await reader.read()
      if (done) return found
      text += decoder.decode(value, { stream: true })
    }
    return found
  }
  return { frames, cancel: () => reader.cancel() }
}

function frameOf(text: string): Frame {
  const lines = text.split('\n').map((line) => {
    const at = line.indexOf(':')
    return [line.slice(0, at) || 'comment', line.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(lines)
}

/** Opens a stream and passes over its greeting. */
async function open(fake: FakeHome, path: string, headers: Record<string, string> = {}) {
  const answer = await fake.ask(path, { headers: { ...sse, ...headers } })
  assert.equal(answer.status, 200)
  const stream = reading(answer)
  const greeting = await stream.frames(2)
  return { ...stream, greeting }
}

const ids = (frames: readonly Frame[]) => frames.map(({ id }) => id)

describe('GET /events as a page', () => {
  test('gives the events behind a seq, and the cursor that follows', async () => {
    const fake = withEvents(5)
    const answer = await fake.ask('/events?after=2&limit=2')
    assert.deepEqual(await answer.json(), { events: fake.events.slice(2, 4), next_cursor: 4 })
  })

  test('at the end it is empty, and the cursor stays where it is', async () => {
    const answer = await withEvents(5).ask('/events?after=5')
    assert.deepEqual(await answer.json(), { events: [], next_cursor: 5 })
  })

  test('pages backwards with `before`, to the oldest kept', async () => {
    const fake = withEvents(5)
    const pages = await Promise.all(
      ['/events?before=6&limit=3', '/events?before=3&limit=3'].map(async (path) =>
        (await fake.ask(path)).json(),
      ),
    )
    assert.deepEqual(pages, [
      { events: fake.events.slice(2, 5), next_cursor: 3 },
      { events: fake.events.slice(0, 2), next_cursor: null },
    ])
  })

  test("an agent has its own events, by the agent's seq", async () => {
    const fake = withEvents(2, 'other')
    fake.commit('main', fact(1))
    fake.commit('main', fact(2))
    const answer = await fake.ask('/agents/main/events?after=1')
    assert.deepEqual(await answer.json(), { events: [fake.events[3]], next_cursor: 2 })
  })

  const refused: [path: string, headers: Record<string, string>, status: number, code: string][] = [
    ['/events?after=x', {}, 400, 'invalid_cursor'],
    ['/events?after=-1', {}, 400, 'invalid_cursor'],
    ['/events?after=1.5', sse, 400, 'invalid_cursor'],
    ['/events?after=1', { ...sse, 'last-event-id': 'x' }, 400, 'invalid_cursor'],
    ['/events?before=', {}, 400, 'invalid_cursor'],
    ['/events?before=3', sse, 422, 'invalid_request'],
    ['/events?before=3&after=1', {}, 422, 'invalid_request'],
    ['/events?limit=0', {}, 422, 'invalid_request'],
    ['/events?limit=501', {}, 422, 'invalid_request'],
    ['/events?limit=x', {}, 422, 'invalid_request'],
    ['/agents/nobody/events', sse, 404, 'agent_not_found'],
    ['/agents/NOBODY/events', {}, 422, 'invalid_request'],
  ]
  for (const [path, headers, status, code] of refused) {
    test(`${path} ${'accept' in headers ? 'as a stream ' : ''}is ${status} ${code}`, async () => {
      const fake = withEvents(5)
      assert.deepEqual(await problemIn(await fake.ask(path, { headers })), [status, code])
    })
  }

  const gone: [name: string, path: string, first: number, status: number][] = [
    ['the last that is gone', '/events?after=2', 4, 410],
    ['just before the first kept', '/events?after=3', 4, 200],
    ['a home that was restored', '/events?after=6', 1, 410],
    ['no cursor, and the oldest are gone', '/events', 4, 200],
  ]
  for (const [name, path, first, status] of gone) {
    test(`${name}: ${status}, as a page and as a stream, with the way to a snapshot`, async () => {
      const fake = withEvents(5)
      fake.state.first = first
      for (const headers of [{}, sse]) {
        const answer = await fake.ask(path, { headers })
        const body = status === 410 ? ((await answer.json()) as { snapshot: string }) : null
        if (status === 200) await answer.body?.cancel()
        assert.deepEqual([answer.status, body?.snapshot], [status, body ? '/state' : undefined])
      }
    })
  }
})

describe('GET /events as a stream', () => {
  test('greets with how to come again and what time it is, then replays', async () => {
    const fake = withEvents(2)
    const { greeting, frames, cancel } = await open(fake, '/events')
    const at = fake.home.now()
    const replay = await frames(2)
    await cancel()
    assert.deepEqual(greeting, [
      { retry: '1000' },
      {
        comment: 'heartbeat',
        event: 'live',
        data: JSON.stringify({ kind: 'heartbeat', at }),
      },
    ])
    assert.deepEqual(
      replay,
      fake.events.map((event, n) => ({
        id: String(n + 1),
        event: 'agent_started',
        data: JSON.stringify(event),
      })),
    )
  })

  test('replays in pages and goes on live, without a gap or a repetition', async () => {
    const many = httpLimits.stream_page.value * 2 + 7
    const fake = withEvents(many)
    const { frames, cancel } = await open(fake, '/events?after=10')
    const first = await frames(100)
    for (let n = 0; n < 50; n += 1) fake.commit('main', fact(n))
    const rest = await frames(many - 110 + 50)
    fake.commit('main', fact(0))
    const live = await frames(1)
    await cancel()
    const wanted = Array.from({ length: many + 51 - 10 }, (_, n) => String(n + 11))
    assert.deepEqual(ids([...first, ...rest, ...live]), wanted)
  })

  test('commits while the ledger is being read are not lost', async () => {
    const fake = withEvents(1)
    const reads = { ...fake.home.reads }
    let during = 2
    fake.home.reads.events = async (page) => {
      const found = await reads.events(page)
      if (during > 0) fake.commit('main', fact((during -= 1)))
      return found
    }
    const { frames, cancel } = await open(fake, '/events')
    const found = await frames(3)
    await cancel()
    assert.deepEqual(ids(found), ['1', '2', '3'])
  })

  test('Last-Event-ID wins over `after`', async () => {
    const fake = withEvents(5)
    const { frames, cancel } = await open(fake, '/events?after=1', { 'last-event-id': '3' })
    const found = await frames(2)
    await cancel()
    assert.deepEqual(ids(found), ['4', '5'])
  })

  test("an agent's stream has the agent's seqs, and its live frames only", async () => {
    const fake = withEvents(3, 'other')
    const { frames, cancel } = await open(fake, '/agents/main/events')
    await settle()
    fake.tell({ kind: 'live', agent_id: 'other', frame: delta('other', 'not mine') })
    fake.commit('other', fact(4))
    fake.commit('main', fact(1))
    const [event] = await frames(1)
    fake.tell({ kind: 'live', agent_id: 'main', frame: delta('main', 'mine') })
    const [live] = await frames(1)
    await cancel()
    assert.equal(event?.id, '1')
    assert.deepEqual(live, { event: 'live', data: JSON.stringify(delta('main', 'mine')) })
  })

  test('live frames have no id, and follow the events that were committed before them', async () => {
    const fake = withEvents(0)
    const { frames, cancel } = await open(fake, '/events')
    fake.commit('main', fact(1))
    fake.tell({ kind: 'live', agent_id: 'main', frame: delta('main', 'a') })
    const found = await frames(2)
    await cancel()
    assert.deepEqual(
      found.map(({ id, event }) => [id, event]),
      [
        ['1', 'agent_started'],
        [undefined, 'live'],
      ],
    )
  })

  test('beats every 15 seconds, and notices then what nobody told it of', async () => {
    const fake = withEvents(0)
    const { frames, cancel } = await open(fake, '/events')
    await settle()
    fake.events.push(...withEvents(1).events)
    await fake.clock.advance(httpLimits.heartbeat.value)
    const found = await frames(2)
    await cancel()
    assert.deepEqual(
      found.map(({ id, comment }) => [id, comment]),
      [
        [undefined, 'heartbeat'],
        ['1', undefined],
      ],
    )
  })

  test('costs nothing when nobody listens: no subscription, no timer', async () => {
    const fake = withEvents(1)
    const streams = [await open(fake, '/events'), await open(fake, '/agents/main/events')]
    assert.deepEqual([fake.listeners(), fake.clock.nextDue()], [1, httpLimits.heartbeat.value])
    for (const { cancel } of streams) await cancel()
    assert.deepEqual([fake.listeners(), fake.clock.nextDue()], [0, null])
  })

  test('an idle stream reads the ledger once a beat and no more', async () => {
    const fake = withEvents(1)
    const { cancel } = await open(fake, '/events')
    await settle()
    fake.reads.length = 0
    await fake.clock.advance(httpLimits.heartbeat.value * 4)
    await cancel()
    assert.deepEqual(fake.reads, ['events', 'events', 'events', 'events'])
  })

  test('there is a most of streams, and one that ends makes room', async () => {
    const fake = withEvents(0)
    const streams: { cancel: () => Promise<void> }[] = []
    for (let n = 0; n < httpLimits.streams.value; n += 1) streams.push(await open(fake, '/events'))
    const refused = await fake.ask('/events', { headers: sse })
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.deepEqual(await problemIn(refused), [503, 'too_many_streams'])
    await streams[0]?.cancel()
    const next = await open(fake, '/events')
    for (const { cancel } of [...streams.slice(1), next]) await cancel()
    assert.equal(fake.listeners(), 0)
  })

  test('a server that closes ends its streams and opens none', async () => {
    const fake = withEvents(1)
    const { frames } = await open(fake, '/events')
    await frames(1)
    fake.app.close()
    assert.deepEqual(await frames(1), [])
    const late = await fake.ask('/events', { headers: sse })
    assert.deepEqual(await problemIn(late), [503, 'too_many_streams'])
  })

  test('a read that fails ends the stream and is told to the log', async () => {
    const fake = withEvents(1)
    const { frames } = await open(fake, '/events')
    await frames(1)
    const error = new Error('the ledger is gone')
    fake.state.fails = error
    fake.commit('main', fact(2))
    assert.deepEqual([await frames(1), fake.errors], [[], [['GET /events', error]]])
  })
})

describe('a slow client', () => {
  const big = { type: 'agent_started', id: 'main', text: 'x'.repeat(16_384) }
  const perBuffer = httpLimits.stream_buffer.value / 16_384

  test('costs one buffer and a page, however much there is to replay', async () => {
    const fake = withEvents(0)
    for (let n = 0; n < 4_000; n += 1) fake.commit('main', big)
    const answer = await fake.ask('/events', { headers: sse })
    await settle()
    assert.deepEqual(fake.reads.filter((name) => name === 'events').length, 1)
    await answer.body?.cancel()
  })

  test('is cut off when it takes nothing for a beat, and resumes where it was', async () => {
    const fake = withEvents(0)
    for (let n = 0; n < perBuffer * 2; n += 1) fake.commit('main', big)
    let cut = 0
    const answer = await fake.app.request(
      '/events',
      { headers: { ...sse, host: '127.0.0.1:7777', authorization: `Bearer ${fake.state.token}` } },
      { hang_up: () => (cut += 1) },
    )
    const { frames } = reading(answer)
    const seen = await frames(4)
    await settle()
    await fake.clock.advance(httpLimits.heartbeat.value)
    const afterOne = cut
    await fake.clock.advance(httpLimits.heartbeat.value)
    assert.deepEqual([afterOne, cut, fake.listeners()], [0, 1, 0])
    const last = seen.at(-1)?.id ?? ''
    const again = await open(fake, '/events', { 'last-event-id': last })
    const rest = await again.frames(3)
    await again.cancel()
    assert.deepEqual(
      [ids(seen).slice(2), ids(rest)],
      [
        ['1', '2'],
        ['3', '4', '5'],
      ],
    )
  })

  test('that takes a little between two beats goes on', async () => {
    const fake = withEvents(0)
    for (let n = 0; n < perBuffer * 3; n += 1) fake.commit('main', big)
    const { frames, cancel } = await open(fake, '/events')
    for (let n = 0; n < 6; n += 1) {
      await settle()
      await fake.clock.advance(httpLimits.heartbeat.value)
      await frames(2)
    }
    assert.equal(fake.listeners(), 1)
    await cancel()
  })

  test('is cut off rather than shown a text with a hole in it', async () => {
    const fake = withEvents(0)
    const { frames } = await open(fake, '/events')
    await settle()
    const frame = delta('main', 'x'.repeat(16_384))
    for (let n = 0; n < perBuffer * 3; n += 1) fake.tell({ kind: 'live', agent_id: 'main', frame })
    await assert.rejects(frames(perBuffer * 3), /too slow/)
    assert.equal(fake.listeners(), 0)
  })
})

const delta = (agent_id: string, text: string): AgentFrame => ({
  kind: 'reasoning_delta',
  agent_id,
  turn_id: 'turn_0001',
  round: 1,
  text,
})
