import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, say, T0, wait, World } from '../../testing/world/agent-world.ts'
import { begin, turnOf } from '../../testing/world/turns.ts'
import { agentPacing, itemPacing } from '../facts/facts.ts'
import {
  askAboutBucket,
  askAboutQueue,
  deliverFailure,
  holdAgent,
  park,
  providerServed,
  releaseHolds,
  type AgentHold,
} from './park.ts'
import { plus } from '../time.ts'
import { fireDue } from '../waits/wait-end.ts'

const minute = 60_000
const hold = (w: World, given: Partial<AgentHold> = {}) =>
  w.do((d) => holdAgent(d, { cause: 'provider_world', message: '503.', until: null, ...given }))
const holds = (w: World) =>
  w.all('waits').filter((x) => x.wake === 'system' && x.status === 'active')

test('holds in a row last 1, 5, 15, then 60 minutes, until the provider served again', () => {
  const w = new World()
  const lasted: number[] = []
  const once = () => {
    hold(w)
    const until = holds(w)[0]?.wake_at ?? assert.fail()
    lasted.push((Date.parse(until) - Date.parse(w.now)) / minute)
    w.now = until
    w.do(fireDue)
  }
  for (let n = 0; n < 5; n++) once()
  w.do(providerServed)
  once()
  assert.deepEqual(lasted, [1, 5, 15, 60, 60, 1])
})

test('a hold is one agent-level system wait with one failure brief; no item is touched', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const before = itemRow(w, id)
  hold(w)
  hold(w)
  assert.equal(holds(w).length, 1)
  assert.deepEqual(
    w.all('briefs').map((b) => [b.kind, b.text, b.wait_id, b.work_item_id]),
    [
      [
        'failure',
        `503. The agent is held until ${plus(T0, minute)}, then it goes on by itself. ` +
          'Nothing is lost.',
        holds(w)[0]?.id,
        null,
      ],
    ],
  )
  assert.deepEqual(itemRow(w, id), before)
  assert.deepEqual(w.next(), {
    do: 'wait',
    for: 'system',
    until: plus(T0, minute),
    because: 'the agent is held: 503.',
  })
})

test('the provider’s own time goes before the steps', () => {
  const w = new World()
  hold(w, { until: plus(T0, 42_000) })
  assert.equal(holds(w)[0]?.wake_at, plus(T0, 42_000))
})

test('a hold for the setup lasts until the operator ends it', () => {
  const w = new World()
  hold(w, { cause: 'provider_setup', message: 'The key is refused.' })
  assert.equal(holds(w)[0]?.wake_at, null)
  assert.match(w.all('briefs')[0]?.text ?? '', /until you start it again or change the setting/)
  w.pass(1000 * minute).do(fireDue)
  assert.equal(w.next().do, 'wait')
  w.do(releaseHolds)
  assert.equal(w.next().do, 'sleep')
})

test('the same open turn goes on after a hold', () => {
  const w = new World()
  say(w)
  begin(w)
  hold(w)
  assert.equal(w.next().do, 'wait')
  w.pass(minute).do(fireDue)
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'recover')
  assert.equal(next.start.turn.id, turnOf(w).id)
})

test('a hold counts no attempt, and ends no other wait', () => {
  const w = new World()
  const { message_id } = say(w)
  const other = wait(w, { work_item_id: item(w) }).wait
  hold(w)
  w.do(releaseHolds)
  assert.deepEqual(
    [w.row('messages', message_id).attempts, w.row('waits', other.id).status],
    [0, 'active'],
  )
  assert.equal(agentPacing(w.facts).holds, 1)
})

/** The questions that are open, and who asks them of what. */
const questions = (w: World) =>
  w
    .all('waits')
    .filter(({ status }) => status === 'active')
    .map(({ wake, by, runtime_cause, work_item_id, reason }) => [
      wake,
      by,
      runtime_cause,
      work_item_id,
      reason,
    ])

