import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deliver,
  focusOf,
  item,
  itemRow,
  pick,
  say,
  T0,
  task,
  wait,
  World,
} from '../../testing/world/agent-world.ts'
import { begin, taskEnds, turn, turnOf } from '../../testing/world/turns.ts'
import { updateItem } from '../work/create-and-update.ts'
import { agentPacing } from '../facts/facts.ts'
import { decideNext } from '../scheduler/next.ts'
import { survey } from '../scheduler/survey.ts'
import { abandonTurn, startTurn } from './start.ts'
import { observePlan } from './end.ts'
import { noUsage } from '../state/turn.ts'

test('a turn is its cause, its item, its cut and why, all in one commit', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const { message_id } = say(w)
  const cut = w.facts.seq
  const started = begin(w, 'message')
  assert.deepEqual(started, {
    id: 'turn_0001',
    agent_id: 'main',
    work_item_id: id,
    cause: { kind: 'message', message_id },
    because: 'the operator spoke',
    state: 'open',
    outcome: null,
    reason: null,
    model: 'test/model',
    input_cut: cut,
    started_by: 'input',
    end_revision: null,
    end_seq: null,
    progress: null,
    usage: noUsage,
    started_at: T0,
    ended_at: null,
  })
  assert.deepEqual(
    w.last.map((e) => e.type),
    ['decision_made', 'turn_started', 'message_claimed', 'agent_paced'],
  )
  assert.equal(w.row('messages', message_id).status, 'claimed')
  assert.equal(agentPacing(w.facts).turn_count, 1)
})

test('the decision is stored with what it was about and every candidate it passed over', () => {
  const w = new World()
  const [a, b, c, d] = [item(w, { focus: true }), item(w), item(w), item(w)]
  w.do((x) => updateItem(x, { work_item_id: b, by: 'agent', blocked_by: 'no key' }))
  wait(w, { work_item_id: c, source: 'ci', delivery_mode: 'wake_hint' })
  deliver(w, { source: 'ci' })
  const { message_id } = say(w)
  begin(w, 'message')
  const [row] = w.all('decisions')
  assert.deepEqual(row, {
    id: 'dec_0001',
    agent_id: 'main',
    at: T0,
    decision: 'start_turn(message)',
    because: 'the operator spoke',
    work_item_id: a,
    message_id,
    evidence: ['turn 1 of the agent', 'self-started turns about it: 0'],
    considered: [
      {
        work_item_id: a,
        candidate_class: 'current_runnable',
        verdict: `a message goes first: ${message_id}`,
      },
      {
        work_item_id: c,
        candidate_class: 'triggered_blocked',
        verdict: 'rule 8: wait_0001 was triggered once, new',
      },
      {
        work_item_id: d,
        candidate_class: 'queued_runnable',
        verdict: `a message goes first: ${message_id}`,
      },
      { work_item_id: b, candidate_class: 'blocked', verdict: 'blocked_by is set' },
    ],
  })
})

test('a decision counts the candidates that a prompt does not show', () => {
  const w = new World()
  for (let n = 0; n < 7; n++) item(w)
  begin(w, 'queued_available')
  assert.deepEqual(w.all('decisions')[0]?.considered.at(-1), {
    candidate_class: 'queued_runnable',
    more: 2,
  })
})

test('the item of a turn is its message’s, the reviewed one, else the focus, else none', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w), item(w)]
  say(w, { work_item_id: b })
  assert.equal(turn(w, { rule: 'message' }).work_item_id, b)
  say(w)
  assert.equal(turn(w, { rule: 'message' }).work_item_id, null)
  assert.equal(turn(w, { rule: 'queued_available' }).work_item_id, null)
  wait(w, { work_item_id: c, source: 'ci', delivery_mode: 'wake_hint' })
  deliver(w, { source: 'ci' })
  assert.equal(turn(w, { rule: 'review_triggered' }).work_item_id, c)
  pick(w, a)
  say(w)
  assert.equal(turn(w, { rule: 'message' }).work_item_id, a)
  assert.equal(turn(w, { rule: 'continue_current' }).work_item_id, a)
})

test('the commit that opens a turn fails if one is open', () => {
  const w = new World()
  say(w)
  begin(w)
  const s = survey(w.facts, w.now, false)
  const recover = decideNext(s)
  assert.ok(recover.do === 'start_turn' && recover.start.rule === 'recover')
  assert.throws(() => w.do((d) => startTurn(d, s, recover, 'm')), /open already/)
})

