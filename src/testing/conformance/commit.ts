/**
 * Conformance of commits: whole or not at all, in order, by the owner only, and what ended stays
 * ended.
 */
import assert from 'node:assert/strict'
import type { Event, Rows, Table } from '../../domain/state/event.ts'
import { LedgerFault, type Change, type Ledger } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf, type LedgerWorld } from '../world/ledger-world.ts'
import {
  agentCreated,
  briefDelivered,
  callFinished,
  callRecorded,
  decisionMade,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  taskEnded,
  taskQueued,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../events.ts'

/** Everything a reader can see of the home. */
async function contents(ledger: Ledger, lane: LedgerWorld) {
  const rows: unknown[] = []
  for (const [table, row] of lane.rows.values()) rows.push(await ledger.row(table, row.id))
  return { rows, events: await ledger.events({ after: 0, limit: 1_000 }) }
}

/** A change that writes `row` as it stands, under the name of an event about it. */
const forced = <T extends Table>(
  lane: LedgerWorld,
  event: Event,
  table: T,
  row: Rows[T],
): Change => {
  const { agent_id, seq, last_at } = lane.facts
  const meta = { work_item_id: null, turn_id: null, causation_id: null }
  return {
    agent_id,
    expect_seq: seq,
    at: last_at,
    events: [{ event, meta: { ...meta, seq: seq + 1, at: last_at } }],
    rows: [[table, row]],
  }
}

type Ended = {
  events: readonly Event[]
  table: Table
  id: string
  reopened: object
  refusal: RegExp
}

const turn = turnStarted()
const request = requestSent(turn.id, 1)
const call = callRecorded(turn.id, 1, 0)

/** In this order: the turn ends last. */
const endsOfATurn: Ended[] = [
  {
    events: [turn, request, roundRecorded(request.id)],
    table: 'rounds',
    id: request.id,
    reopened: { state: 'requested' },
    refusal: /a recorded round is never requested again/,
  },
  {
    events: [call, callFinished(call.id)],
    table: 'calls',
    id: call.id,
    reopened: { state: 'started' },
    refusal: /a finished call never runs again/,
  },
  {
    events: [turnEnded(turn.id)],
    table: 'turns',
    id: turn.id,
    reopened: { state: 'open' },
    refusal: /an ended turn never reopens/,
  },
]

function endedThings(): Ended[] {
  const item = itemCreated()
  const wait = waitRegistered()
  const message = messageAdmitted()
  const task = taskQueued()
  const brief = briefDelivered()
  const decision = decisionMade()
  return [
    {
      events: [item, itemCompleted(item.id)],
      table: 'work_items',
      id: item.id,
      reopened: { state: 'open' },
      refusal: /a completed work item never reopens/,
    },
    {
      events: [wait, { type: 'wait_cancelled', id: wait.id, by: 'agent', because: 'enough' }],
      table: 'waits',
      id: wait.id,
      reopened: { status: 'active' },
      refusal: /an ended wait never changes its status/,
    },
    {
      events: [message, { type: 'message_dropped', id: message.id, reason: 'old' }],
      table: 'messages',
      id: message.id,
      reopened: { status: 'queued' },
      refusal: /a message in a final status never changes it/,
    },
    {
      events: [task, taskEnded(task.id)],
      table: 'tasks',
      id: task.id,
      reopened: { status: 'failed' },
      refusal: /an ended task never changes its status/,
    },
    ...endsOfATurn,
    {
      events: [brief],
      table: 'briefs',
      id: brief.id,
      reopened: { text: 'other words' },
      refusal: /briefs never change/,
    },
    {
      events: [decision],
      table: 'decisions',
      id: decision.id,
      reopened: { because: 'other words' },
      refusal: /decisions never change/,
    },
  ]
}

export const commitCases: Cases = {
  'a commit is its events and its rows, and says where they stand': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const change = lane.change(item, {
      type: 'work_item_updated',
      id: item.id,
      by: 'agent',
      changed: { objective: 'water the roses' },
    })

    assert.deepEqual(await lane.commit(change), { ok: true, seq: 3, global_seq: 3 })
    assert.deepEqual(await ledger.row('work_items', item.id), lane.row('work_items', item.id))
    const events = await ledger.events({ after: 1, limit: 10 })
    assert.match(events[0]?.id ?? '', /^evt_/)
    assert.deepEqual(
      events.map(({ id: _, ...event }) => event),
      change.events.map(({ event, meta }, i) => ({
        ...meta,
        agent_id: 'main',
        global_seq: 2 + i,
        v: 1,
        event,
      })),
    )
    await ledger.close()
  },

  'a change that cannot land whole does not land at all': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    await lane.emit(item, itemCompleted(item.id))
    const before = await contents(ledger, lane)

    const good = lane.change(messageAdmitted(), itemCreated())
    const open = { ...lane.row('work_items', item.id), state: 'open' as const }
    const event: Event = { type: 'work_item_updated', id: item.id, by: 'agent', changed: {} }
    const meta = { work_item_id: null, turn_id: null, causation_id: null, seq: 6, at: good.at }
    await assert.rejects(
      ledger.commit({
        ...good,
        events: [...good.events, { event, meta }],
        rows: [...good.rows, ['work_items', open]],
      }),
      /a completed work item never reopens/,
    )
    assert.deepEqual(await contents(ledger, lane), before)
    assert.deepEqual(await lane.commit(good), { ok: true, seq: 5, global_seq: 5 })
    await ledger.close()
  },

  'of two changes decided on one seq the second keeps nothing and learns the seq': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const late = lane.change(itemCreated(), messageAdmitted())
    await lane.emit(messageAdmitted())
    const before = await contents(ledger, lane)

    assert.deepEqual(await ledger.commit(late), { ok: false, agent_id: 'main', seq: 2 })
    assert.deepEqual(await contents(ledger, lane), before)
    assert.equal(await ledger.row('work_items', late.rows[0]?.[1].id ?? ''), null)
    await ledger.close()
  },

  'a change for an agent nobody knows, decided on a past it does not have, is a conflict': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const change = { ...lane.change(messageAdmitted()), agent_id: 'other' }

    assert.deepEqual(await ledger.commit(change), { ok: false, agent_id: 'other', seq: 0 })
    await ledger.close()
  },

  'changes of several agents land together, in order, or not at all': async (store, home) => {
    const ledger = await store.open(home)
    const [one, two] = [await laneOf(ledger, 'one'), await laneOf(ledger, 'two')]
    const [first, second] = [
      one.change(itemCreated(), messageAdmitted()),
      two.change(itemCreated()),
    ]
    assert.deepEqual(await ledger.commit(first, second), { ok: true, seq: 3, global_seq: 5 })
    one.facts.apply(first.rows, 3, first.at)
    two.facts.apply(second.rows, 2, second.at)
    const stored = await ledger.events({ after: 2, limit: 10 })
    assert.deepEqual(
      stored.map(({ agent_id, seq, global_seq }) => [agent_id, seq, global_seq]),
      [
        ['one', 2, 3],
        ['one', 3, 4],
        ['two', 2, 5],
      ],
    )

    const [mine, late] = [one.change(messageAdmitted()), two.change(messageAdmitted())]
    await two.emit(messageAdmitted())
    const before = await contents(ledger, one)
    const conflict = { ok: false, agent_id: 'two', seq: 3 } as const
    assert.deepEqual(await ledger.commit(mine, late), conflict)
    assert.deepEqual(await contents(ledger, one), before)

    // A change without events only asks where its agent stands.
    const { last_at: at } = two.facts
    const still = { agent_id: 'two', expect_seq: 3, at, events: [], rows: [] }
    assert.equal((await ledger.commit(mine, { ...still, expect_seq: 2 })).ok, false)
    assert.deepEqual(await contents(ledger, one), before)
    assert.equal((await ledger.commit(mine, still)).ok, true)
    await assert.rejects(ledger.commit(mine, mine), /two changes of one agent/)
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'seqs are dense in each agent and over the home, also when agents commit at once': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lanes = await Promise.all(['ada', 'bob', 'cy'].map((id) => laneOf(ledger, id)))
    for (let round = 0; round < 5; round++) {
      await Promise.all(lanes.map((lane) => lane.emit(messageAdmitted(), itemCreated())))
    }

    const events = await ledger.events({ after: 0, limit: 1_000 })
    assert.deepEqual(
      events.map((event) => event.global_seq),
      Array.from({ length: 33 }, (_, i) => i + 1),
    )
    for (const { agent_id } of lanes) {
      assert.deepEqual(
        events.filter((event) => event.agent_id === agent_id).map((event) => event.seq),
        Array.from({ length: 11 }, (_, i) => i + 1),
      )
    }
    assert.equal(await ledger.lastGlobalSeq(), 33)
    await ledger.close()
  },

  'a change that contradicts itself is a bug and not a fault': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const change = lane.change(itemCreated())
    const wrong: [Change, RegExp][] = [
      [{ ...change, expect_seq: 7 }, /has seq 2/],
      [{ ...change, rows: [] }, /1 rows have events, 0 are in the change/],
      [{ ...change, events: [] }, /without its event/],
      [{ ...change, at: '2000-01-01T00:00:00.000Z' }, /not 2000/],
    ]
    for (const [bad, problem] of wrong) {
      await assert.rejects(ledger.commit(bad), (error: Error) => {
        assert.ok(!(error instanceof LedgerFault))
        assert.match(error.message, problem)
        return true
      })
    }
    assert.equal(await ledger.lastGlobalSeq(), 1)
    await ledger.close()
  },

  'time never goes back within an agent': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const early = lane.change(messageAdmitted())
    await lane.emit(messageAdmitted())
    const { seq } = lane.facts
    const events = early.events.map(({ event, meta }) => ({
      event,
      meta: { ...meta, seq: seq + 1 },
    }))

    await assert.rejects(ledger.commit({ ...early, expect_seq: seq, events }), /before 2026/)
    await ledger.close()
  },

  'what has ended stays ended, whatever a change says': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    for (const { events, table, id, reopened, refusal } of endedThings()) {
      await lane.emit(...events)
      const last = events.at(-1) as Event
      const row = lane.row(table, id)
      await assert.rejects(
        ledger.commit(forced(lane, last, table, { ...row, ...reopened })),
        refusal,
      )
      assert.deepEqual(await ledger.row(table, id), row)
    }
    await ledger.close()
  },

  'an agent has one open turn and an item one result brief': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const result = () => briefDelivered({ kind: 'result', work_item_id: item.id })
    await lane.emit(item, turnStarted(), result())

    await assert.rejects(ledger.commit(lane.change(turnStarted())), /turns/)
    await assert.rejects(ledger.commit(lane.change(result())), /briefs/)
    await lane.emit(briefDelivered({ work_item_id: item.id }))
    await ledger.close()
  },

  'after another owner took the home over the first can write nothing more': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await store.usurp(home)

    const fenced = { name: 'LedgerFault', code: 'fenced', retry: 'never' }
    await assert.rejects(ledger.commit(lane.change(itemCreated())), fenced)
    await assert.rejects(ledger.commit(lane.change(itemCreated())), fenced)
    await ledger.close()
    const reader = await store.openReader(home)
    assert.deepEqual(await reader.list('work_items', { limit: 10 }), [])
    assert.deepEqual(await reader.agents(), [lane.row('agents', 'main')])
    await reader.close()
  },

  'a death before a commit keeps nothing of it, a death after it all of it': async (
    store,
    home,
  ) => {
    const scenario = [[agentCreated('main')], [itemCreated()], [messageAdmitted(), itemCreated()]]
    for (const when of ['before_commit', 'after_commit'] as const) {
      for (let at = 1; at <= scenario.length; at++) {
        const folder = `${home}/${when}-${at}`
        const seam = { before_commit: () => {}, after_commit: () => {} }
        const die = (n: number) => assert.notEqual(n, at, 'dead')
        const ledger = await store.open(folder, { ...seam, [when]: die })
        await assert.rejects(async () => {
          const lane = await laneOf(ledger)
          for (const events of scenario.slice(1)) await lane.emit(...events)
        }, /dead/)
        await assert.rejects(ledger.commit({} as Change), /dead/)
        await assert.rejects(ledger.agents(), /dead/)

        const kept = scenario.slice(0, when === 'before_commit' ? at - 1 : at).flat().length
        const recovered = await store.open(folder)
        assert.equal(await recovered.lastGlobalSeq(), kept)
        assert.deepEqual((await recovered.verify()).problems, [])
        await recovered.close()
        await ledger.close()
      }
    }
  },
}
