import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, prompt, somePlan, waitCommand, World } from '../../testing/world/agent-world.ts'
import { does, prepared } from '../../testing/world/operator-inputs.ts'
import type { Bare } from '../../testing/world/operator-inputs.ts'
import { completeItem } from '../work/complete.ts'
import type { Carried } from '../transfer/export-format.ts'
import type { Draft } from './facts.ts'
import { pickItem } from '../waits/focus.ts'
import type { WorkItemId } from '../ids.ts'
import { admitPrompt } from '../inbox/admit.ts'
import { updateItem } from '../work/create-and-update.ts'
import { operate } from '../operator/decide.ts'
import { paceAgent, paceItem, queueReady } from '../waits/pacing.ts'
import { project } from './candidates.ts'
import { next } from '../scheduler/next.ts'
import { queueTask } from '../agents/tasks.ts'
import { isRejection, type Rejection } from '../rejection.ts'
import { waitFor } from '../waits/wait-for.ts'

const carried: Carried = {
  agent_id: 'docs',
  work_item_id: 'work_elsewhere',
  exported_at: '2026-03-01T09:00:00.000Z',
  objective: 'Port it',
  plan_status: 'ready',
  todo_list: [{ text: 'look', state: 'in_progress' }],
  plan: 'x',
  not_taken: ['checks'],
}
const id = 'work_came' as WorkItemId
const file_sha256 = 'f'.repeat(64)

function imports(w: World) {
  const given = { new_item: { id, plan: somePlan(id) }, carried, file_sha256 }
  return w.try((d) => operate(d, prepared(w, { do: 'import_item', file: '' }, given)))
}
function imported(): World {
  const w = new World()
  const done = imports(w)
  assert.ok(!isRejection(done))
  return w
}
const code = (said: { ok: true } | Rejection) => (said.ok ? 'done' : said.code)

test('an import makes one new item that waits for the operator, and nothing starts', () => {
  const w = new World()
  const done = imports(w)
  assert.ok(done.ok)
  assert.deepEqual(
    [done.id, done.warnings.map(({ kind }) => kind), w.last.map(({ type }) => type)],
    [id, ['checks_not_taken'], ['work_item_created']],
  )
  const p = project(w.facts, id, w.now)
  assert.deepEqual(
    [p?.scheduling_state, p?.candidate_class, p?.reason.code, p?.item.checks, p?.item.budget],
    ['waiting_operator', 'waiting_for_operator', 'imported', [], null],
  )
  assert.deepEqual(p?.item.imported, {
    agent_id: 'docs',
    work_item_id: 'work_elsewhere',
    exported_at: '2026-03-01T09:00:00.000Z',
    file_sha256,
    adopted_at: null,
  })
  assert.equal(next(w.facts, w.now, false).do, 'wait')
})

test('the same file again is refused by the id that it makes', () => {
  const w = imported()
  assert.equal(code(imports(w)), 'already_imported')
  assert.equal(w.all('work_items').length, 1)
})

const byAgent: [what: string, does: (d: Draft) => { ok: true } | Rejection][] = [
  ['pick', (d) => pickItem(d, { work_item_id: id, by: 'agent', reason: null })],
  ['unblock', (d) => updateItem(d, { work_item_id: id, by: 'agent', blocked_by: null })],
  ['change', (d) => updateItem(d, { work_item_id: id, by: 'agent', plan_status: 'draft' })],
  ['complete', (d) => completeItem(d, { work_item_id: id, by: 'agent', report: null, turn: null })],
  ['wait on', (d) => waitFor(d, { ...waitCommand({ wake: 'operator_input' }), work_item_id: id })],
  [
    'start a command for',
    (d) =>
      queueTask(d, {
        id: 'task_x',
        cmd: 'true',
        workdir: '/w',
        work_item_id: id,
        output_path: '/o',
        start_place: { boot: 'boot', tasks: 'tasks' },
      }),
  ],
]
for (const [what, acts] of byAgent) {
  test(`before the pick no agent may ${what} it, and nothing is written`, () => {
    const w = imported()
    const seq = w.facts.seq
    assert.equal(code(w.try(acts)), 'item_not_adopted')
    assert.equal(w.facts.seq, seq)
  })
}

const spec = { kind: 'cron', expression: 'every 5', time_zone: 'UTC' } as const
const byOperator: [act: Bare, code: string][] = [
  [{ do: 'send', text: 'go on', work_item_id: id }, 'item_not_adopted'],
  [{ do: 'unblock', work_item_id: id }, 'item_not_adopted'],
  [{ do: 'create_schedule', label: 'x', text: 'x', spec, work_item_id: id }, 'item_not_adopted'],
  [{ do: 'update_item', work_item_id: id, objective: 'Mine' }, 'done'],
  [{ do: 'complete', work_item_id: id }, 'done'],
  [{ do: 'pick', work_item_id: id }, 'done'],
]
for (const [act, said] of byOperator) {
  test(`before the pick the operator’s ${act.do} is ${said}`, () => {
    const w = imported()
    const done = w.try((d) => operate(d, prepared(w, act)))
    assert.equal(code(done), said)
  })
}

test('the pick makes it an item like any other, and it runs', () => {
  const w = imported()
  does(w, { do: 'pick', work_item_id: id })
  assert.ok(w.last.some(({ type }) => type === 'work_item_adopted'))
  const p = project(w.facts, id, w.now)
  assert.deepEqual(
    [p?.candidate_class, p?.item.revision, p?.item.imported?.adopted_at],
    ['current_runnable', 2, w.now],
  )
  const decided = next(w.facts, w.now, false)
  assert.ok(decided.do === 'start_turn' && decided.start.rule === 'continue_current')
  const again = w.try((d) => pickItem(d, { work_item_id: id, by: 'agent', reason: null }))
  assert.equal(code(again), 'done')
})

test('an unbound message starts a turn beside it, and the item is not what the turn is about', () => {
  const w = imported()
  item(w)
  w.do((d) => admitPrompt(d, prompt({ text: 'go on' })))
  const decided = next(w.facts, w.now, false)
  assert.ok(decided.do === 'start_turn' && decided.start.rule === 'message')
  assert.equal(decided.start.message.work_item_id, null)
})

const bare: readonly Bare[] = [
  { do: 'update_item', work_item_id: id, plan_status: 'draft' },
  { do: 'complete', work_item_id: id },
]

test('nothing that is done to it before the pick wakes the agent, or counts as a word to it', () => {
  const w = new World()
  const own = item(w, { focus: true })
  w.do((d) => {
    paceItem(d, own, {
      no_progress: 2,
      last_turn_ended_at: d.now,
      end_revision: w.row('work_items', own).revision,
    })
    paceAgent(d, {
      bucket: 3,
      bucket_at: d.now,
      queue_no_progress: 2,
      queue_turn_ended_at: d.now,
      queue_turn_end_seq: d.seq + 1,
    })
  })
  const stands = () => [w.all('pacing'), queueReady(w.facts, w.now), { ...w.next(), because: '' }]
  const before = stands()
  assert.equal(w.next().do, 'wait')
  imports(w)
  assert.deepEqual(stands(), before, 'the import')
  for (const act of bare) {
    does(w, act)
    assert.deepEqual(stands(), before, act.do)
  }
  does(w, { do: 'update_item', work_item_id: own, plan_status: 'ready' })
  assert.notDeepEqual(stands(), before)
})
