import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, pick, T0, task, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { begin, taskEnds } from '../../testing/world/turns.ts'
import { does, every, tokenHash } from '../../testing/world/operator-inputs.ts'
import {
  canOfAgent,
  canOfDelivery,
  canOfItem,
  canOfSchedule,
  canOfTask,
  canOfTrigger,
  canOfWait,
  type ActionPermission,
  type CanView,
} from './can.ts'
import { completeItem } from '../work/complete.ts'
import type { ScheduleId, TriggerId } from '../ids.ts'
import { limits } from '../limits.ts'
import { ensureDefaultTrigger } from '../inbox/triggers.ts'

const view = (w: World): CanView => ({ facts: w.facts, now: w.now })
/** `pick` where it is allowed, `complete: work_item_completed` where it is not. */
const brief = (actions: readonly ActionPermission[]) =>
  actions.map((one) => (one.allowed ? one.key : `${one.key}: ${one.code}`))

type Asks = (w: World) => ActionPermission[]
const rows: [what: string, asks: Asks, answers: string[]][] = [
  [
    'an active agent',
    (w) => canOfAgent(view(w)),
    [
      'send',
      'start_agent: no_change',
      'stop_agent',
      'abort: run_stale',
      'create_item',
      'import_item',
      'start_task',
      'create_trigger',
      'create_schedule',
      'configure_agent',
      'delete_agent: agent_kept',
    ],
  ],
  [
    'an agent at work',
    (w) => {
      pick(w, item(w))
      begin(w)
      return canOfAgent(view(w)).filter(({ key }) => key === 'abort' || key === 'delete_agent')
    },
    ['abort', 'delete_agent: agent_kept'],
  ],
  [
    'a stopped agent with as many commands as it may have',
    (w) => {
      for (let n = 0; n < limits.running_tasks.value; n++) task(w)
      does(w, { do: 'stop_agent' })
      const shown = ['send', 'start_agent', 'stop_agent', 'start_task']
      return canOfAgent(view(w)).filter(({ key }) => shown.includes(key))
    },
    ['send: agent_stopped', 'start_agent', 'stop_agent: no_change', 'start_task: over_limit'],
  ],
  [
    'an open item',
    (w) => canOfItem(view(w), w.row('work_items', item(w))),
    ['pick', 'complete', 'unblock: no_change', 'update_item', 'send'],
  ],
  [
    'the item in focus, blocked, while a turn is open',
    (w) => {
      const id = item(w)
      pick(w, id)
      begin(w)
      does(w, { do: 'update_item', work_item_id: id, blocked_by: 'no key' })
      return canOfItem(view(w), w.row('work_items', id))
    },
    ['pick: turn_running', 'complete', 'unblock', 'update_item', 'send'],
  ],
  [
    'a completed item that the facts have forgotten',
    (w) => {
      const id = item(w)
      w.do((d) => completeItem(d, { work_item_id: id, by: 'agent', report: 'Done.', turn: null }))
      const row = w.row('work_items', id)
      return canOfItem(view(new World()), row)
    },
    [
      'pick: work_item_completed',
      'complete: work_item_completed',
      'unblock: work_item_completed',
      'update_item: work_item_completed',
      'send',
    ],
  ],
  [
    'a question',
    (w) => {
      const id = item(w)
      wait(w, { work_item_id: id, wake: 'operator_input' })
      return canOfWait(view(w), waitOf(w, id))
    },
    ['answer', 'cancel_wait'],
  ],
  [
    'a wait for an event',
    (w) => canOfWait(view(w), wait(w, { work_item_id: item(w), source: 'ci' }).wait),
    ['trigger', 'cancel_wait'],
  ],
  [
    'a wait that was cancelled',
    (w) => {
      const { id } = wait(w, { work_item_id: item(w), source: 'ci' }).wait
      does(w, { do: 'cancel_wait', wait_id: id })
      return canOfWait(view(w.reload()), w.row('waits', id))
    },
    ['trigger: trigger_no_match', 'cancel_wait: wait_not_active'],
  ],
  [
    'a running task',
    (w) => canOfTask(view(w), task(w)),
    ['task_input: task_takes_no_input', 'stop_task'],
  ],
  [
    'a task that ended',
    (w) => {
      const { id } = task(w)
      taskEnds(w, w.row('tasks', id))
      return canOfTask(view(w), w.row('tasks', id))
    },
    ['task_input: task_ended', 'stop_task: no_change'],
  ],
  [
    'the agent’s own trigger',
    (w) => {
      w.do((d) => ensureDefaultTrigger(d, tokenHash))
      return canOfTrigger(view(w), w.row('triggers', 'trig_0001'))
    },
    ['reset_trigger', 'revoke_trigger: trigger_default'],
  ],
  [
    'a trigger that was revoked',
    (w) => {
      const trigger_id = does(w, { do: 'create_trigger', label: 'x' }).id as TriggerId
      does(w, { do: 'revoke_trigger', trigger_id })
      return canOfTrigger(view(w.reload()), w.row('triggers', trigger_id))
    },
    ['reset_trigger: trigger_not_found', 'revoke_trigger: trigger_not_found'],
  ],
  [
    'a schedule',
    (w) => {
      const made = does(w, { do: 'create_schedule', label: 'x', text: 'x', spec: every(5) })
      return canOfSchedule(view(w), w.row('schedules', made.id as ScheduleId))
    },
    ['change_schedule', 'pause_schedule', 'resume_schedule: no_change', 'remove_schedule'],
  ],
  [
    'a dead delivery whose body is kept',
    (w) => {
      const via = { kind: 'webhook', webhook: 'x' } as const
      const letter = { do: 'dead_letter', via, body: '', reason: 'not JSON' } as const
      does(w, letter, { body_sha256: 'aa' })
      return canOfDelivery(view(w), w.row('deliveries', 'dlv_0001'))
    },
    ['redeliver'],
  ],
  [
    'a delivery without a body',
    (w) => {
      does(w, { do: 'deliver', via: { kind: 'webhook', webhook: 'x' }, body: '' })
      return canOfDelivery(view(w), { ...w.row('deliveries', 'dlv_0001'), body_sha256: null })
    },
    ['redeliver: delivery_body_missing'],
  ],
]
for (const [what, asks, answers] of rows) {
  test(`what can be done about ${what}`, () => {
    assert.deepEqual(brief(asks(new World())), answers)
  })
}

