/**
 * Each rule of retention at both sides of each of its conditions, over rows that nothing else
 * holds.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Rows } from '../../domain/state/event.ts'
import { limits } from '../../domain/limits.ts'
import { fromMs } from '../../domain/time.ts'
import { fleeting, isFleeting, Open, type Fleeting } from './rules.ts'

const now = Date.parse('2026-03-02T09:00:00.000Z')
const keysSince = now - limits.dedupe.value
const repliesSince = now - limits.idempotency.value

/**
 * Of each kind one that goes on and one that is over. `turn_about` is over and about an open item,
 * `turn_acted` is over and has acted on one; `main` has a turn open that looked up to 10.
 */
function ledger(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec(`
    create table work_items (id text, state text);
    insert into work_items values ('work_open', 'open'), ('work_done', 'completed');
    create table waits (id text, status text);
    insert into waits values ('wait_on', 'active'), ('wait_off', 'cancelled');
    create table messages (id text, status text);
    insert into messages values ('msg_queued', 'queued'), ('msg_claimed', 'claimed'),
      ('msg_over', 'consumed'), ('msg_t1', 'queued'), ('msg_t2', 'consumed');
    create table calls (turn_id text, work_item_id text);
    insert into calls values ('turn_acted', 'work_done'), ('turn_acted', 'work_open'),
      ('turn_over', 'work_done');
    create table turns (id text, agent_id text, state text, data text);
    create table agents (id text, state text, data text);
    insert into agents values ('main', 'active', '{"supervisor_agent_id":null}'),
      ('child', 'active', '{"supervisor_agent_id":"main"}'),
      ('gone', 'deleted', '{"supervisor_agent_id":"main"}');
    create table receipts (data text);
  `)
  const turn = (id: string, agent_id: string, state: string, work_item_id: string | null) =>
    database
      .prepare('insert into turns values (?, ?, ?, ?)')
      .run(
        id,
        agent_id,
        state,
        JSON.stringify({ id, agent_id, state, work_item_id, input_cut: 10 }),
      )
  turn('turn_open', 'main', 'open', null)
  turn('turn_over', 'main', 'ended', 'work_done')
  turn('turn_about', 'main', 'ended', 'work_open')
  turn('turn_acted', 'main', 'ended', null)
  const receipt = (ms: number, id: string | null, message_id: string | null) =>
    database
      .prepare('insert into receipts values (?)')
      .run(JSON.stringify({ created_at: fromMs(ms), reply: { id, message_id } }))
  receipt(repliesSince, 'task_replied', 'msg_replied')
  receipt(repliesSince - 1, 'task_forgotten', 'msg_forgotten')
  receipt(repliesSince, null, null)
  return database
}

const base = {
  waits: { id: 'wait_1', status: 'cancelled', work_item_id: null },
  messages: {
    id: 'msg_1',
    agent_id: 'other',
    status: 'consumed',
    kind: 'operator_prompt',
    inbox_seq: 1,
    dedupe_key: null,
    created_at: fromMs(now),
    work_item_id: null,
    turn_id: null,
    wait_id: null,
  },
  turns: { id: 'turn_1', state: 'ended', work_item_id: null },
  rounds: { id: 'turn_1:1', turn_id: 'turn_over', work_item_id: null },
  calls: { id: 'call_1', turn_id: 'turn_over', work_item_id: null },
  tasks: { id: 'task_1', status: 'completed', work_item_id: null },
  briefs: { id: 'brief_1', kind: 'reply', work_item_id: null, turn_id: null, wait_id: null },
  decisions: { id: 'dec_1', work_item_id: null },
  deliveries: { id: 'dlv_1', sender_id: null, received_at: fromMs(now), message_id: null },
  slots: { id: 'sched_1@x', message_id: null },
  receipts: { id: 'rcpt_1', created_at: fromMs(repliesSince - 1) },
} as const

