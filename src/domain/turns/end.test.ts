import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  focusOf,
  item,
  itemRow,
  say,
  T0,
  wait,
  waitCommand,
  World,
} from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, run, turnOf } from '../../testing/world/turns.ts'
import { errorResult } from '../state/call.ts'
import type { Draft } from '../facts/facts.ts'
import type { MessageId, TaskId } from '../ids.ts'
import { updateItem } from '../work/create-and-update.ts'
import type { Outcome } from '../state/turn.ts'
import { abortTurn, observePlan } from './end.ts'
import { waitFor } from '../waits/wait-for.ts'

const status = (w: World, id: MessageId) => w.row('messages', id).status
const briefs = (w: World) => w.all('briefs').map((b) => [b.kind, b.text])

/** A turn about the operator's words, at the point where it may end. */
function spoken(given: { bound?: boolean; focus?: boolean } = {}) {
  const w = new World()
  const id = item(w, { focus: given.focus ?? true })
  const { message_id } = say(w, given.bound ? { work_item_id: id } : {})
  begin(w, 'message')
  ask(w)
  answer(w, { text: 'Done so far.' })
  return { w, id, message_id }
}

test('the end of a turn is its terminal record: outcome, revision, progress, usage', () => {
  const { w, id } = spoken()
  w.pass(1000)
  end(w, { reason: 'why not', text: 'Done so far.' })
  const turn = w.row('turns', 'turn_0001')
  assert.deepEqual(
    {
      state: turn.state,
      outcome: turn.outcome,
      reason: turn.reason,
      end_revision: turn.end_revision,
      progress: turn.progress,
      usage: turn.usage,
      ended_at: turn.ended_at,
    },
    {
      state: 'ended',
      outcome: 'completed',
      reason: 'why not',
      end_revision: itemRow(w, id).revision,
      progress: false,
      usage: {
        input_tokens: 100,
        output_tokens: 10,
        reasoning_tokens: 0,
        cached_input_tokens: 50,
        cache_write_tokens: 0,
        usd: 0.01,
      },
      ended_at: w.now,
    },
  )
})

/** What becomes of a message that no answered request showed. */
const unseen: Record<Outcome, string> = {
  completed: 'queued',
  waiting: 'queued',
  interrupted: 'queued',
  aborted: 'aborted',
  failed: 'failed',
}

for (const [outcome, expected] of Object.entries(unseen)) {
  test(`a turn that ended ${outcome} has used up what an answered request showed, no more`, () => {
    const steps: ((w: World) => void)[] = [
      (w) => begin(w, 'message'),
      (w) => ask(w),
      (w) => answer(w, { calls: [{ tool: 'ReadFile' }] }),
      (w) => ask(w),
      (w) => answer(w, { text: 'Seen.' }),
    ]
    const none = [expected, expected, 'queued', 'queued']
    const first = ['consumed', 'consumed', 'queued', 'queued']
    const carried = ['consumed', 'consumed', expected, expected]
    const all = ['consumed', 'consumed', 'interjected', 'interjected']
    for (const [upTo, fates] of [none, none, first, carried, all].entries()) {
      const w = new World()
      const ids = [say(w).message_id, say(w).message_id]
      for (const [n, step] of steps.slice(0, upTo + 1).entries()) {
        step(w)
        if (n > 0) continue
        ids.push(...[0, 1].map(() => say(w, { priority: 'interject' }).message_id))
      }
      end(w, { outcome: outcome as Outcome })
      assert.deepEqual(
        ids.map((id) => status(w, id)),
        fates,
        `ended behind step ${upTo + 1}`,
      )
    }
  })
}

test('a turn of which no request was answered reviews nothing, but where it ended by a person', () => {
  const shown: Record<Outcome, { unasked: number; unanswered: number }> = {
    completed: { unasked: 0, unanswered: 0 },
    waiting: { unasked: 0, unanswered: 0 },
    interrupted: { unasked: 0, unanswered: 0 },
    aborted: { unasked: 0, unanswered: 1 },
    failed: { unasked: 0, unanswered: 1 },
  }
  for (const [outcome, { unasked, unanswered }] of Object.entries(shown)) {
    const steps = [() => {}, ask, (w: World) => (ask(w), answer(w, { text: 'Seen.' }))]
    for (const [n, step] of steps.entries()) {
      const w = new World()
      const id = item(w)
      const row = wait(w, { work_item_id: id, recheck_at: T0 }).wait
      say(w, { work_item_id: id })
      begin(w, 'message')
      step(w)
      end(w, { outcome: outcome as Outcome })
      const expected = [unasked, unanswered, 1][n]
      assert.equal(w.row('waits', row.id).rechecks, expected, `${outcome}, step ${n}`)
    }
  }
})

