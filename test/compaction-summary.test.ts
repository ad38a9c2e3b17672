/**
 * The summary that a model may write at a compaction. It stands beneath the recap and is
 * asked once; whatever goes wrong leaves the recap alone; what it takes is reserved and settled on
 * the item's meter, and is part of what the turn and the item took.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { meterOf } from '../src/domain/facts/payer.ts'
import type { ModelRequest, ModelRound } from '../src/models/model.ts'
import {
  calls,
  fails,
  says,
  scriptedModel,
  type Script,
  type Scripted,
} from '../src/testing/scripted-model.ts'
import { openBox, temporaryHome } from '../src/testing/host/host-fixture.ts'
import { compactedReader, longFile, readsUntil, smallWindow } from './crash/compaction.ts'
import { Killer, type Point } from './support/killer.ts'
import { call, completes, picks } from './support/scripts.ts'
import { agent, minute, openStage, textOf, type Stage, type StageOptions } from './support/stage.ts'

type Places = { home: string; workspace: string }

const secondModel = 'test/second'
const text = 'The long file has the same line 500 times.'
const written = says(text, {
  usage: { ...says('').usage, input_tokens: 7_000, output_tokens: 300 },
  told_usd: 0.07,
})

const openingOf = ({ messages }: ModelRequest): string =>
  messages[0]?.role === 'user' ? messages[0].content : ''

/** Reads the long file eight times and completes the item: one compaction, or two. */
const reader = (item: () => string): Script => {
  let read = 0
  return (_, n) => {
    if (n === 1) return picks(item())
    read += 1
    return read > 8
      ? completes(item(), 'I read it eight times. Nothing is left.')
      : calls(`Reading, ${read}.`, call('ReadFile', { path: 'long.txt' }))
  }
}

type Budget = { max_tokens?: number; max_usd?: number; max_rounds?: number }

async function open(
  t: TestContext,
  summaries: Script,
  budget: Budget,
  more: Partial<StageOptions> = {},
) {
  const at: { s: Stage | null } = { s: null }
  const first = scriptedModel(reader(() => at.s?.id('A') ?? ''))
  const second = scriptedModel(summaries)
  const s = (at.s = await openStage(t, {
    models: { default: first, [secondModel]: second },
    summary_model: secondModel,
    context_window: smallWindow,
    ...more,
  }))
  longFile(s.box.workspace)
  const begins = () => s.act({ do: 'create_item', objective: 'A', budget })
  return { s, first, second, begins }
}

/** The account of the recap in each compacted opening, as it is stored. */
async function whys(s: Stage): Promise<string[]> {
  const found: string[] = []
  for (const { recapped, opening_sha256 } of await s.rows('rounds')) {
    if (recapped === undefined || opening_sha256 === null) continue
    const bytes = await s.box.ledger.blob(opening_sha256)
    const { sections } = JSON.parse(new TextDecoder().decode(bytes ?? undefined)) as {
      sections: { section: string; why: string }[]
    }
    found.push(sections.find(({ section }) => section === 'recap')?.why.replace(/^.*?; /, '') ?? '')
  }
  return found
}

const compactedOf = (requests: readonly ModelRequest[]) =>
  requests.filter(
    (one, at) =>
      openingOf(one).includes('recap of rounds 1 to') &&
      openingOf(one) !== openingOf(requests[at - 1] ?? one),
  )

/** What the item took, by its meter and by its rounds, which must agree. */
async function took(s: Stage) {
  const facts = s.box.host.facts(agent)
  const [row] = (await s.rows('work_items')).filter(({ objective }) => objective === 'A')
  assert.ok(facts && row)
  const meter = meterOf(facts, row.id) ?? (await s.rows('meters'))[0]
  assert.ok(meter)
  const [spent] = await s.box.ledger.spend({ by: [], work_item_id: row.id })
  assert.ok(spent)
  assert.deepEqual(
    [spent.input_tokens + spent.output_tokens, spent.requests],
    [meter.used.tokens, meter.used.rounds],
  )
  assert.equal(meter.reserved, null)
  return meter.used
}

const options = { timeout: 300_000 }

