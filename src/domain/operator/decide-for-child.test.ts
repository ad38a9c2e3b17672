/** The operator's acts on a private child: its parent and the runtime alone reach it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, task, waitCommand, waitOf } from '../../testing/world/agent-world.ts'
import { begin } from '../../testing/world/turns.ts'
import { FamilyWorld } from '../../testing/world/family-world.ts'
import { makes, waits } from '../../testing/world/family-turns.ts'
import { does, once, refusal, type Bare } from '../../testing/world/operator-inputs.ts'
import { boundHash } from '../work/answer-question.ts'
import { violations } from '../invariants/of-an-agent.ts'
import type { DecidedAct } from './act.ts'
import { holdAgent } from '../scheduler/park.ts'
import { abortableRun, queueTask } from '../agents/tasks.ts'
import { waitFor } from '../waits/wait-for.ts'

/** A child with an item that waits, as the operator finds it. */
function found(model: string | null = null, source: string | null = null) {
  const family = new FamilyWorld()
  const child = family.spawn(family.of('main'), { model })
  const id = makes(child)
  waits(child, { work_item_id: id, wake: 'operator_input', source, reason: 'May I?' })
  family.relay(child)
  const wait = waitOf(child, id)
  const answer = {
    do: 'answer',
    wait_id: wait.id,
    text: 'Yes.',
    bound_hash: boundHash(wait),
  } as const
  return { family, child, id, wait, answer }
}

const via = { kind: 'webhook', webhook: 'hook' } as const
const [work_item_id, trigger_id, schedule_id] = ['work_0001', 'trig_1', 'sched_1'] as const
const spec = once('2030-01-01T00:00:00.000Z')
const attention = { attention_id: 'a', fingerprint: 'f' } as const

/** One of every act that reaches an agent, and what a private child makes of it. */
const acts: Record<DecidedAct['do'], Bare | null> = {
  create_item: { do: 'create_item', objective: 'x' },
  import_item: { do: 'import_item', file: '' },
  update_item: { do: 'update_item', work_item_id, objective: 'x' },
  pick: { do: 'pick', work_item_id },
  complete: { do: 'complete', work_item_id },
  unblock: { do: 'unblock', work_item_id },
  run_checks: { do: 'run_checks', work_item_id },
  answer_check: { do: 'answer_check', work_item_id, name: 'x', run: 1, passed: true },
  send: { do: 'send', text: 'x' },
  answer: { do: 'answer', wait_id: 'wait_0001', text: 'x', bound_hash: 'x' },
  answer_held: { do: 'answer_held', task_id: 'task_0001', bound_hash: 'x', choice: 'yes' },
  revoke_grant: { do: 'revoke_grant', grant_id: 'grant_0001' },
  take_back: { do: 'take_back', message_id: 'msg_0001' },
  cancel_wait: { do: 'cancel_wait', wait_id: 'wait_0001' },
  trigger: { do: 'trigger', body: 'x' },
  deliver: { do: 'deliver', via, body: 'x' },
  dead_letter: { do: 'dead_letter', via, body: 'x', reason: 'x' },
  redeliver: { do: 'redeliver', delivery_id: 'dlv_1' },
  create_trigger: { do: 'create_trigger', label: 'x' },
  reset_trigger: { do: 'reset_trigger', trigger_id },
  revoke_trigger: { do: 'revoke_trigger', trigger_id },
  create_schedule: { do: 'create_schedule', label: 'x', text: 'x', spec },
  change_schedule: { do: 'change_schedule', schedule_id, label: 'x' },
  pause_schedule: { do: 'pause_schedule', schedule_id },
  resume_schedule: { do: 'resume_schedule', schedule_id },
  remove_schedule: { do: 'remove_schedule', schedule_id },
  configure_agent: { do: 'configure_agent', model: 'a/b' },
  start_agent: { do: 'start_agent' },
  stop_agent: { do: 'stop_agent' },
  delete_agent: { do: 'delete_agent' },
  // Of another agent, or of the operator's own desk.
  create_agent: null,
  snooze: null,
  dismiss: null,
}

for (const act of Object.values(acts)) {
  if (act === null) continue
  test(`the operator’s act ${act.do} is refused with agent_private`, () => {
    const { child } = found()
    const size = child.events.length
    assert.equal(refusal(child, act), 'agent_private')
    assert.equal(child.events.length, size)
  })
}

test('a command or an abort of the operator’s is refused with agent_private', () => {
  const { child } = found()
  item(child, { focus: true })
  const { id } = begin(child)
  const [cmd, workdir, output_path] = ['make', '/w', '/holon/tasks/task_x']
  const start_place = { boot: 'boot', tasks: 'tasks' }
  const place = { workdir, output_path, start_place }
  const new_task = { id: 'task_x', cmd, work_item_id: null, ...place } as const
  assert.equal(
    child.refused((d) => queueTask(d, new_task)),
    'agent_private',
  )
  assert.equal(
    child.refused((d) => abortableRun(d, id)),
    'agent_private',
  )
})

test('its name is taken, and it can be put away on the operator’s desk', () => {
  const { child } = found()
  assert.equal(refusal(child, { do: 'create_agent' }), 'agent_exists')
  does(child, { do: 'snooze', ...attention, until: '2026-03-03T09:00:00.000Z' })
  does(child, { do: 'dismiss', ...attention })
  assert.deepEqual(violations(child.whole(), child.events), [])
})

test('a permission that another maker’s agent asks for is the operator’s to give, through the runtime', () => {
  const { family, child, id, answer } = found('acp/other', 'permission')
  assert.equal(refusal(child, { do: 'send', text: 'x' }), 'agent_private')
  does(child, answer)
  const answers = child.all('messages').filter(({ wait_id }) => wait_id !== null)
  assert.deepEqual(
    answers.map(({ origin, body }) => [origin, body]),
    [['system', 'Yes.']],
  )
  assert.deepEqual(
    child.all('waits').map(({ work_item_id: on, status }) => [on, status]),
    [[id, 'resolved']],
  )
  family.relay(child)
  assert.equal(family.taskOf(child).asking, null)
  assert.deepEqual(family.violations(true), [])
})

const closed: [model: string | null, source: string | null][] = [
  ['acp/other', null],
  ['anthropic/x', 'permission'],
  [null, null],
]
for (const [model, source] of closed) {
  test(`a question of ${model} with source ${source} is its parent’s to answer`, () => {
    const { child, answer } = found(model, source)
    assert.equal(refusal(child, answer), 'agent_private')
  })
}

test('the operator ends what holds a child back, and starts nothing else of it', () => {
  const { child } = found()
  child.do((d) => holdAgent(d, { cause: 'provider_setup', message: 'no key', until: null }))
  does(child, { do: 'start_agent' })
  assert.equal(refusal(child, { do: 'start_agent' }), 'agent_private')
})

test('a private child that is over is deleted for the operator, too', () => {
  const { family, child } = found()
  family.stop(child)
  assert.equal(refusal(child, { do: 'send', text: 'x' }), 'agent_deleted')
})

test('a private child waits for no event from outside, and for nothing else less', () => {
  const child = new FamilyWorld().spawn()
  const command = task(child)
  begin(child, 'message')
  const later = '2026-03-03T09:00:00.000Z'
  assert.equal(
    child.refused((d) => waitFor(d, waitCommand({ wake: 'external', source: 'ci' }))),
    'external_wait_private',
  )
  for (const given of [
    { wake: 'timer', wake_at: later },
    { wake: 'operator_input' },
    { wake: 'task_result', resource: command.id, task: command },
  ] as const) {
    child.do((d) => waitFor(d, waitCommand(given)))
  }
})
