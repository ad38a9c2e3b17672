/**
 * Conformance of reads: live rows, lists and filters, short ids, events and rounds.
 */
import assert from 'node:assert/strict'
import type { Event, Table } from '../../domain/state/event.ts'
import type { Ledger, LiveRows } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf, type LedgerWorld } from '../world/ledger-world.ts'
import {
  agentPaced,
  briefDelivered,
  callFinished,
  callRecorded,
  decisionMade,
  itemCompleted,
  itemCreated,
  itemPaced,
  messageAdmitted,
  meterOpened,
  requestSent,
  roundRecorded,
  taskEnded,
  taskQueued,
  turnEnded,
  turnStarted,
  waitRegistered,
} from '../events.ts'

const idsOf = (live: LiveRows | null, table: Table) =>
  (live?.rows ?? []).filter(([of]) => of === table).map(([, row]) => row.id)

/** Each row that `live` gives is the committed one; answers their ids by table. */
async function liveIds(ledger: Ledger, lane: LedgerWorld) {
  const live = await ledger.live(lane.agent_id)
  assert.equal(live?.seq, lane.facts.seq)
  assert.equal(live.last_at, lane.facts.last_at)
  for (const [table, row] of live.rows) assert.deepEqual(row, lane.row(table, row.id))
  return (table: Table) => idsOf(live, table)
}