test('a plan change seen by the start of the turn is inside its input cut', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const plan = { ...itemRow(w, id).plan_artifact, sha256: 'p', bytes: 4 }
  const s = survey(w.facts, w.now, false)
  const next = decideNext(s)
  assert.ok(next.do === 'start_turn')
  w.do((d) => {
    observePlan(d, itemRow(w, id), plan)
    startTurn(d, s, next, 'm')
  })
  assert.equal(itemRow(w, id).changed_seq <= turnOf(w).input_cut, true)
})

test('a turn about an item reviews its wait: triggers counted, a due recheck consumed', () => {
  const w = new World()
  const id = item(w)
  const row = wait(w, { work_item_id: id, source: 'ci', recheck_at: T0 }).wait
  deliver(w, { source: 'ci' })
  deliver(w, { source: 'ci' })
  begin(w, 'message')
  const { reviewed_trigger_count, recheck_at, reviewed_at } = w.row('waits', row.id)
  assert.deepEqual(
    [reviewed_trigger_count, recheck_at, reviewed_at],
    [2, '2026-03-02T09:01:00.000Z', T0],
  )
})

test('a turn without a request is closed interrupted: claims and reviews are undone', () => {
  const w = new World()
  const id = item(w)
  const row = wait(w, { work_item_id: id, source: 'ci', recheck_at: T0 }).wait
  const { message_id } = deliver(w, { source: 'ci' })
  const before = w.row('waits', row.id)
  const { id: turn_id } = begin(w, 'message')
  w.reload().do(abandonTurn)
  const ended = w.row('turns', turn_id)
  assert.deepEqual(
    [ended.state, ended.outcome, ended.reason],
    ['ended', 'interrupted', 'no_request'],
  )
  assert.deepEqual(w.row('waits', row.id), before)
  const { status, attempts, turn_id: bound } = w.row('messages', message_id)
  assert.deepEqual([status, attempts, bound], ['queued', 1, null])
  assert.equal(w.next().do, 'start_turn')
})

test('the end of an agent-level wait shown by a turn without a request is shown again', () => {
  const w = new World()
  const t = task(w, { promoted: false })
  wait(w, { wake: 'task_result', resource: t.id, task: t })
  taskEnds(w, t)
  begin(w, 'review_triggered')
  w.reload().do(abandonTurn)
  begin(w.pass(60_000), 'review_triggered')
})

test('at the third turn without a request the message is dead, and a brief says so', () => {
  const w = new World()
  const { message_id } = say(w, { text: 'poison' })
  for (const status of ['queued', 'queued', 'dead']) {
    begin(w, 'message')
    w.do(abandonTurn)
    assert.equal(w.row('messages', message_id).status, status)
  }
  assert.deepEqual(
    w.all('briefs').map((b) => [b.kind, b.message_id, b.text]),
    [
      [
        'failure',
        message_id,
        'A message was given up: 3 turns that claimed it ended before the model had seen it. ' +
          'It began: "poison"',
      ],
    ],
  )
  assert.equal(w.next().do, 'sleep')
})

test('a runtime note for a turn that is closed without a request starts no turn of its own', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  w.do((d) => updateItem(d, { work_item_id: id, by: 'operator', blocked_by: 'stop' }))
  w.do(abandonTurn)
  assert.deepEqual(
    w.all('messages').map((m) => m.status),
    ['dropped'],
  )
  assert.equal(w.next().do, 'wait')
  assert.equal(focusOf(w), null)
})

test('a message claimed by a turn that asked is not given back by its end', () => {
  const w = new World()
  const { message_id } = say(w)
  turn(w)
  assert.deepEqual(
    [w.row('messages', message_id).status, w.row('messages', message_id).round],
    ['consumed', 1],
  )
})

test('a wait that was cancelled meanwhile has no review to undo', () => {
  const w = new World()
  const id = item(w)
  wait(w, { work_item_id: id, source: 'ci' })
  deliver(w, { source: 'ci' })
  begin(w, 'message')
  w.do((d) => updateItem(d, { work_item_id: id, by: 'operator', blocked_by: null }))
  w.do(abandonTurn)
  assert.deepEqual(w.lastOf('wait_review_undone'), [])
})
