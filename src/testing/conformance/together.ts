/**
 * Conformance of commits that come together: they share a transaction, and nobody notices but by
 * the time it takes.
 */
import assert from 'node:assert/strict'
import type { Event } from '../../domain/state/event.ts'
import { LedgerFault, type Change, type Committed, type Ledger } from '../../ledger/port.ts'
import type { Cases, ConformanceStore } from './case.ts'
import { laneOf, type LedgerWorld } from '../world/ledger-world.ts'
import { itemCompleted, itemCreated, messageAdmitted } from '../events.ts'

const names = ['ada', 'bob', 'cy']

const lanesOf = async (ledger: Ledger): Promise<LedgerWorld[]> => {
  const lanes: LedgerWorld[] = []
  for (const name of names) lanes.push(await laneOf(ledger, name))
  return lanes
}

/** What became of each, in the order in which they were told. */
async function told(ledger: Ledger, changes: readonly Change[]): Promise<string[]> {
  const order: string[] = []
  const one = async (change: Change) => {
    const say = (what: string) => void order.push(`${change.agent_id} ${what}`)
    await ledger.commit(change).then(
      (done: Committed) => say(done.ok ? `${done.seq} of ${done.global_seq}` : `is at ${done.seq}`),
      (error: Error) => say(error instanceof LedgerFault ? error.code : error.message),
    )
  }
  await Promise.all(changes.map(one))
  return order
}

const admitted = (lane: LedgerWorld): Change => lane.change(messageAdmitted())

/** The second of two changes of one agent, where the first has not landed yet. */
function following(lane: LedgerWorld, first: Change): Change {
  lane.facts.apply(first.rows, first.expect_seq + first.events.length, first.at)
  return admitted(lane)
}

/** One that the store refuses: what ended goes on. */
async function reopening(lane: LedgerWorld): Promise<Change> {
  const item = itemCreated()
  await lane.emit(item, itemCompleted(item.id))
  const event: Event = { type: 'work_item_updated', id: item.id, by: 'agent', changed: {} }
  const change = admitted(lane)
  const meta = { work_item_id: null, turn_id: null, causation_id: null, at: change.at }
  const open = { ...lane.row('work_items', item.id), state: 'open' as const }
  return {
    ...change,
    events: [...change.events, { event, meta: { ...meta, seq: change.expect_seq + 2 } }],
    rows: [...change.rows, ['work_items', open]],
  }
}

/** A home of three agents whose next three commits come at once, and die at one point. */
async function dyingTogether(store: ConformanceStore, home: string, at: number, when: string) {
  const die = (n: number) => assert.notEqual(n, at, 'dead')
  const seam = { before_commit: () => {}, after_commit: () => {} }
  const ledger = await store.open(home, { ...seam, [when]: die })
  const lanes = await lanesOf(ledger)
  const order = await told(ledger, lanes.map(admitted))
  await assert.rejects(ledger.agents(), /dead/)
  const recovered = await store.open(home)
  const kept = await recovered.lastGlobalSeq()
  assert.deepEqual((await recovered.verify()).problems, [])
  await recovered.close()
  await ledger.close()
  return { kept, order }
}

export const togetherCases: Cases = {
  'what comes together is written as one, numbered and told in its order': async (store, home) => {
    const seen: string[] = []
    const ledger = await store.open(home, {
      before_commit: (n) => seen.push(`before ${n}`),
      after_commit: (n) => seen.push(`after ${n}`),
    })
    const lanes = await lanesOf(ledger)
    seen.length = 0
    assert.deepEqual(await told(ledger, lanes.map(admitted)), [
      'ada 2 of 4',
      'bob 2 of 5',
      'cy 2 of 6',
    ])
    const [before, after] = ['before', 'after'].map((when) => [4, 5, 6].map((n) => `${when} ${n}`))
    assert.deepEqual(seen, [...(before ?? []), ...(after ?? [])])
    const events = await ledger.events({ after: 0, limit: 10 })
    assert.deepEqual(
      events.map(({ global_seq, agent_id }) => [global_seq, agent_id]),
      [...names, ...names].map((name, i) => [i + 1, name]),
    )
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'what is refused or came too late takes nobody with it': async (store, home) => {
    const ledger = await store.open(home)
    const [ada, bob, cy] = (await lanesOf(ledger)) as [LedgerWorld, LedgerWorld, LedgerWorld]
    const bad = await reopening(bob)
    const late = admitted(cy)
    await cy.emit(messageAdmitted())
    const last = await ledger.lastGlobalSeq()
    const [first, other] = [admitted(ada), await laneOf(ledger, 'dan')]
    const [landed, refused, at2, again] = await told(ledger, [first, bad, late, admitted(other)])
    assert.deepEqual(
      [landed, at2, again],
      [`ada 2 of ${last + 2}`, 'cy is at 2', `dan 2 of ${last + 3}`],
    )
    assert.match(refused ?? '', /^bob a completed work item never reopens/)
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'an agent that comes twice goes on from where its first commit leaves it': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const first = admitted(lane)
    const second = following(lane, first)
    assert.deepEqual(await told(ledger, [first, second]), ['main 2 of 2', 'main 3 of 3'])
    lane.facts.apply(second.rows, 3, second.at)
    const next = admitted(lane)
    assert.deepEqual(await told(ledger, [next, next]), ['main 4 of 4', 'main is at 4'])
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'a death among several keeps none of them, one after them all, whoever was told': async (
    store,
    home,
  ) => {
    for (const [i, at] of [4, 5, 6].entries()) {
      const before = await dyingTogether(store, `${home}/before-${at}`, at, 'before_commit')
      assert.deepEqual(before, { kept: 3, order: names.map((name) => `${name} dead`) })
      const after = await dyingTogether(store, `${home}/after-${at}`, at, 'after_commit')
      const order = names.map((name, n) => (n < i ? `${name} 2 of ${n + 4}` : `${name} dead`))
      assert.deepEqual(after, { kept: 6, order })
    }
  },

  'what waits when the ledger is closed is a fault, and nothing of it is kept': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lanes = await lanesOf(ledger)
    const waiting = told(ledger, lanes.map(admitted))
    await ledger.close()
    assert.deepEqual(
      await waiting,
      names.map((name) => `${name} io`),
    )
    const next = await store.open(home)
    assert.equal(await next.lastGlobalSeq(), 3)
    await next.close()
  },

  'who lost the home loses all that waits': async (store, home) => {
    const ledger = await store.open(home)
    const lanes = await lanesOf(ledger)
    await store.usurp(home)
    const order = await told(ledger, lanes.map(admitted))
    assert.deepEqual(
      order,
      names.map((name) => `${name} fenced`),
    )
    await assert.rejects(ledger.agents(), { code: 'fenced' })
    await ledger.close()
  },
}