export const readCases: Cases = {
  'agents at work have an open turn or a message that is not over': async (store, home) => {
    const ledger = await store.open(home)
    const lanes = new Map<string, LedgerWorld>()
    for (const id of ['idle', 'in-turn', 'told', 'claimed', 'over']) {
      lanes.set(id, await laneOf(ledger, id))
    }
    const emit = (id: string, ...events: Event[]) => lanes.get(id)?.emit(...events)
    const [turn, past] = [turnStarted(), turnStarted()]
    const [taken, done] = [messageAdmitted(), messageAdmitted()]
    await emit('in-turn', turn)
    await emit('told', messageAdmitted())
    const claimed = { type: 'message_claimed', turn_id: turn.id, to_coalesce: false } as const
    await emit('claimed', taken, { ...claimed, id: taken.id })
    const consumed = { type: 'message_consumed', turn_id: past.id, because: 'answered' } as const
    await emit('over', done, past, { ...claimed, id: done.id, turn_id: past.id })
    await emit('over', { ...consumed, id: done.id }, turnEnded(past.id))
    await emit('idle', itemCreated())
    assert.deepEqual(await ledger.agentsAtWork(), ['in-turn', 'told', 'claimed'])
    await ledger.close()
  },

  'the live rows of an agent are its open work and nobody else’s': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    await other.emit(itemCreated(), messageAdmitted(), taskQueued(), turnStarted())
    const [open, done] = [itemCreated(), itemCreated()]
    const [running, ended] = [taskQueued(), taskQueued()]
    await lane.emit(open, done, itemPaced(open.id), itemPaced(done.id), agentPaced('main'))
    await lane.emit(itemCompleted(done.id), running, ended, taskEnded(ended.id))
    await lane.emit(briefDelivered(), decisionMade())

    const ids = await liveIds(ledger, lane)
    assert.deepEqual(ids('agents'), ['main'])
    assert.deepEqual(ids('work_items'), [open.id, done.id])
    assert.deepEqual(ids('pacing'), [open.id, 'main'])
    assert.deepEqual(ids('tasks'), [running.id])
    for (const table of ['briefs', 'decisions', 'turns', 'rounds', 'calls'] as const) {
      assert.deepEqual(ids(table), [])
    }
    assert.equal(await ledger.live('nobody'), null)
    await ledger.close()
  },

  'an agent with more than a thousand open items has them all, oldest first': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const items = Array.from({ length: 1_100 }, () => itemCreated())
    const waits = items.map(({ id }) => waitRegistered({ work_item_id: id }))
    const paced = items.filter((_, i) => i % 3 === 0).toReversed()
    const done = itemCreated()
    await lane.emit(...items, ...waits, done, ...paced.map(({ id }) => itemPaced(id)))
    await lane.emit(waitRegistered(), agentPaced('main'), itemCompleted(done.id))
    // The meter of the open turn's item is wanted for the turn and for the item.
    const metered = [items[1_000], items[1]].flatMap((item) => item?.id ?? [])
    await lane.emit(
      ...metered.map((id) => meterOpened(id)),
      turnStarted({ work_item_id: items[1_000]?.id ?? null }),
    )
    const settled = waits.slice(0, 700).map(({ id }) => id)
    await lane.emit(
      ...settled.map((id): Event => ({ type: 'wait_cancelled', id, by: 'agent', because: '' })),
    )

    const ids = await liveIds(ledger, lane)
    assert.deepEqual(
      ids('work_items'),
      [...items, done].map(({ id }) => id),
    )
    assert.deepEqual(
      ids('waits').slice(0, 400),
      waits.slice(700).map(({ id }) => id),
    )
    assert.equal(ids('waits').length, 401)
    assert.deepEqual(ids('meters'), metered)
    assert.deepEqual(ids('pacing'), [...paced.map(({ id }) => id), 'main'])
    await ledger.close()
  },

  'of completed items the twenty changed last are live': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const items = Array.from({ length: 23 }, () => itemCreated())
    await lane.emit(...items)
    for (const { id } of items.toReversed()) await lane.emit(itemCompleted(id))

    const ids = await liveIds(ledger, lane)
    const newest = items.slice(0, 20).map(({ id }) => id)
    assert.deepEqual(ids('work_items'), newest.toReversed())
    await ledger.close()
  },

  'a wait is live until nothing has to show or settle it': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const of = { work_item_id: item.id }
    const active = waitRegistered()
    const event = waitRegistered()
    const unshown = waitRegistered({ wake: 'timer' })
    const shown = waitRegistered({ wake: 'timer' })
    const kept = waitRegistered(of)
    const unsettled = waitRegistered({ ...of, released_focus: true })
    const settled = waitRegistered({ ...of, released_focus: true })
    const cancelled = waitRegistered({ ...of, released_focus: true })
    await lane.emit(item, active, event, unshown, shown, kept, unsettled, settled, cancelled)
    const ended = [event, unshown, shown, kept, unsettled, settled]
    await lane.emit(
      ...ended.map(({ id }): Event => ({ type: 'wait_resolved', id, by: { kind: 'runtime' } })),
      { type: 'wait_cancelled', id: cancelled.id, by: 'agent', because: 'no need' },
    )
    await lane.emit(
      { type: 'wait_focus_settled', id: shown.id },
      { type: 'wait_focus_settled', id: settled.id },
    )
    const ids = await liveIds(ledger, lane)
    assert.deepEqual(ids('waits'), [active.id, unshown.id, unsettled.id])
    await ledger.close()
  },

  'an open turn comes with its rounds, calls and every message since its cut': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [old, waiting, seen] = [messageAdmitted(), messageAdmitted(), messageAdmitted()]
    const drop = (id: typeof old.id) => ({ type: 'message_dropped', id, reason: 'test' }) as const
    const past = turnStarted()
    await lane.emit(old, drop(old.id), waiting, past, requestSent(past.id, 1), turnEnded(past.id))
    const turn = turnStarted({ input_cut: lane.facts.seq })
    const call = callRecorded(turn.id, 1, 0)
    await lane.emit(turn, requestSent(turn.id, 1))
    await lane.emit(roundRecorded(`${turn.id}:1`), call, seen, drop(seen.id))

    const during = await liveIds(ledger, lane)
    assert.deepEqual(during('turns'), [turn.id])
    assert.deepEqual(during('rounds'), [`${turn.id}:1`])
    assert.deepEqual(during('calls'), [call.id])
    assert.deepEqual(during('messages'), [waiting.id, seen.id])

    await lane.emit(callFinished(call.id), turnEnded(turn.id))
    const afterwards = await liveIds(ledger, lane)
    assert.deepEqual(afterwards('turns'), [])
    assert.deepEqual(afterwards('rounds'), [])
    assert.deepEqual(afterwards('calls'), [])
    assert.deepEqual(afterwards('messages'), [waiting.id])
    await ledger.close()
  },

  'lists are filtered, cut to the newest, and oldest first': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const items = [itemCreated(), itemCreated(), itemCreated()] as const
    const [a, b, c] = items
    await lane.emit(a, b)
    await other.emit(c)
    await lane.emit(itemCompleted(a.id))
    const turn = turnStarted({ work_item_id: a.id })
    await lane.emit(turn, requestSent(turn.id, 1, { work_item_id: a.id }), turnEnded(turn.id))
    await lane.emit(
      briefDelivered({ work_item_id: a.id, turn_id: turn.id }),
      briefDelivered({ kind: 'question' }),
    )
    const ids = async (...[table, filter]: Parameters<Ledger['list']>) =>
      (await ledger.list(table, filter)).map(({ id }) => id)
    const briefs = lane.all('briefs').map(({ id }) => id)

    assert.deepEqual(await ids('work_items', { limit: 9 }), [a.id, b.id, c.id])
    assert.deepEqual(await ids('work_items', { limit: 2 }), [b.id, c.id])
    assert.deepEqual(await ids('work_items', { limit: 9, agent_id: 'main' }), [a.id, b.id])
    assert.deepEqual(await ids('work_items', { limit: 9, status: ['open'] }), [b.id, c.id])
    assert.deepEqual(
      await ids('work_items', { limit: 9, agent_id: 'main', status: ['open', 'completed'] }),
      [a.id, b.id],
    )
    assert.deepEqual(await ids('turns', { limit: 9, work_item_id: a.id }), [turn.id])
    assert.deepEqual(await ids('turns', { limit: 9, status: ['open'] }), [])
    assert.deepEqual(await ids('rounds', { limit: 9, turn_id: turn.id }), [`${turn.id}:1`])
    assert.deepEqual(await ids('briefs', { limit: 9, work_item_id: a.id }), briefs.slice(0, 1))
    assert.deepEqual(await ids('briefs', { limit: 9, turn_id: turn.id }), briefs.slice(0, 1))
    assert.deepEqual(await ids('briefs', { limit: 9, kind: ['question'] }), briefs.slice(1))
    assert.deepEqual(await ids('agents', { limit: 9, agent_id: 'other' }), ['other'])
    assert.deepEqual(await ids('work_items', { limit: 9, work_item_id: b.id }), [b.id])
    await assert.rejects(ledger.list('briefs', { limit: 9, status: ['open'] }), /have no/)
    await ledger.close()
  },

  'an id is found by any beginning or end of it, with its agent': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const id = (end: string) => `work_01999999-aaaa-7bbb-8ccc-0000000${end}` as const
    await lane.emit(itemCreated({ id: id('17f3a') }), itemCreated({ id: id('27f3a') }))
    await other.emit(itemCreated({ id: id('37f3a') }))
    await lane.emit(itemCreated({ id: 'work_02f3a' }), messageAdmitted({ id: `msg_17f3a` }))
    const like = (text: string, agent?: string) => ledger.idsLike('work_items', text, agent)
    const [a, b] = ['17f3a', '27f3a'].map((end) => ({ id: id(end), agent_id: 'main' }))
    const c = { id: id('37f3a'), agent_id: 'other' }
    const d = { id: 'work_02f3a', agent_id: 'main' }

    // The short form of one of each agent, and the end of two.
    assert.deepEqual(await like('work_7f3a'), [a, c])
    assert.deepEqual(await like('7f3a'), [a, c])
    assert.deepEqual(await like('work_7f3a', 'main'), [a])
    assert.deepEqual(await like('7f3a', 'main'), [a])
    assert.deepEqual(await like('00017f3a', 'main'), [a])
    assert.deepEqual(await like('0199'), [a, b, c])
    assert.deepEqual(await like('01999999-aaaa-7bbb-8ccc-000000027', 'main'), [b])
    assert.deepEqual(await like('aaaa'), [])
    assert.deepEqual(await like('work_27f3a'), [b])
    assert.deepEqual(await like('work_0199'), [a, b, c])
    assert.deepEqual(await like('work_0199', 'other'), [c])
    assert.deepEqual(await like('work_02f3'), [d])
    assert.deepEqual(await like('work_02f3a'), [d])
    assert.deepEqual(await like(id('37f3a')), [c])
    for (const none of ['work_f3a', 'msg_7f3a', 'f3a', 'work_', '', 'work_%%%%', 'work_9999']) {
      assert.deepEqual(await like(none), [], none)
    }
    assert.deepEqual(await ledger.idsLike('agents', 'main'), [{ id: 'main', agent_id: 'main' }])
    await lane.emit(...Array.from({ length: 6 }, (_, i) => itemCreated({ id: `work_beef${i}` })))
    assert.equal((await like('work_beef')).length, 5)
    assert.equal((await like('work_beef', 'other')).length, 0)
    await ledger.close()
  },

  'events are paged in global order, also by agent and by item': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const other = await laneOf(ledger, 'other')
    const item = itemCreated()
    await lane.emit(messageAdmitted(), item)
    await other.emit(messageAdmitted())
    await lane.emit(itemCompleted(item.id))
    const seqs = async (filter: Parameters<Ledger['events']>[0]) =>
      (await ledger.events(filter)).map(({ global_seq }) => global_seq)

    assert.deepEqual(await seqs({ after: 0, limit: 4 }), [1, 2, 3, 4])
    assert.deepEqual(await seqs({ after: 4, limit: 4 }), [5, 6])
    assert.deepEqual(await seqs({ after: 6, limit: 4 }), [])
    assert.deepEqual(await seqs({ after: 1, limit: 2, agent_id: 'main' }), [3, 4])
    assert.deepEqual(await seqs({ after: 0, limit: 9, agent_id: 'other' }), [2, 5])
    assert.deepEqual(await seqs({ after: 0, limit: 9, work_item_id: item.id }), [4, 6])
    assert.deepEqual(await ledger.stats().then(({ events }) => events), 6)
    await ledger.close()
  },

  'a message is found again by its key, but not from too long ago': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [first, second] = [
      messageAdmitted({ dedupe_key: 'k' }),
      messageAdmitted({ dedupe_key: 'k' }),
    ]
    await lane.emit(first, messageAdmitted({ dedupe_key: 'l' }))
    await lane.emit(second)
    const { created_at } = lane.row('messages', second.id)

    const found = lane.row('messages', second.id)
    assert.deepEqual(await ledger.messageByKey('main', 'k', created_at), found)
    assert.equal(await ledger.messageByKey('main', 'k', '2030-01-01T00:00:00.000Z'), null)
    assert.equal(await ledger.messageByKey('other', 'k', created_at), null)
    assert.equal(await ledger.messageByKey('main', 'm', created_at), null)
    await ledger.close()
  },

  'rounds come with their calls, in order': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const item = itemCreated()
    const turn = turnStarted()
    const [second, first] = [callRecorded(turn.id, 1, 1), callRecorded(turn.id, 1, 0)]
    const about = { work_item_id: item.id }
    await lane.emit(item, turn, requestSent(turn.id, 1, about))
    await lane.emit(roundRecorded(`${turn.id}:1`), second, first)
    await lane.emit(requestSent(turn.id, 2), roundRecorded(`${turn.id}:2`))
    await lane.emit(requestSent(turn.id, 3, about), roundRecorded(`${turn.id}:3`))
    await lane.emit(requestSent(turn.id, 4, about))
    const whole = (n: number, ids: readonly string[] = []) => ({
      round: lane.row('rounds', `${turn.id}:${n}`),
      calls: ids.map((id) => lane.row('calls', id)),
    })
    const one = whole(1, [first.id, second.id])

    assert.deepEqual(await ledger.roundsOfTurn(turn.id), [one, whole(2), whole(3), whole(4)])
    assert.deepEqual(await ledger.roundsAbout(item.id, 9), [one, whole(3)])
    assert.deepEqual(await ledger.roundsAbout(item.id, 1), [whole(3)])
    await ledger.close()
  },

  'a round is about every item that a call of it is about': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const [a, b] = [itemCreated(), itemCreated()]
    const turn = turnStarted()
    const made = [callRecorded(turn.id, 1, 0), callRecorded(turn.id, 1, 1)] as const
    const begins = (id: (typeof made)[0]['id'], work_item_id: typeof a.id) =>
      ({ type: 'call_bound', id, work_item_id }) as const
    const said = messageAdmitted()
    await lane.emit(said, turn, requestSent(turn.id, 1))
    await lane.emit({ type: 'message_claimed', id: said.id, turn_id: turn.id, to_coalesce: false })
    await lane.emit(roundRecorded(`${turn.id}:1`), ...made)
    await lane.emit(a, begins(made[0].id, a.id), callFinished(made[0].id))
    await lane.emit(b, begins(made[1].id, b.id), callFinished(made[1].id))
    await lane.emit({ type: 'round_bound', id: `${turn.id}:1`, work_item_id: a.id })
    await lane.emit(turnEnded(turn.id))
    const one = {
      round: lane.row('rounds', `${turn.id}:1`),
      calls: made.map(({ id }) => lane.row('calls', id)),
    }

    for (const { id } of [a, b]) {
      assert.deepEqual(await ledger.roundsAbout(id, 9), [one])
      assert.deepEqual(await ledger.wordsAbout(id, 9), [lane.row('messages', said.id)])
    }
    await ledger.close()
  },
}
