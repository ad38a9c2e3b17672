import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkItemId } from '../../domain/ids.ts'
import { plus } from '../../domain/time.ts'
import { item, pick, T0, task, wait, World } from '../../testing/world/agent-world.ts'
import { begin, turn } from '../../testing/world/turns.ts'
import { situate, situations } from '../../testing/why/why-situations.ts'
import { asRunbook, hinted, hold, minute, stop, update } from '../../testing/why/why-world.ts'
import { viewOf, type Presence } from '../../testing/why/why-world.ts'
import { projectionOf } from '../agent-view.ts'
import { whyOf, type WhyView } from './why.ts'

function ask(w: World, id: string, presence: Presence = 'at_rest'): WhyView {
  const view = viewOf(w, presence)
  const p = projectionOf(view, id)
  assert.ok(p)
  return whyOf(view, p, null)
}

const question = (w: World, id: WorkItemId | null) =>
  void wait(w, { work_item_id: id, wake: 'operator_input', reason: 'Ship?' })
const blocked = (w: World, id: WorkItemId) => void update(w, id, { blocked_by: 'no key' })
const forTask = (w: World, id: WorkItemId) => {
  const made = task(w, { work_item_id: id })
  void wait(w, { work_item_id: id, wake: 'task_result', resource: made.id, task: made })
}

const rows: [
  name: string,
  prepare: (w: World, id: WorkItemId) => Presence | void,
  can: readonly string[],
][] = [
  ['a question', question, ['answer: holon answer wait_0001 <text>']],
  [
    'a question to a stopped agent: a stopped agent takes no answer',
    (w, id) => (question(w, id), stop(w)),
    ['start the agent: holon agents start main', 'answer: holon answer wait_0001 <text>'],
  ],
  [
    'a plan that needs input',
    (w, id) => void update(w, id, { plan_status: 'needs_input' }),
    ['answer: holon send --work-item work_0001 <text>'],
  ],
  ['a task', forTask, ['see its output: holon tasks output task_t001']],
  [
    'a task, and nothing runs',
    (w, id) => (forTask(w, id), 'nobody'),
    ['see its output: holon tasks output task_t001', 'go on: holon run --resume'],
  ],
  [
    'a timer',
    (w, id) => void wait(w, { work_item_id: id, wake: 'timer', wake_at: plus(T0, minute) }),
    ['let it go on now: holon work unblock work_0001'],
  ],
  [
    'an event to come, and nothing runs',
    (w, id) => (wait(w, { work_item_id: id }), 'nobody'),
    ['fire it by hand: holon trigger wait_0001'],
  ],
  [
    'an event that came, and nothing runs',
    (w, id) => (hinted(w, id), 'nobody'),
    ['go on: holon run --resume'],
  ],
  [
    'a blocker',
    blocked,
    [
      'let it go on: holon work unblock work_0001',
      'tell the agent: holon send --work-item work_0001 <text>',
    ],
  ],
  [
    'a failed step of a runbook that runs',
    (w, id) => (asRunbook(w), blocked(w, id)),
    ['run the step again: holon work unblock work_0001'],
  ],
  [
    'a failed step of a runbook, and nothing runs',
    (w, id) => (asRunbook(w), blocked(w, id), 'nobody'),
    ['run the step again: holon run --resume', 'let it go on: holon work unblock work_0001'],
  ],
  ['nothing holds it, and it goes on by itself', () => undefined, []],
  ['nothing holds it, and nothing runs', () => 'nobody', ['go on: holon run --resume']],
  ['a hold', (w) => hold(w), ['try again, once it is settled: holon agents start main']],
  [
    'a hold, and nothing runs',
    (w) => (hold(w), 'nobody'),
    ['try again, once it is settled: holon run --resume'],
  ],
  [
    'a turn that was interrupted in a wait of its own making, and nothing runs',
    (w, id) => {
      pick(w, id)
      begin(w)
      blocked(w, id)
      return 'nobody'
    },
    [
      'let it go on: holon work unblock work_0001',
      'tell the agent: holon send --work-item work_0001 <text>',
      'go on: holon run --resume',
    ],
  ],
  [
    'the agent asked about its queue',
    (w) => {
      for (const pause of [0, minute, 5 * minute]) turn(w.pass(pause), { rule: 'queued_available' })
    },
    ['answer: holon answer wait_0001 <text>'],
  ],
]

for (const [name, prepare, can] of rows) {
  test(`what may be done about it, and last of all a look: ${name}`, () => {
    const w = new World()
    const id = item(w)
    const presence = prepare(w, id) ?? 'at_rest'
    const look = `look at it: holon work show ${id}`
    assert.deepEqual(
      ask(w, id, presence).can.map(({ label, cli }) => `${label}: ${cli}`),
      [...can, look],
    )
  })
}

test('each situation offers each shell line once', () => {
  for (const situation of situations) {
    const { id, w, view } = situate(situation)
    const p = projectionOf(view, id)
    assert.ok(p, situation.name)
    const lines = whyOf(view, p, null).can.map(({ cli }) => cli)
    assert.deepEqual(lines, [...new Set(lines)], situation.name)
    assert.equal(w.now, view.now)
  }
})

test('the record has the keys of the contract beside its sentence, and the last decision', () => {
  const w = new World()
  const id = item(w)
  turn(w)
  const view = viewOf(w, 'at_rest')
  const p = projectionOf(view, id)
  const [stored] = w.all('decisions')
  assert.ok(p && stored)
  const told = whyOf(view, p, stored)
  assert.deepEqual(Object.keys(told).toSorted(), [
    'agent_id',
    'also',
    'can',
    'candidate_class',
    'considered',
    'cost_since',
    'decision',
    'detail',
    'last_decision',
    'next',
    'objective',
    'question',
    'sentence',
    'since',
    'state',
    'verdict',
    'when',
    'why',
    'work_item_id',
  ])
  assert.equal(told.last_decision, stored)
})

test('an item too old to be among the facts still has its why', () => {
  const w = new World()
  const view = viewOf(w, 'at_rest')
  const other = new World()
  const id = item(other)
  update(other, id, { objective: 'Old' })
  const row = { ...other.row('work_items', id), state: 'completed' as const, completed_at: w.now }
  const p = projectionOf(view, id, row)
  assert.ok(p)
  const { sentence, verdict, can } = whyOf(view, p, null)
  assert.deepEqual(
    { sentence, verdict, can: can.length },
    {
      sentence: `Old was completed at ${w.now} without a report.`,
      verdict: `completed at ${w.now}`,
      can: 1,
    },
  )
})