test('an item that goes in circles is put to the operator, in words that name what happened', () => {
  const rows = [
    [
      'no_progress',
      'no_progress',
      'Three turns in a row made no progress on work_0001: turn_7, turn_8. How shall it go on?',
    ],
    [
      'self_started',
      'self_started_limit',
      '50 turns went by on work_0001 without anything from outside. Shall it go on, and how?',
    ],
  ] as const
  for (const [why, cause, question] of rows) {
    const w = new World()
    const id = item(w)
    w.facts.include('pacing', {
      ...itemPacing(w.facts, id),
      no_progress_turns: ['turn_7', 'turn_8'],
    })
    w.do((d) => park(d, id, why))
    assert.deepEqual(questions(w), [['operator_input', 'runtime', cause, id, question]])
    assert.deepEqual(
      w.all('briefs').map((brief) => [brief.kind, brief.text, brief.work_item_id, brief.wait_id]),
      [['question', question, id, 'wait_0001']],
    )
  }
})

test('about the queue and about the bucket is asked once, until there was an answer', () => {
  const w = new World()
  say(w)
  const turn = begin(w, 'message')
  w.do((d) => askAboutQueue(d, turn))
  w.do((d) => askAboutQueue(d, turn))
  assert.deepEqual([w.do((d) => askAboutBucket(d)), w.do((d) => askAboutBucket(d))], [true, false])
  assert.deepEqual(questions(w), [
    [
      'operator_input',
      'runtime',
      'queue_no_progress',
      null,
      'Three turns looked at the queue and took nothing up, the last was turn_0001. ' +
        'Which item shall be worked on?',
    ],
    [
      'operator_input',
      'runtime',
      'bucket_empty',
      null,
      'The agent used its 500 self-started turns; one comes back every ten minutes. ' +
        'Any word from you fills them up again. Shall it go on?',
    ],
  ])
  const { queue_wait_id, bucket_wait_id } = agentPacing(w.facts)
  assert.deepEqual([queue_wait_id, bucket_wait_id], ['wait_0001', 'wait_0002'])
})

test('that a turn failed is told once, with the turn and its item', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const turn = begin(w, 'continue_current')
  w.do((d) => deliverFailure(d, turn, 'The model gave no answer.'))
  assert.deepEqual(w.last, [
    {
      type: 'brief_delivered',
      id: 'brief_0001',
      kind: 'failure',
      text: 'The model gave no answer.',
      turn_id: 'turn_0001',
      work_item_id: id,
      wait_id: null,
      message_id: null,
      task_id: null,
      warnings: [],
    },
  ])
})

test('what a hold writes is one wait, one brief and one step of the back-off', () => {
  const rows = ['provider_world', 'disk_full', 'provider_setup'] as const
  for (const cause of rows) {
    const w = new World()
    hold(w, { cause, message: 'No.', until: plus(T0, 7) })
    const wake_at = cause === 'provider_setup' ? null : plus(T0, 7)
    const [wait, brief, pace] = w.last
    assert.deepEqual(wait, {
      type: 'wait_registered',
      id: 'wait_0001',
      work_item_id: null,
      wake: 'system',
      by: 'runtime',
      runtime_cause: cause,
      reason: 'No.',
      question: null,
      resource: null,
      source: null,
      condition: null,
      delivery_mode: 'wake_hint',
      since_seq: 1,
      wake_at,
      recheck_at: null,
      released_focus: false,
    })
    const until =
      wake_at === null
        ? 'until you start it again or change the setting'
        : `until ${wake_at}, then it goes on by itself`
    assert.deepEqual(brief, {
      type: 'brief_delivered',
      id: 'brief_0001',
      kind: 'failure',
      text: `No. The agent is held ${until}. Nothing is lost.`,
      turn_id: null,
      work_item_id: null,
      wait_id: 'wait_0001',
      message_id: null,
      task_id: null,
      warnings: [],
    })
    assert.equal(pace?.type, 'agent_paced')
    w.do(releaseHolds)
    assert.deepEqual(w.last, [{ type: 'wait_resolved', id: 'wait_0001', by: { kind: 'runtime' } }])
  }
})