test('what cannot be done says why, in the words the act itself would be refused with', () => {
  const w = new World()
  does(w, { do: 'stop_agent' })
  const [send] = canOfAgent(view(w))
  const why = 'main is stopped.'
  assert.deepEqual(send, {
    key: 'send',
    label: 'say something to it',
    allowed: false,
    code: 'agent_stopped',
    why,
  })
})

test('asking what can be done changes nothing', () => {
  const w = new World()
  const id = item(w)
  const before = [...w.facts.rows('work_items'), ...w.facts.rows('agents')]
  canOfAgent(view(w))
  canOfItem(view(w), w.row('work_items', id))
  assert.deepEqual([...w.facts.rows('work_items'), ...w.facts.rows('agents')], before)
  assert.deepEqual([w.facts.seq, w.now], [2, T0])
})

test('each kind of wait has the acts that fit it, in words', () => {
  const w = new World()
  const { wait: row } = wait(w, { work_item_id: item(w), wake: 'operator_input' })
  const acts = (wake: typeof row.wake) =>
    canOfWait(view(w), { ...row, wake }).map(({ key, label }) => [key, label])
  const cancel = ['cancel_wait', 'cancel it']
  assert.deepEqual(acts('operator_input'), [['answer', 'answer it'], cancel])
  assert.deepEqual(acts('external'), [['trigger', 'fire it by hand'], cancel])
  for (const wake of ['timer', 'task_result', 'system'] as const) {
    assert.deepEqual(acts(wake), [cancel], wake)
  }
})

test('the acts on items and tasks are named in words', () => {
  const w = new World()
  const id = item(w)
  const run = task(w)
  const words = (actions: readonly ActionPermission[]) =>
    actions.map(({ key, label }) => [key, label])
  assert.deepEqual(words(canOfItem(view(w), w.row('work_items', id))).slice(0, 5), [
    ['pick', 'put it in focus'],
    ['complete', 'complete it'],
    ['unblock', 'let it go on'],
    ['update_item', 'change it'],
    ['send', 'say something about it'],
  ])
  assert.deepEqual(words(canOfTask(view(w), run)), [
    ['task_input', 'write to its input'],
    ['stop_task', 'stop it'],
  ])
  const child = { ...run, kind: 'child_agent' } as const
  assert.deepEqual(words(canOfTask(view(w), child))[0], ['task_input', 'tell it something'])
  const over = { ...run, status: 'failed' } as const
  assert.deepEqual(canOfTask(view(w), over)[1], {
    key: 'stop_task',
    label: 'stop it',
    allowed: false,
    code: 'no_change',
    why: 'It is failed.',
  })
})
