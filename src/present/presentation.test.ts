/**
 * The reducer over histories that the real rules made: what a thread shows at its three levels, and
 * that no way in which events arrive changes it.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { StoredEvent } from '../protocol/records/records.ts'
import { hostileTexts, linesOf, scenes } from '../testing/screens/scenes.ts'
import { aState } from '../testing/screens/state.ts'
import type { Entry, Level } from './entries/entry.ts'
import { bounds } from './history/limits.ts'
import { apply, open, thread, wants, type Presentation } from './presentation.ts'

const names = Object.keys(scenes)
const levels: readonly Level[] = [1, 2, 3]

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'fixtures', `${name}.jsonl`), 'utf8')
const eventsIn = (name: string): StoredEvent[] =>
  fixture(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as StoredEvent)

const watching = (): Presentation => apply(open(aState()), { kind: 'watch', agent_id: 'main' })
const whole = (events: readonly StoredEvent[]): Presentation =>
  apply(watching(), { kind: 'events', events })
const views = (p: Presentation) => levels.map((level) => thread(p, 'main', null, level))

/** An entry as a screen would write it, without its colours. */
function drawn(entry: Entry, depth = 0): string[] {
  const { at, mark, who, title, facts, since, due, body, children } = entry
  const times = [since && `since ${since.slice(11, 19)}`, due && `due ${due.slice(11, 19)}`]
  const right = [...facts, ...times.filter((time) => time)].join('; ')
  const left = [at.slice(11, 19), mark ?? '-', who, title].filter((part) => part !== '').join(' ')
  const indent = '  '.repeat(depth)
  return [
    `${indent}${left}${right === '' ? '' : `  [${right}]`}`,
    ...body.map((line) => `${indent}      ${line}`),
    ...children.flatMap((child) => drawn(child, depth + 1)),
  ]
}

describe('fixtures', () => {
  for (const name of names) {
    test(`${name}: the file has what the rules make today`, () => {
      assert.equal(
        fixture(name),
        linesOf(name),
        'node src/testing/screens/write-scenes.ts writes it',
      )
    })
    for (const level of levels.filter((of) => name !== 'long-turn' || of === 1)) {
      test(`${name}: level ${level}`, (t) => {
        const lines = thread(whole(eventsIn(name)), 'main', null, level).flatMap((one) =>
          drawn(one),
        )
        t.assert.snapshot(lines)
      })
    }
  }
})

/** Tokens in, of them from a cache, and out; and what the record of the request says of them. */
const counted: readonly [tokens: (number | null)[], facts: string[]][] = [
  [
    [900, 450, 20],
    ['900 in', '50 % cached', '20 out'],
  ],
  [
    [900, 0, 20],
    ['900 in', '0 % cached', '20 out'],
  ],
  [
    [0, 0, 0],
    ['0 in', '0 out'],
  ],
  [
    [0, null, 20],
    ['0 in', '20 out'],
  ],
  [[900, null, null], ['900 in']],
  [[null, 450, 20], ['20 out']],
  [[null, null, null], []],
]
for (const [tokens, said] of counted) {
  test(`a request of ${tokens.map((n) => n ?? 'unknown').join(', ')} tokens says what is known`, () => {
    const [input_tokens, cached_input_tokens, output_tokens] = tokens
    const events = eventsIn('first-objective').map((stored) => {
      const { event } = stored
      if (event.type !== 'round_recorded') return stored
      const usage = { ...event.usage, input_tokens, cached_input_tokens, output_tokens }
      return { ...stored, event: { ...event, usage } } as StoredEvent
    })
    const requests = thread(whole(events), 'main', null, 3)
      .flatMap(({ children }) => children)
      .filter(({ kind, title }) => kind === 'text' && title.startsWith('request '))
    assert.ok(requests.length > 0)
    for (const { facts } of requests) assert.deepEqual(facts, said)
  })
}

