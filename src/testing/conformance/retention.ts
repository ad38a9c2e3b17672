/**
 * Conformance of retention: what ended long ago goes with its events, everything else stays and
 * still verifies, and a kill at any point only means that it goes on later.
 */
import assert from 'node:assert/strict'
import { tables, type Table } from '../../domain/state/event.ts'
import { taskResultId } from '../../domain/ids.ts'
import { delegated } from '../../domain/state/provenance.ts'
import type { Ledger, LedgerReads } from '../../ledger/port.ts'
import type { Cases, ConformanceStore } from './case.ts'
import { laneOf, LedgerWorld } from '../world/ledger-world.ts'
import {
  agentCreated,
  agentPaced,
  briefDelivered,
  callFinished,
  callRecorded,
  decisionMade,
  deliveryAccepted,
  deliveryDead,
  itemCompleted,
  itemCreated,
  itemPaced,
  messageAdmitted,
  receiptKept,
  requestSent,
  roundRecorded,
  scheduleCreated,
  slotSettled,
  taskEnded,
  taskQueued,
  triggerCreated,
  turnEnded,
  turnStarted,
  usageOf,
  waitRegistered,
} from '../events.ts'

/** Later than everything that is committed here. */
export const always = '2026-06-01T00:00:00.000Z'
const many = 10_000

export async function rowsOf(ledger: LedgerReads): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of tables) found[table] = await ledger.list(table, { limit: many })
  return found
}

const idsOf = async (ledger: LedgerReads, table: Table): Promise<string[]> =>
  (await ledger.list(table, { limit: many })).map(({ id }) => id)

/** One turn about an item, or about none, with a round, a call, a task and what belongs to it. */
async function work(
  lane: LedgerWorld,
  item: ReturnType<typeof itemCreated> | null,
): Promise<string> {
  const about = { work_item_id: item?.id ?? null }
  const turn = turnStarted({ ...about, input_cut: lane.facts.seq })
  const message = messageAdmitted({ ...about, consumed_because: 'shown' })
  const call = callRecorded(turn.id, 1, 0)
  const task = { ...taskQueued(), ...about }
  await lane.emit(message, turn, { ...decisionMade(), ...about }, requestSent(turn.id, 1, about))
  const usage = usageOf({ input_tokens: 10, output_tokens: 2, usd: 0.5 })
  await lane.emit({ ...roundRecorded(`${turn.id}:1`), usage }, call, task)
  await lane.emit(taskEnded(task.id), callFinished(call.id))
  await lane.emit(briefDelivered({ ...about, turn_id: turn.id }), turnEnded(turn.id))
  return turn.id
}

/**
 * A completed item and an open one, each with its turn, a turn about none, an agent that fell
 * silent, and one of everything that comes from outside.
 */
export async function inhabited(ledger: Ledger) {
  const lane = await laneOf(ledger)
  const silent = await laneOf(ledger, 'silent')
  await silent.emit(messageAdmitted({ consumed_because: 'said' }))
  await silent.emit(messageAdmitted({ consumed_because: 'said' }), decisionMade())
  const [done, open] = [itemCreated(), itemCreated()]
  await lane.emit(done, open, itemPaced(done.id), agentPaced('main'))
  const turns = [await work(lane, done), await work(lane, open), await work(lane, null)]
  const waited = waitRegistered({ work_item_id: done.id })
  const schedule = scheduleCreated()
  await lane.emit(
    waited,
    { type: 'wait_cancelled', id: waited.id, by: 'agent', because: 'done' },
    itemCompleted(done.id),
    briefDelivered({ kind: 'result', work_item_id: done.id }),
    triggerCreated(),
    schedule,
    slotSettled(schedule.id),
    deliveryDead(),
    deliveryAccepted({ sender_id: 'known for 8 days' }),
    receiptKept(),
    messageAdmitted({ dedupe_key: 'known for 8 days', consumed_because: 'said' }),
  )
  await lane.emit(messageAdmitted())
  return { lane, silent, done, open, turns }
}

/** What stays of `inhabited`, by table, when everything old is taken. */
const staying = {
  agents: 2,
  work_items: 2,
  waits: 0,
  // Of the open item's turn, with a key, queued, and the last word of the silent one's.
  messages: 3,
  turns: 1,
  rounds: 1,
  calls: 1,
  tasks: 1,
  briefs: 2,
  decisions: 2,
  pacing: 2,
  triggers: 1,
  deliveries: 1,
  grants: 0,
  schedules: 1,
  slots: 0,
  receipts: 1,
  snoozes: 0,
  delegations: 0,
  worktrees: 0,
  meters: 0,
}

