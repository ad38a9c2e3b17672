/**
 * What pays on for turns about no open item: one table over all that may come, by who produced it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin } from '../../testing/world/turns.ts'
import { completeItem } from '../work/complete.ts'
import { admit } from '../inbox/admit.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { noUse } from '../state/meter.ts'
import { nothingUsed, openMeter } from './settle.ts'
import { askAboutUnpaid } from '../scheduler/park.ts'
import { meterOf, payingOn } from '../facts/payer.ts'
import { provenanceTable, type Provenance } from '../state/provenance.ts'
import { decideNext } from '../scheduler/next.ts'
import { survey, unpaid } from '../scheduler/survey.ts'
import { startTurn } from '../turns/start.ts'

const nine = { max_tokens: null, max_usd: null, max_rounds: 9, deadline: null }

/** Every combination that is admitted. */
const all: readonly Provenance[] = provenanceTable.flatMap((row) =>
  row.kinds.flatMap((kind) =>
    row.surfaces.flatMap((delivery_surface) =>
      row.authority.map((authority_class) => ({
        kind,
        origin: row.origin,
        delivery_surface,
        admission_context: row.context,
        authority_class,
      })),
    ),
  ),
)

const words: { readonly [O in Provenance['origin']]: boolean } = {
  operator: true,
  webhook: true,
  timer: true,
  callback: true,
  task: false,
  system: false,
  agent: false,
}
const isWord = ({ origin, admission_context }: Provenance) =>
  words[origin] && admission_context !== 'own_trigger_capability'

/** An agent whose item had one request, used it, and pays on; completed or still open. */
function paidOn(state: 'open' | 'completed', used = 1) {
  const w = new World()
  const budget = { max_tokens: null, max_usd: null, max_rounds: 1, deadline: null }
  const id = item(w, { budget })
  w.do((d) => {
    openMeter(d, id, nothingUsed)
    d.emit({ type: 'meter_paid_on', id, pays_on: true })
    const use = { ...noUse, rounds: used }
    d.emit({ type: 'meter_settled', id, round_id: 'turn_1:1', use })
  })
  const report = 'It was all done.'
  if (state === 'completed') {
    w.do((d) => completeItem(d, { work_item_id: id, by: 'operator', report, turn: null }))
    w.reload()
  }
  return { w, id }
}

const came = (w: World, provenance: Provenance) =>
  w.do((d) => {
    const id = d.mint('msg')
    admit(d, { id, provenance, priority: 'normal', body: 'It came.' })
  })

const starts = (w: World) => {
  const seen = survey(w.facts, w.now, false)
  const next = decideNext(seen)
  if (next.do !== 'start_turn' || next.start.rule !== 'message') return null
  w.do((d) => startTurn(d, seen, { ...next, start: next.start }, 'test/model'))
  return payingOn(w.facts)
}

for (const state of ['open', 'completed'] as const) {
  test(`of all that may come, words from outside alone start a turn past an ${state} item that is used up`, () => {
    for (const provenance of all) {
      const { w, id } = paidOn(state)
      came(w, provenance)
      const name = JSON.stringify(provenance)
      const held = unpaid(w.facts, w.now)
      assert.deepEqual(held === null ? null : held.payer, isWord(provenance) ? null : id, name)
      w.do(askAboutUnpaid)
      const asked = w.all('waits').map(({ runtime_cause }) => runtime_cause)
      const asks = state === 'completed' && !isWord(provenance)
      assert.deepEqual(asked, asks ? ['budget_left'] : [], name)
      assert.deepEqual(violations(w.facts), [])
      const before = w.all('turns').length
      starts(w)
      assert.equal(w.all('turns').length - before, isWord(provenance) ? 1 : 0, name)
      assert.equal(payingOn(w.facts), isWord(provenance) ? null : id, name)
    }
  })
}

test('with something left every turn starts, and those that no word began are paid for', () => {
  for (const provenance of all) {
    const { w, id } = paidOn('completed', 0)
    came(w, provenance)
    assert.equal(starts(w), isWord(provenance) ? null : id, JSON.stringify(provenance))
    assert.equal(w.all('turns').length, 1)
  }
})

test('two messages of one turn: one word among them is enough, whichever came first', () => {
  for (const [first, second] of all.flatMap((one) => all.map((other) => [one, other] as const))) {
    const { w, id } = paidOn('completed', 0)
    came(w, first)
    came(w, second)
    const payer = starts(w)
    const shown = w.all('messages').filter(({ status }) => status === 'claimed')
    const isSaid = shown.map(({ id: _, ...message }) => message).some(isWord)
    assert.equal(payer, isSaid ? null : id, JSON.stringify([first, second]))
  }
})

test('the question about what waits is over when nothing waits any more', () => {
  const { w } = paidOn('completed')
  const followup = all.find(({ kind }) => kind === 'internal_followup')
  assert.ok(followup)
  came(w, followup)
  w.do(askAboutUnpaid)
  w.do(askAboutUnpaid)
  const states = () => w.all('waits').map(({ status }) => status)
  assert.deepEqual(states(), ['active'], 'it is asked once')
  w.do((d) => {
    for (const { id } of [...d.rows('messages')]) {
      d.emit({ type: 'message_dropped', id, reason: 'test' })
    }
  })
  w.do(askAboutUnpaid)
  assert.deepEqual(states(), ['resolved'])
})

test('what a request reserved is settled there, whoever pays by the time of its answer', () => {
  const w = new World()
  const a = item(w, { budget: nine })
  const b = item(w, { focus: true })
  const opened = { kind: 'item', used: noUse, drawn: [], allowance: null, limits: null } as const
  w.do((d) => d.emit({ type: 'meter_opened', id: b, ...opened, draws_on: a }))
  say(w)
  begin(w, 'message')
  ask(w)
  const of = (id: string) => {
    const meter = meterOf(w.facts, id)
    return [meter?.reserved === null, meter?.used.rounds]
  }
  assert.deepEqual(
    [of(a), of(b)],
    [
      [false, 0],
      [false, 0],
    ],
  )
  w.do((d) => {
    const changed = { budget: nine }
    d.emit({ type: 'work_item_updated', id: b, by: 'operator', changed })
    openMeter(d, b, nothingUsed)
  })
  answer(w, { text: 'Done.' })
  assert.deepEqual([of(a), of(b), payingOn(w.facts)], [[true, 1], [true, 1], b])
  assert.deepEqual(violations(w.facts, w.events), [])
})
