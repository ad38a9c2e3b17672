/**
 * What holds an item is named whole, on every surface, in the order in which it has to go: each
 * pair of what can hold one, and all at once, beside each kind of wait.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { charTokens } from '../src/context/estimate.ts'
import { renderOpening } from '../src/context/opening/render.ts'
import { pickItem } from '../src/domain/waits/focus.ts'
import type { Hold, Projection } from '../src/domain/facts/readiness.ts'
import type { WorkItem } from '../src/domain/state/work-item.ts'
import { itemRow } from '../src/present/home.ts'
import type { Presentation } from '../src/present/presentation.ts'
import { ShortIds } from '../src/present/text/short-id.ts'
import { stateCell } from '../src/present/lines/state-cell.ts'
import { whyLines } from '../src/present/lines/why-text.ts'
import { agentRecordOf } from '../src/protocol/records/agent-record.ts'
import { projectionOf } from '../src/protocol/agent-view.ts'
import { attentionOf } from '../src/protocol/views/attention.ts'
import { workItemRecordOf } from '../src/protocol/records/work-item-record.ts'
import { whyOf } from '../src/protocol/views/why.ts'
import { deliver } from '../src/testing/world/agent-world.ts'
import { codes, held, pairs, wakes } from '../src/testing/why/held-twice.ts'
import { aSituation } from '../src/testing/world/situations.ts'
import { viewOf } from '../src/testing/why/why-world.ts'
import { aPlan, aPrompt } from '../src/testing/rows.ts'

type Words = { readonly [C in Hold['code']]: RegExp }

const cases = [...pairs, codes].flatMap((by) =>
  (by.includes('wait') ? wakes : (['timer'] as const)).map((wake) => {
    const name = `${by.join(', ')} (${wake})`
    return { name, by, ...held(by, wake) }
  }),
)

const view = (one: (typeof cases)[number]) => viewOf(one.w, 'at_rest')
const zone = ({ w }: { w: { now: string } }) => ({ now: w.now, utc: true, runs: true })

/** Each of what holds it stands in the text once, in its order. */
function named(text: string, { holds }: Projection, words: Words, name: string): void {
  const found = codes
    .flatMap((code) => {
      const all = [...text.matchAll(new RegExp(words[code], 'g'))]
      return all.map(({ index }) => ({ code, index }))
    })
    .toSorted((a, b) => a.index - b.index)
  assert.deepEqual(
    found.map(({ code }) => code),
    holds.map(({ code }) => code),
    `${name}: ${text}`,
  )
}

test('of an item all that holds it is derived, in the order in which it has to go', () => {
  for (const { name, by, p } of cases) {
    const [first] = p.holds
    assert.equal(p.reason, first, name)
    // A question of the plan that nothing else waits for is a wait.
    const asked = by.map((code) =>
      code === 'needs_input' && !by.includes('wait') && !by.includes('imported') ? 'wait' : code,
    )
    const wanted = codes.filter((code) => asked.includes(code))
    assert.deepEqual(
      p.holds.map(({ code }) => code),
      wanted,
      name,
    )
  }
})

/** As clauses: the first is the sentence, the others stand below it. */
const clauses: Words = {
  imported: /was imported/,
  wait: /waits (?:until|for (?:you since|ci|task_))/,
  blocked_by: /is blocked/,
  needs_input: /input to its plan/,
  budget: /budget is reached/,
}

test('`why` and the head of `work show` name all that holds an item', () => {
  for (const one of cases) {
    const { name, p } = one
    const why = whyOf(view(one), p, null)
    const style = { zone: zone(one), ids: new ShortIds(), decided: false }
    const told = whyLines(why, style)
    const heads = told.slice(
      0,
      told.findIndex((line) => line.startsWith('next ')),
    )
    named(heads.join('\n'), p, clauses, name)
    const also = told.filter((line) => line.startsWith('also '))
    assert.equal(also.length, p.holds.length - 1, name)
    assert.deepEqual(
      why.also.map(({ code }) => code),
      p.holds.slice(1).map(({ code }) => code),
      name,
    )
  }
})

test('what comes next is never that an item goes on which something else holds', () => {
  for (const one of cases) {
    const { next } = whyOf(view(one), one.p, null)
    const over = one.p.holds.some(({ code }) => code === 'budget')
    if (over) assert.doesNotMatch(next, /resumes it|goes on|recheck/, one.name)
    if (over && one.p.reason.code !== 'imported') assert.match(next, /budget/, one.name)
  }
})