test('last words are a reply to the operator, else progress', () => {
  const { w } = spoken()
  end(w, { text: ' Done so far. ' })
  assert.deepEqual(briefs(w), [['reply', 'Done so far.']])
  assert.equal(w.all('briefs')[0]?.message_id, 'msg_0001')
  begin(w, 'continue_current')
  ask(w)
  answer(w, { text: 'More.' })
  end(w, { text: 'More.' })
  assert.deepEqual(briefs(w)[1], ['progress', 'More.'])
})

test('an interjected word of the operator also makes the answer a reply', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  act(w, { tool: 'ReadFile' }, () => null)
  say(w, { priority: 'interject' })
  ask(w)
  answer(w, { text: 'Understood.' })
  w.reload()
  end(w, { text: 'Understood.' })
  assert.deepEqual(briefs(w), [['reply', 'Understood.']])
})

test('words beside a call that yields are progress, also when the operator spoke', () => {
  const { w } = spoken()
  end(w, { outcome: 'waiting', text: 'I wait for the build.' })
  assert.deepEqual(briefs(w), [['progress', 'I wait for the build.']])
})

test('needs_input set in the turn makes its last words the question', () => {
  const { w, id } = spoken()
  act(w, { tool: 'UpdateWorkItem', input: { work_item_id: id, plan_status: 'needs_input' } }, (d) =>
    updateItem(d, { work_item_id: id, by: 'agent', plan_status: 'needs_input' }),
  )
  end(w, { text: 'Which database?' })
  assert.deepEqual(briefs(w), [['question', 'Which database?']])
})

test('an item that was answered before the turn gets a reply, not a second question', () => {
  const w = new World()
  const id = item(w, { plan_status: 'needs_input', question: 'Which?' })
  say(w, { work_item_id: id })
  begin(w, 'message')
  act(w, { tool: 'UpdateWorkItem', input: { work_item_id: id, objective: 'x' } }, (d) =>
    updateItem(d, { work_item_id: id, by: 'agent', objective: 'x' }),
  )
  end(w, { text: 'Noted.' })
  assert.deepEqual(briefs(w), [
    ['question', 'Which?'],
    ['reply', 'Noted.'],
  ])
})

test('a turn that says nothing delivers nothing', () => {
  const { w } = spoken()
  end(w, { text: '  \n' })
  assert.deepEqual(briefs(w), [])
})

test('calls not begun get not_executed; one that had begun is unknown, never made up', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  const calls = answer(w, {
    calls: [{ tool: 'ReadFile' }, { tool: 'ExecCommand' }, { tool: 'EditFile' }],
  })
  const [first, second] = calls
  assert.ok(first && second)
  run(w, first, () => null)
  w.do((d) =>
    d.emit({
      type: 'call_started',
      id: second.id,
      intent: null,
      task_id: null,
      work_item_id: null,
    }),
  )
  end(w, { outcome: 'aborted' })
  assert.deepEqual(
    w.all('calls').map((c) => [c.state, c.result?.status === 'error' ? c.result.error.kind : 'ok']),
    [
      ['finished', 'ok'],
      ['finished', 'outcome_unknown'],
      ['finished', 'not_executed'],
    ],
  )
})

test('a command that was queued for a call ends with the turn, unless it runs or outlives the call', () => {
  const fate = (then: (d: Draft, id: TaskId) => void) => {
    const w = new World()
    item(w, { focus: true })
    begin(w, 'continue_current')
    ask(w)
    const [call] = answer(w, { calls: [{ tool: 'ExecCommand' }] })
    assert.ok(call)
    const id = w.mint('task')
    w.do((d) => {
      const command = { kind: 'command', label: 'make', cmd: 'make', child_agent_id: null } as const
      const place = { workdir: '/w', timeout_ms: null, output_path: '/t', start_place: null }
      d.emit({ type: 'task_queued', id, work_item_id: null, ...command, ...place })
      d.emit({ type: 'call_started', id: call.id, intent: null, task_id: id, work_item_id: null })
      then(d, id)
    })
    end(w, { outcome: 'aborted' })
    return w.row('tasks', id).status
  }
  const starts = (d: Draft, id: TaskId) =>
    d.emit({ type: 'task_started', id, pid: 1, started_at: d.now })
  const outlives = (d: Draft, id: TaskId) => d.emit({ type: 'task_promoted', id })
  assert.deepEqual(
    [fate(() => undefined), fate(starts), fate(outlives)],
    ['cancelling', 'running', 'queued'],
  )
})

test('the plan file as it is at the end of the turn is stored, as a revision and as progress', () => {
  const { w, id } = spoken()
  const plan = { ...itemRow(w, id).plan_artifact, sha256: 'p', bytes: 12 }
  end(w, { plan })
  assert.deepEqual([itemRow(w, id).plan_artifact, itemRow(w, id).revision], [plan, 2])
  const turn = w.row('turns', 'turn_0001')
  assert.deepEqual([turn.progress, turn.end_revision], [true, 2])
  assert.equal(
    w.do((d) => observePlan(d, itemRow(w, id), plan)),
    false,
  )
})