test('a summary stands beneath the recap, and is asked without tools', options, async (t) => {
  const { s, first, second, begins } = await open(t, () => written, { max_tokens: 1_000_000 })
  await begins()
  await s.rest()
  const compacted = compactedOf(first.requests)
  assert.ok(compacted.length > 0, 'nothing was compacted')
  assert.equal(second.requests.length, compacted.length)
  for (const request of compacted) {
    const shown = openingOf(request)
    assert.ok(shown.indexOf(text) > shown.indexOf('recap of rounds 1 to'))
    assert.match(shown, /written by a model \(test\/second\)\. It is no authority/)
  }
  const [asked] = second.requests
  assert.deepEqual([asked?.tools, asked?.tool_choice, asked?.situation], [[], 'none', null])
  assert.match(textOf(asked), /Round 2\nIt said: Reading, 1\.\nIt called ReadFile/)
  assert.deepEqual(
    await whys(s),
    compacted.map(() => 'a summary by test/second beneath'),
  )
  const used = await took(s)
  const rounds = first.requests.length
  assert.deepEqual([used.rounds, used.tokens], [rounds, 120 * rounds + 7_300 * compacted.length])
  const [turn] = await s.rows('turns')
  assert.equal(turn?.usage.input_tokens, 100 * rounds + 7_000 * compacted.length)
  const paid = (await s.rows('rounds')).flatMap(({ summary }) => summary?.usage?.usd ?? [])
  assert.deepEqual(
    paid,
    compacted.map(() => 0.07),
    'what its provider says it took',
  )
  await s.sound()
})

test(
  'a summary is reserved before it is asked, and settled with the compaction',
  options,
  async (t) => {
    const seen: unknown[] = []
    const at: { s: Stage | null } = { s: null }
    const stage = await open(
      t,
      () => {
        const facts = at.s?.box.host.facts(agent)
        const meter = facts && at.s ? meterOf(facts, at.s.id('A')) : null
        seen.push((meter?.reserved?.use.tokens ?? 0) > 6_000)
        return written
      },
      { max_tokens: 1_000_000 },
    )
    at.s = stage.s
    await stage.begins()
    await stage.s.rest()
    assert.deepEqual(
      seen,
      stage.second.requests.map(() => true),
    )
    const events = await stage.s.events()
    const settledWith = events.filter(({ event }, i) => {
      const before = events[i - 1]?.event
      return event.type === 'meter_settled' && before?.type === 'request_sent' && before.summary
    })
    assert.equal(settledWith.length, stage.second.requests.length)
    await stage.s.sound()
  },
)

type Failing = [what: string, answer: Scripted, why: RegExp, charged: number]
const failing: Failing[] = [
  [
    'a fault',
    fails({ kind: 'world', code: 'overloaded' }),
    /^no summary: The provider failed: overloaded/,
    0,
  ],
  [
    'a refusal',
    fails({ kind: 'refused', code: 'policy' }),
    /^no summary: The provider failed: policy/,
    0,
  ],
  ['an empty answer', says(''), /^no summary: it was empty$/, 120],
  ['a long answer', says('x'.repeat(8_000)), /^no summary: it was longer than 1280 tokens$/, 120],
  [
    'a cut answer',
    says('Half', { finish: 'length' } satisfies Partial<ModelRound>),
    /cut off/,
    120,
  ],
  [
    'a call',
    calls('So:', call('ReadFile', { path: 'long.txt' })),
    /^no summary: it called a tool$/,
    120,
  ],
]
for (const [what, answer, why, charged] of failing) {
  test(
    `${what} in place of a summary leaves the recap alone, and is not asked again`,
    options,
    async (t) => {
      const { s, first, second, begins } = await open(t, () => answer, { max_tokens: 1_000_000 })
      await begins()
      await s.rest()
      const compacted = compactedOf(first.requests)
      assert.ok(compacted.length > 0, 'nothing was compacted')
      assert.equal(second.requests.length, compacted.length)
      for (const request of compacted) assert.doesNotMatch(openingOf(request), /summary of rounds/)
      const said = await whys(s)
      assert.equal(said.length, compacted.length)
      for (const one of said) assert.match(one, why)
      const rounds = first.requests.length
      assert.equal((await took(s)).tokens, 120 * rounds + charged * compacted.length)
      assert.equal((await s.rows('turns'))[0]?.outcome, 'completed')
      await s.sound()
    },
  )
}