const onItem = { work_item_id: 'work_open' }
/** What keeps a row, and what is next to it and does not. */
const rows: { readonly [T in Fleeting]: { keeps: readonly object[]; leaves: readonly object[] } } =
  {
    waits: {
      keeps: [onItem, { status: 'active' }],
      leaves: [{ work_item_id: 'work_done' }, { work_item_id: 'work_gone' }],
    },
    messages: {
      keeps: [
        onItem,
        { status: 'queued' },
        { status: 'claimed' },
        { agent_id: 'main', inbox_seq: 11 },
        { agent_id: 'child', kind: 'delegation' },
        { dedupe_key: 'k', created_at: fromMs(keysSince) },
        { turn_id: 'turn_open' },
        { turn_id: 'turn_about' },
        { turn_id: 'turn_acted' },
        { wait_id: 'wait_on' },
        { id: 'msg_replied' },
      ],
      leaves: [
        { work_item_id: 'work_done' },
        { agent_id: 'main', inbox_seq: 10 },
        { agent_id: 'main', kind: 'delegation' },
        { agent_id: 'gone', kind: 'delegation' },
        { agent_id: 'child' },
        { dedupe_key: 'k', created_at: fromMs(keysSince - 1) },
        { turn_id: 'turn_over' },
        { turn_id: 'turn_gone' },
        { wait_id: 'wait_off' },
        { id: 'msg_forgotten' },
      ],
    },
    turns: {
      keeps: [onItem, { state: 'open' }, { id: 'turn_acted' }],
      leaves: [{ work_item_id: 'work_done' }, { id: 'turn_over' }],
    },
    rounds: {
      keeps: [
        onItem,
        { turn_id: 'turn_open' },
        { turn_id: 'turn_about' },
        { turn_id: 'turn_acted' },
      ],
      leaves: [{ work_item_id: 'work_done' }, { turn_id: 'turn_gone' }],
    },
    calls: {
      keeps: [
        onItem,
        { turn_id: 'turn_open' },
        { turn_id: 'turn_about' },
        { turn_id: 'turn_acted' },
      ],
      leaves: [{ work_item_id: 'work_done' }, { turn_id: 'turn_gone' }],
    },
    tasks: {
      keeps: [
        onItem,
        { status: 'queued' },
        { status: 'running' },
        { status: 'cancelling' },
        { id: 'task_replied' },
        { id: 'task_t1' },
      ],
      leaves: [
        { work_item_id: 'work_done' },
        { status: 'failed' },
        { status: 'cancelled' },
        { status: 'interrupted' },
        { id: 'task_forgotten' },
        { id: 'task_t2' },
      ],
    },
    briefs: {
      keeps: [onItem, { kind: 'result' }, { turn_id: 'turn_acted' }, { wait_id: 'wait_on' }],
      leaves: [
        { work_item_id: 'work_done' },
        { kind: 'failure' },
        { turn_id: 'turn_over' },
        { wait_id: 'wait_off' },
      ],
    },
    decisions: { keeps: [onItem], leaves: [{ work_item_id: 'work_done' }] },
    deliveries: {
      keeps: [
        { sender_id: 's', received_at: fromMs(keysSince) },
        { message_id: 'msg_queued' },
        { message_id: 'msg_claimed' },
      ],
      leaves: [
        { sender_id: 's', received_at: fromMs(keysSince - 1) },
        { message_id: 'msg_over' },
        { message_id: 'msg_gone' },
      ],
    },
    slots: {
      keeps: [{ message_id: 'msg_queued' }, { message_id: 'msg_claimed' }],
      leaves: [{ message_id: 'msg_over' }, { message_id: 'msg_gone' }],
    },
    receipts: {
      keeps: [{ created_at: fromMs(repliesSince) }],
      leaves: [{ created_at: fromMs(repliesSince - 1_000) }],
    },
  }

test('a row that ended goes, unless one thing that goes on holds it: each thing holds alone', () => {
  const open = new Open(ledger(), now)
  assert.deepEqual(fleeting.toSorted(), Object.keys(rows).toSorted())
  for (const table of fleeting) {
    const isOver = (given: object) =>
      open.isOver(table, { ...base[table], ...given } as unknown as Rows[typeof table])
    assert.equal(isOver({}), true, table)
    for (const given of rows[table].keeps) {
      assert.equal(isOver(given), false, `${table} with ${JSON.stringify(given)}`)
    }
    for (const given of rows[table].leaves) {
      assert.equal(isOver(given), true, `${table} with ${JSON.stringify(given)}`)
    }
  }
})

test('what is never taken has no rule', () => {
  for (const table of ['agents', 'work_items', 'pacing', 'triggers', 'schedules'] as const) {
    assert.equal(isFleeting(table), false)
    assert.throws(() => new Open(ledger(), now).isOver(table as Fleeting, {} as never), /no rule/)
  }
})

test('an agent without an open turn looks up to nothing: all that it was sent may go', () => {
  const database = ledger()
  database.exec(`update turns set state = 'ended' where id = 'turn_open'`)
  const open = new Open(database, now)
  const message = { ...base.messages, agent_id: 'main', inbox_seq: 11 } as unknown
  assert.equal(open.isOver('messages', message as Rows['messages']), true)
})