describe('however events arrive', () => {
  const name = fc.constantFrom(...names.filter((one) => one !== 'long-turn'))

  test('split anywhere, and with duplicates, they give the same views', () => {
    fc.assert(
      fc.property(name, fc.array(fc.nat(400)), (of, cuts) => {
        const events = eventsIn(of)
        let p = watching()
        let from = 0
        for (const cut of [...cuts.map((n) => n % events.length), events.length].sort(
          (a, b) => a - b,
        )) {
          p = apply(p, { kind: 'events', events: events.slice(Math.max(0, from - 3), cut) })
          from = cut
        }
        assert.deepEqual(views(p), views(whole(events)))
      }),
      { numRuns: 60 },
    )
  })

  test('as pages in any order they give the same views', () => {
    fc.assert(
      fc.property(
        name,
        fc.integer({ min: 1, max: 9 }),
        fc.infiniteStream(fc.nat(1_000)),
        (of, size, at) => {
          const events = eventsIn(of)
          const pages = []
          for (let n = 0; n < events.length; n += size) pages.push(events.slice(n, n + size))
          const order = new Map(pages.map((page) => [page, at.next().value as number]))
          pages.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
          const p = pages.reduce((now, page) => {
            const [from, to] = [page[0]?.seq ?? 1, page.at(-1)?.seq ?? 0]
            return apply(now, { kind: 'page', agent_id: 'main', events: page, from, to })
          }, watching())
          assert.deepEqual(views(p), views(whole(events)))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('an event that is missing leaves a gap that asks for it, and its page closes it', () => {
    const events = eventsIn('first-objective')
    const without = whole(events.filter(({ seq }) => seq !== 7 && seq !== 8))
    assert.deepEqual(
      wants(without).filter(({ kind }) => kind === 'page'),
      [{ kind: 'page', agent_id: 'main', from: 7, to: 8 }],
    )
    assert.deepEqual(
      thread(without, 'main', null, 2)
        .map(({ kind }) => kind)
        .includes('gap'),
      true,
    )
    const missing = events.filter(({ seq }) => seq === 7 || seq === 8)
    const closed = apply(without, {
      kind: 'page',
      agent_id: 'main',
      events: missing,
      from: 7,
      to: 8,
    })
    assert.deepEqual(views(closed), views(whole(events)))
  })

  test('an entry that nothing touched is the same object, a touched one is another', () => {
    const events = eventsIn('task-promoted')
    const at = events.findIndex(({ event }) => event.type === 'task_ended')
    const before = thread(whole(events.slice(0, at)), 'main', null, 2)
    const p = apply(whole(events.slice(0, at)), {
      kind: 'events',
      events: events.slice(at, at + 1),
    })
    const after = thread(p, 'main', null, 2)
    const same = after.map((entry) => {
      const old = before.find(({ id }) => id === entry.id)
      return [entry.who, JSON.stringify(old) === JSON.stringify(entry)]
    })
    const whoChanged = same.filter(([, is]) => is === false).map(([who]) => who)
    assert.deepEqual(whoChanged, ['turn 1'])
    const again = apply(p, { kind: 'link', link: { kind: 'live' } })
    assert.deepEqual(
      thread(again, 'main', null, 2).map((entry, n) => entry === after[n]),
      after.map(() => true),
    )
  })

  test('live text stands where its record will stand, under the same id', () => {
    const events = eventsIn('interjected')
    const at = events.findIndex(
      ({ event }) => event.type === 'round_recorded' && event.parts.length > 0,
    )
    const before = whole(events.slice(0, at))
    const frame = {
      kind: 'text_delta' as const,
      agent_id: 'main',
      turn_id: 'turn_0001',
      round: 2,
      at: 0,
      text: 'I leave ',
    }
    const live = apply(before, { kind: 'live', frames: [frame], at: '2026-03-02T09:00:09.000Z' })
    const texts = (p: Presentation) =>
      thread(p, 'main', null, 3).flatMap(({ children }) =>
        children.filter(({ kind }) => kind === 'text').map(({ id, body }) => [id, ...body]),
      )
    assert.deepEqual(texts(live).at(-1), ['turn_0001:2', 'I leave'])
    assert.deepEqual(texts(whole(events)).at(-1), ['turn_0001:2', 'I leave them.'])
    const settled = apply(live, { kind: 'events', events: events.slice(at) })
    assert.equal(settled.texts.size, 0)
  })
})

describe('a history that is gone (410)', () => {
  const gone = (p: Presentation) =>
    apply(p, { kind: 'link', link: { kind: 'gone', snapshot: '/state' } })
  const events = eventsIn('first-objective')
  const last = events.at(-1)?.global_seq ?? 0

  test('asks for the state, goes on behind it, and leaves what was pruned as a gap', () => {
    const p = gone(whole(events))
    assert.deepEqual(wants(p), [{ kind: 'state' }])
    const known = apply(p, { kind: 'state', state: { ...aState(), last_seq: last + 900 } })
    assert.deepEqual([known.last_seq, known.state_is_old], [last + 900, false])
    const live = apply(known, { kind: 'link', link: { kind: 'live' } })
    assert.deepEqual(views(live), views(whole(events)))
    const [first] = events
    assert.ok(first)
    const seq = (events.at(-1)?.seq ?? 0) + 901
    const next = { ...first, seq, global_seq: last + 901 }
    const behind = apply(live, { kind: 'events', events: [next] })
    const gap = { kind: 'page', agent_id: 'main', from: seq - 900, to: seq - 1 }
    assert.deepEqual(
      wants(behind).filter(({ kind }) => kind === 'page'),
      [gap],
    )
    assert.ok(thread(behind, 'main', null, 2).some(({ kind }) => kind === 'gap'))
  })

  test('of a home that was restored is forgotten, for its seqs are given again', () => {
    const p = gone(whole(events))
    const restored = apply(p, { kind: 'state', state: { ...aState(), last_seq: 2 } })
    assert.deepEqual([restored.last_seq, restored.state_is_old], [2, false])
    assert.deepEqual(thread(restored, 'main', null, 3), [])
    const again = apply(restored, { kind: 'events', events })
    assert.deepEqual(views(again), views(whole(events)))
  })

  test('a state that is older than the one shown is not taken while the link lives', () => {
    const p = apply(watching(), { kind: 'state', state: { ...aState(), last_seq: 50 } })
    assert.equal(apply(p, { kind: 'state', state: { ...aState(), last_seq: 40 } }), p)
  })
})

describe('bounds', () => {
  test('a long history is held to its bound, says so, and takes nothing older', () => {
    const [base] = eventsIn('first-objective').filter(
      ({ event }) => event.type === 'message_admitted',
    )
    assert.ok(base)
    const many = Array.from({ length: 6_000 }, (_, n) => ({
      ...base,
      seq: n + 1,
      global_seq: n + 1,
      event: { ...base.event, id: `msg_${String(n).padStart(6, '0')}` },
    })) as StoredEvent[]
    const p = whole(many)
    const entries = thread(p, 'main', null, 1)
    assert.ok(entries.length <= bounds.entries + 1, String(entries.length))
    assert.deepEqual([entries[0]?.kind, entries.at(-1)?.id], ['folded', 'msg_005999'])
    const old = apply(p, {
      kind: 'page',
      agent_id: 'main',
      events: many.slice(0, 9),
      from: 1,
      to: 9,
    })
    assert.equal(thread(old, 'main', null, 1)[1]?.id, entries[1]?.id)
  })

  test('text that streams without end keeps its head, a line that says so, and its tail', () => {
    let at = 0
    const frame = (text: string) => {
      const piece = { agent_id: 'main', turn_id: 'turn_1', round: 1, at, text }
      at += text.length
      return { kind: 'text_delta' as const, ...piece }
    }
    const frames = [
      frame('HEAD'),
      ...Array.from({ length: 80 }, () => frame('x'.repeat(8_192))),
      frame('TAIL'),
    ]
    const p = apply(watching(), { kind: 'live', frames, at: '2026-03-02T09:00:09.000Z' })
    const text = p.texts.get('turn_1:1')?.text ?? ''
    assert.deepEqual(
      [
        text.length <= bounds.live_text,
        text.startsWith('HEAD'),
        text.endsWith('TAIL'),
        text.includes('cut here'),
      ],
      [true, true, true, true],
    )
  })
})

test('no text of a history reaches an entry as a terminal would obey it', () => {
  const shown = levels.flatMap((level) =>
    thread(whole(eventsIn('hostile')), 'main', null, level).flatMap((entry) => drawn(entry)),
  )
  const foreign = new RegExp(
    '[\\p{Cc}\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\u{e0000}-\\u{e007f}]',
    'u',
  )
  assert.deepEqual(
    shown.filter((line) => foreign.test(line)),
    [],
  )
  assert.ok(hostileTexts.length > 0 && shown.some((line) => line.includes('<U+202E>eslaf')))
})

test('an image that came with words is told in words below them', () => {
  const events = eventsIn(names[0] ?? '').map((stored): StoredEvent => {
    const { event } = stored
    if (event.type !== 'message_admitted') return stored
    const image = { media_type: 'image/png', width: 640, height: 480 } as const
    const images = [{ ...image, sha256: 'ab'.repeat(32), bytes: 100 }]
    return { ...stored, event: { ...event, images } }
  })
  const [level1] = views(whole(events))
  const said = level1?.find(({ kind, who }) => kind === 'message' && who === 'you')
  assert.equal(said?.body.at(-1), 'with image PNG 640×480')
})