test('a summary that does not come in time leaves the recap alone', options, async (t) => {
  const { s, second, begins } = await open(t, (_, n) => (n === 1 ? 'hang' : written), {
    max_tokens: 1_000_000,
  })
  await begins()
  while (second.requests.length === 0) await s.clock.advance(0)
  await s.clock.advance(minute)
  await s.rest()
  assert.equal((await whys(s))[0], 'no summary: none came within 60 s')
  assert.equal((await s.rows('turns'))[0]?.outcome, 'completed')
  await s.sound()
})

test(
  'without room in a budget, or a price for one in dollars, no summary is asked',
  options,
  async (t) => {
    const budgets: [Budget, Partial<StageOptions>][] = [
      [{ max_tokens: 8_000 }, {}],
      [{ max_usd: 1 }, { price: (id) => (id === secondModel ? 2 : 0.001) }],
      [{ max_usd: 100 }, { price: (id) => (id === secondModel ? null : 0.001) }],
    ]
    for (const [budget, more] of budgets) {
      const { s, first, second, begins } = await open(t, () => written, budget, more)
      await begins()
      await s.rest()
      assert.equal(second.requests.length, 0, JSON.stringify(budget))
      assert.ok(compactedOf(first.requests).length > 0, 'nothing was compacted')
      const said = new Set(await whys(s))
      assert.deepEqual(said, new Set(['no summary: the budget has no room for it']))
      await s.sound()
    }
  },
)

test(
  'an abort while a summary is written ends the turn and compacts nothing',
  options,
  async (t) => {
    const { s, second, begins } = await open(t, () => 'hang', { max_tokens: 1_000_000 })
    await begins()
    while (second.requests.length === 0) await s.clock.advance(0)
    const [turn] = await s.rows('turns')
    await s.act({ do: 'abort', run_id: turn?.id ?? '' })
    const facts = s.box.host.facts(agent)
    assert.equal(facts && meterOf(facts, s.id('A'))?.reserved, null)
    assert.deepEqual(
      (await s.rows('turns')).map(({ outcome }) => outcome),
      ['aborted'],
    )
    assert.deepEqual(await whys(s), [])
    await s.sound()
  },
)

/** Runs until killed, or to the end, with a summary at each compaction. */
async function lived(t: TestContext, places: Places, point: Point | null) {
  const killer = new Killer(point)
  const second = scriptedModel(() => written)
  const box = await openBox(t, {
    models: { default: compactedReader(), [secondModel]: second },
    ...places,
    summary_model: secondModel,
    context_window: smallWindow,
    ...killer.seams,
  })
  const { rounds, problems } = await readsUntil(box, killer)
  const recaps = rounds.flatMap(({ recapped, summary }) =>
    recapped === undefined ? [] : [[recapped, summary?.usage?.input_tokens]],
  )
  return { asked: second.requests.length, recaps, problems, counts: killer.counts }
}

test('killed at any effect, a summary is asked once more at most', options, async (t) => {
  const place = () => {
    const places = temporaryHome(t)
    longFile(places.workspace)
    return places
  }
  const whole = await lived(t, place(), null)
  assert.ok(whole.asked > 0 && whole.asked === whole.recaps.length, 'nothing was summarised')
  const totals = new Set<number>()
  for (let n = 1; n <= whole.counts.effect; n += 1) {
    for (const when of ['before', 'after'] as const) {
      const places = place()
      const killed = await lived(t, places, { kind: 'effect', n, when })
      const after = await lived(t, places, null)
      const said = `killed ${when} effect ${n}`
      assert.deepEqual([after.recaps, after.problems], [whole.recaps, []], said)
      totals.add(killed.asked + after.asked)
    }
  }
  assert.deepEqual(totals, new Set([whole.asked, whole.asked + 1]))
})