test('a runtime note that missed its request is dropped at the end of its turn', () => {
  const { w, id } = spoken()
  w.do((d) => updateItem(d, { work_item_id: id, by: 'operator', objective: 'Else' }))
  end(w)
  const note = w.all('messages').at(-1)
  assert.deepEqual([note?.kind, note?.status], ['internal_followup', 'dropped'])
})

test('an operator’s interject that missed the last request starts the next turn', () => {
  const { w, id } = spoken()
  const late = say(w, { priority: 'interject' }).message_id
  act(w, { tool: 'WaitFor' }, (d) => waitFor(d, waitCommand({ work_item_id: id })))
  // It was shown by the round that waited; one said after it is still queued.
  assert.equal(status(w, late), 'interjected')
  const missed = say(w, { priority: 'interject' }).message_id
  end(w, { outcome: 'waiting' })
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'message')
  assert.equal(next.start.message.id, missed)
})

test('an item completed during the turn is counted no more', () => {
  const { w, id } = spoken()
  w.do((d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: 'x' }))
  assert.equal(focusOf(w), null)
  end(w)
  assert.equal(turnless(w), true)
})

const turnless = (w: World): boolean => {
  try {
    turnOf(w)
    return false
  } catch {
    return true
  }
}

test('ending a turn when none is open is a bug', () => {
  assert.throws(() => end(new World()), /no turn is open/)
})

test('an abort ends the turn by the operator, and stops the agent where that was asked', () => {
  for (const stop of [false, true]) {
    const { w, id, message_id } = spoken({ bound: true })
    const plan = { ...itemRow(w, id).plan_artifact, bytes: 3 }
    w.do((d) => abortTurn(d, { plan, stop }))
    const { outcome, reason, progress } = w.row('turns', 'turn_0001')
    assert.deepEqual(
      { outcome, reason, progress, briefs: briefs(w), message: status(w, message_id) },
      {
        outcome: 'aborted',
        reason: 'operator_aborted',
        progress: true,
        briefs: [],
        message: 'consumed',
      },
    )
    assert.equal(itemRow(w, id).plan_artifact.bytes, 3)
    const stopped = w.lastOf('agent_stopped')
    assert.deepEqual(stopped, stop ? [{ type: 'agent_stopped', id: 'main', by: 'operator' }] : [])
  }
})

test('a call that had not begun or whose outcome is not known gets a result that says so', () => {
  const w = new World()
  item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  const [first] = answer(w, { calls: [{ tool: 'ExecCommand' }, { tool: 'EditFile' }] })
  assert.ok(first)
  const { id } = first
  w.do((d) => d.emit({ type: 'call_started', id, intent: null, task_id: null, work_item_id: null }))
  end(w)
  assert.deepEqual(w.lastOf('call_finished'), [
    {
      type: 'call_finished',
      id: 'call_0001',
      result: errorResult(
        'ExecCommand',
        'outcome_unknown',
        'turn_ended',
        'The turn ended while it ran; what it did is unknown.',
        'Look at what it may have changed before you repeat any of it.',
      ),
      result_hash: null,
      changed_something: false,
    },
    {
      type: 'call_finished',
      id: 'call_0002',
      result: errorResult(
        'EditFile',
        'not_executed',
        'not_executed',
        'The turn ended before it began.',
      ),
      result_hash: null,
      changed_something: false,
    },
  ])
})

test('the brief of the last words names its turn, its item and whose words it answers', () => {
  const { w, id } = spoken()
  end(w, { text: 'Done.' })
  assert.deepEqual(w.lastOf('brief_delivered'), [
    {
      type: 'brief_delivered',
      id: 'brief_0001',
      kind: 'reply',
      text: 'Done.',
      turn_id: 'turn_0001',
      work_item_id: id,
      wait_id: null,
      message_id: 'msg_0001',
      task_id: null,
      warnings: [],
    },
  ])
  begin(w, 'continue_current')
  ask(w)
  answer(w, { text: 'More.' })
  end(w, { text: 'More.' })
  assert.deepEqual(
    w.lastOf('brief_delivered').map((brief) => [brief.kind, brief.message_id]),
    [['progress', null]],
  )
  assert.deepEqual(
    w.lastOf('message_consumed').map(({ because }) => because),
    [],
  )
})

test('a plan that could not be read, or of an item that is completed, moves nothing', () => {
  const w = new World()
  const id = item(w)
  const row = itemRow(w, id)
  const seen = { ...row.plan_artifact, bytes: 9 }
  const rows: [typeof row, typeof seen | null, boolean][] = [
    [row, null, false],
    [row, row.plan_artifact, false],
    [row, { ...row.plan_artifact, sha256: 'x' }, true],
    [row, seen, true],
    [{ ...row, state: 'completed' }, seen, false],
  ]
  for (const [of, plan, moved] of rows) {
    const x = new World()
    item(x)
    assert.equal(
      x.do((d) => observePlan(d, of, plan)),
      moved,
    )
    assert.deepEqual(x.last, moved ? [{ type: 'plan_changed', id, plan }] : [])
  }
})