const counted = (rows: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(rows).map(([table, all]) => [table, all.length]))

async function mustVerify(ledger: LedgerReads): Promise<void> {
  assert.deepEqual((await ledger.verify()).problems, [])
}

/** The home after an undisturbed run, and how many transactions that took. */
async function cleared(
  store: ConformanceStore,
  home: string,
): Promise<{ rows: unknown; batches: number }> {
  let batches = 0
  const ledger = await store.open(home, {
    before_commit: () => {},
    after_commit: () => {},
    around_batch: (n) => void (batches = n),
  })
  await ledger.retain({ before: always, dry_run: false, batch: 7 })
  const rows = await rowsOf(ledger)
  await ledger.close()
  return { rows, batches }
}

export const retentionCases: Cases = {
  'retention takes what ended before the horizon, and a dry run counts just that': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const { lane, silent } = await inhabited(ledger)
    const [main, other] = [await ledger.live('main'), await ledger.live('silent')]
    const spend = await ledger.spend({ by: ['agent', 'item', 'day'] })
    const before = await rowsOf(ledger)
    const events = await ledger.stats().then((stats) => stats.events)

    const dry = await ledger.retain({ before: always, dry_run: true })
    assert.deepEqual(await rowsOf(ledger), before)
    assert.deepEqual(await ledger.eventRange(null), { first: 1, last: events })
    const run = await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual({ ...run, dry_run: true }, dry)

    const after = await rowsOf(ledger)
    assert.deepEqual(counted(after), staying)
    const gone = Object.entries(counted(before)).map(([table, n]) => [
      table,
      n - (counted(after)[table] ?? 0),
    ])
    assert.deepEqual(run.rows, Object.fromEntries(gone.filter(([, n]) => n !== 0)))
    assert.equal(run.events, events - 2)
    assert.equal(await ledger.stats().then((stats) => stats.events), 2)
    for (const [table, rows] of Object.entries(after)) {
      for (const row of rows as { id: string }[]) {
        const owner = silent.rows.has(`${table} ${row.id}`) ? silent : lane
        assert.deepEqual(row, owner.row(table as Table, row.id))
      }
    }
    assert.deepEqual([await ledger.live('main'), await ledger.live('silent')], [main, other])
    assert.deepEqual(await ledger.spend({ by: ['agent', 'item', 'day'] }), spend)
    await mustVerify(ledger)
    const nothing = { events: 0, rows: {}, blobs: 0, bytes: 0 }
    const again = await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual(again, { ...run, ...nothing })
    await ledger.close()
  },

  'the last event of an agent stays, and its feeds say what is gone': async (store, home) => {
    const ledger = await store.open(home)
    const { lane, silent } = await inhabited(ledger)
    const last = await ledger.lastGlobalSeq()
    const { global_seq } = await ledger.retain({ before: always, dry_run: false })
    assert.equal(global_seq, last - 1)
    assert.deepEqual(await ledger.eventRange(null), { first: last, last })
    const { seq } = silent.facts
    assert.deepEqual(await ledger.eventRange('silent'), { first: seq, last: seq })
    assert.deepEqual(
      (await ledger.eventPage({ agent_id: 'silent', limit: 9 })).map((event) => event.seq),
      [seq],
    )

    await silent.emit(messageAdmitted())
    await lane.emit(messageAdmitted())
    assert.deepEqual(
      (await ledger.eventPage({ after: global_seq, limit: 9 })).map((event) => event.global_seq),
      [last, last + 1, last + 2],
    )
    await mustVerify(ledger)
    await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual(await ledger.eventRange('silent'), { first: seq + 1, last: seq + 1 })
    await mustVerify(ledger)
    await ledger.close()
    const reopened = await store.open(home)
    await mustVerify(reopened)
    await reopened.close()
  },

  'an event at the horizon stays, and all after it': async (store, home) => {
    const ledger = await store.open(home)
    const { lane } = await inhabited(ledger)
    const feed = await ledger.eventPage({ limit: many })
    const middle = feed[Math.floor(feed.length / 2)]
    const first = feed.find(({ at }) => at >= (middle?.at ?? ''))?.global_seq ?? 0
    await ledger.retain({ before: middle?.at ?? '', dry_run: false })
    assert.deepEqual(await ledger.eventRange(null), { first, last: feed.length })
    assert.deepEqual(
      await ledger.eventPage({ after: first - 1, limit: many }),
      feed.slice(first - 1),
    )
    await lane.emit(messageAdmitted())
    await mustVerify(ledger)
    await ledger.close()
  },

  'what an open item or turn held goes when that has ended': async (store, home) => {
    const ledger = await store.open(home)
    const { lane, open, turns } = await inhabited(ledger)
    const live = turnStarted({ input_cut: lane.facts.seq })
    const seen = messageAdmitted({ consumed_because: 'a result' })
    await lane.emit(live, requestSent(live.id, 1), seen)
    await lane.emit(messageAdmitted())
    await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual(await idsOf(ledger, 'turns'), [turns[1], live.id])
    assert.ok((await idsOf(ledger, 'messages')).includes(seen.id))

    await lane.emit(turnEnded(live.id), itemCompleted(open.id))
    await lane.emit(messageAdmitted())
    const dry = await ledger.retain({ before: always, dry_run: true })
    const run = await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual(run, { ...dry, dry_run: false })
    for (const table of ['turns', 'rounds', 'calls', 'tasks'] as const) {
      assert.deepEqual(await idsOf(ledger, table), [], table)
    }
    assert.deepEqual(
      (await ledger.list('briefs', { limit: many })).map(({ kind }) => kind),
      ['result'],
    )
    await mustVerify(ledger)
    await ledger.close()
  },

  'a task stays as long as its result is unread': async (store, home) => {
    const ledger = await store.open(home)
    const { lane } = await inhabited(ledger)
    const [unread, read] = [taskQueued(), taskQueued()]
    const result = (task: typeof unread, consumed_because: string | null) =>
      messageAdmitted({ id: taskResultId(task.id), task_id: task.id, consumed_because })
    await lane.emit(unread, read)
    await lane.emit(taskEnded(unread.id), taskEnded(read.id))
    await lane.emit(result(unread, null), result(read, 'its answer came'))
    await lane.emit(messageAdmitted())
    await ledger.retain({ before: always, dry_run: false })
    const kept = await idsOf(ledger, 'tasks')
    assert.deepEqual([kept.includes(unread.id), kept.includes(read.id)], [true, false])
    await mustVerify(ledger)
    await ledger.close()
  },

  'the handoff of a child stays as long as the child is supervised': async (store, home) => {
    const ledger = await store.open(home)
    for (const [id, supervisor] of [
      ['boss.1', 'boss'],
      ['boss.2', null],
    ] as const) {
      const lane = new LedgerWorld(ledger, id)
      const by = supervisor === null ? {} : { supervisor_agent_id: supervisor }
      await lane.emit(agentCreated(id, by))
      const provenance = delegated([])
      await lane.emit(messageAdmitted({ provenance, body: 'Do x.', consumed_because: 'read' }))
      await lane.emit(messageAdmitted({ consumed_because: 'said' }))
      await lane.emit(messageAdmitted())
    }
    await ledger.retain({ before: always, dry_run: false })
    const bodies = async (agent_id: string) =>
      (await ledger.list('messages', { agent_id, limit: many })).map(({ body }) => body)
    assert.deepEqual(await bodies('boss.1'), ['Do x.', 'hello'])
    assert.deepEqual(await bodies('boss.2'), ['hello'])
    await mustVerify(ledger)
    await ledger.close()
  },

  'a retention killed at any point is gone on with': async (store, home) => {
    const build = async (folder: string) => {
      const ledger = await store.open(folder)
      await inhabited(ledger)
      await ledger.close()
    }
    await build(`${home}/whole`)
    const { batches } = await cleared(store, `${home}/whole`)
    assert.ok(batches > 10, `${batches} transactions`)
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= batches; at += 3) {
        const folder = `${home}/${when}-${at}`
        await build(folder)
        const killed = await store.open(folder, {
          before_commit: () => {},
          after_commit: () => {},
          around_batch: (n, moment) => assert.ok(n !== at || moment !== when, 'dead'),
        })
        const options = { before: always, dry_run: false, batch: 7 }
        await assert.rejects(killed.retain(options), /dead/)
        await assert.rejects(killed.agents(), /dead/)
        const recovered = await store.open(folder)
        await mustVerify(recovered)
        await recovered.retain(options)
        assert.deepEqual(counted(await rowsOf(recovered)), staying)
        await mustVerify(recovered)
        await recovered.close()
      }
    }
  },

  'commits go on while it runs': async (store, home) => {
    const ledger = await store.open(home)
    const { lane } = await inhabited(ledger)
    const run = ledger.retain({ before: always, dry_run: false, batch: 3 })
    const said = Array.from({ length: 20 }, () => messageAdmitted())
    for (const message of said) await lane.emit(message)
    await run
    const kept = await idsOf(ledger, 'messages')
    assert.ok(said.every(({ id }) => kept.includes(id)))
    await mustVerify(ledger)
    await ledger.close()
  },
}