test('what may be done stands in the same order, and before the pick of an import that alone', () => {
  const does: Readonly<Record<string, Hold['code'] | 'both'>> = {
    pick: 'imported',
    answer: 'wait',
    trigger: 'wait',
    unblock: 'both',
    send: 'blocked_by',
    update_item: 'budget',
  }
  for (const one of cases) {
    const { name, p } = one
    const acts = whyOf(view(one), p, null).can.flatMap(({ key }) => does[key] ?? [])
    const order = acts.filter((code) => code !== 'both').map((code) => codes.indexOf(code))
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
      name,
    )
    const held = new Set(p.holds.map(({ code }) => code))
    if (p.reason.code === 'imported') assert.deepEqual(acts, ['imported'], name)
    else assert.equal(acts.includes('budget'), held.has('budget'), name)
    if (p.reason.code !== 'imported' && held.has('blocked_by'))
      assert.ok(acts.includes('both'), name)
  }
})

const inCells: Words = {
  imported: /imported, look/,
  wait: /waits for (?:you, 1|09:30|ci|task_)/,
  blocked_by: /blocked: no key/,
  needs_input: /input on its plan/,
  budget: /budget the deadline 09:00/,
}

test('a list of the command line and one of the screen have all that holds an item in its cell', () => {
  for (const one of cases) {
    const { name, p } = one
    const cell = stateCell(view(one), p, zone(one))
    named(cell.text, p, inCells, name)
    const parts = { plan: null, spend: null, can: [], late: [], whole: false }
    const agents = [agentRecordOf(view(one), [])]
    const shown = { state: { agents, turns: [] } } as unknown as Presentation
    assert.equal(itemRow(shown, workItemRecordOf(p, parts), zone(one)).right, cell.text, name)
  }
})

test('news that came for an item that is blocked too hides its blocker in no list', () => {
  const { w, id } = held(['wait', 'blocked_by'], 'external')
  deliver(w, { source: 'ci' })
  const seen = viewOf(w, 'at_rest')
  const p = projectionOf(seen, id)
  assert.ok(p)
  const { text } = stateCell(seen, p, zone({ w }))
  assert.equal(text, 'triggered once, new; blocked: no key; its review is next')
})

const inTheInbox: Words = {
  imported: /was imported/,
  wait: /nothing that the item's own entry says/,
  blocked_by: /no key/,
  needs_input: /Which key\?/,
  budget: /It reached its budget/,
}

test('an item that a person alone can move has one entry, with all that is to be done', () => {
  for (const one of cases) {
    const { name, p, id } = one
    const entries = attentionOf([view(one)], []).filter((entry) => entry.id === id)
    const isStuck =
      p.wait === null || p.reason.code === 'imported' || p.holds.at(-1)?.code === 'budget'
    assert.equal(entries.length, isStuck ? 1 : 0, name)
    const [entry] = entries
    if (entry === undefined) continue
    // A wait is told where it asks; a plan's question comes when that has ended.
    const holds = p.holds.filter(
      ({ code }) => code !== 'wait' && (code !== 'needs_input' || p.wait === null),
    )
    named(entry.text, { ...p, holds }, inTheInbox, name)
    assert.equal(entry.kind, holds[0]?.code === 'blocked_by' ? 'blocked' : holds[0]?.code, name)
  }
})

const forAModel: Words = {
  imported: /imported, to be picked/,
  wait: /(?:waits|asks): /,
  blocked_by: /blocked by: "no key"/,
  needs_input: /its plan needs input/,
  budget: /its budget is used up/,
}

test("a model reads all that holds another item, in its line, and all that holds the turn's", () => {
  const tokens = { tokens: charTokens, window: 200_000, random_fence: '7f3a9c2e' }
  for (const one of cases) {
    const { name, p, id } = one
    const item: WorkItem = p.item
    const waits = p.wait === null ? [] : [p.wait]
    const messages = [aPrompt('msg_1', 'Go on.')]
    const given = { now: one.w.now, items: [item], waits, messages }
    const line = renderOpening(aSituation(given), tokens)
      .user.split('\n')
      .find((text) => text.startsWith(`- ${id} `))
    named(line ?? '', p, forAModel, name)
    const about = { id, plan: aPlan(id) }
    const { user } = renderOpening(aSituation({ ...given, about }), tokens)
    const own = { ...forAModel, wait: /^wait: /m, blocked_by: /^blocked by: "no key"$/m }
    for (const { code } of p.holds) assert.match(user, own[code], name)
  }
})

test('a model that picks an item is told all that holds it, and how each is cleared', () => {
  const words: Words = {
    imported: /It was imported/,
    wait: /wait_0001 \(\w+\) holds it: "the build"|needs_input holds it: "Which key\?"/,
    blocked_by: /blocked_by holds it: "no key"/,
    needs_input: /needs_input holds it\./,
    budget: /It reached its budget/,
  }
  for (const { name, w, id, p } of cases) {
    // The agent does not see it before its operator picks it.
    if (p.reason.code === 'imported') continue
    const picked = w.do((d) => pickItem(d, { work_item_id: id, by: 'agent', reason: null }))
    named(picked.warnings.map(({ message }) => message).join(' '), p, words, name)
  }
})
