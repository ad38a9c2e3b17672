import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../testing/world/agent-world.ts'
import { hold } from '../../testing/why/why-world.ts'
import { actOn, answerCheck, endsHold, raiseBudget, type Offered } from './action.ts'

/** A thing of an agent that is not the usual one: no id stands for another by chance. */
const thing = { agent_id: 'ada', id: 'thing_1' }

const doors: Record<Offered, string> = {
  send: 'POST /agents/ada/messages: holon send --work-item thing_1 <text>',
  start_agent: 'POST /agents/ada/start: holon agents start ada',
  stop_agent: 'POST /agents/ada/stop: holon agents stop ada',
  abort: 'POST /agents/ada/abort: holon agents abort ada',
  configure_agent: 'PATCH /agents/ada: holon agents configure ada',
  delete_agent: 'DELETE /agents/ada: holon agents delete ada',
  create_item: 'POST /agents/ada/work-items: holon work create --agent ada <objective>',
  import_item: 'POST /agents/ada/imports: holon import --agent ada <file>',
  start_task: 'POST /agents/ada/tasks: null',
  create_trigger: 'POST /agents/ada/triggers: holon trigger create --agent ada <label>',
  create_schedule: 'POST /agents/ada/schedules: holon schedule add --agent ada <text>',
  pick: 'POST /agents/ada/work-items/thing_1/pick: holon work pick thing_1',
  complete: 'POST /agents/ada/work-items/thing_1/complete: holon work complete thing_1',
  unblock: 'PATCH /agents/ada/work-items/thing_1: holon work unblock thing_1',
  update_item: 'PATCH /agents/ada/work-items/thing_1: null',
  run_checks: 'POST /agents/ada/work-items/thing_1/checks/run: holon work check run thing_1',
  answer_check:
    'POST /agents/ada/work-items/thing_1/checks/<name>/answer: ' +
    'holon work check answer thing_1 <name> <pass|fail>',
  answer_held: 'POST /agents/ada/tasks/thing_1/answer: holon answer thing_1 <choice>',
  revoke_grant: 'DELETE /agents/ada/grants/thing_1: holon grants revoke thing_1',
  answer: 'POST /agents/ada/waits/thing_1/answer: holon answer thing_1 <text>',
  trigger: 'POST /agents/ada/waits/thing_1/trigger: holon trigger thing_1',
  take_back: 'POST /agents/ada/messages/thing_1/take-back: holon take-back thing_1',
  cancel_wait: 'DELETE /agents/ada/waits/thing_1: holon waits cancel thing_1',
  stop_task: 'POST /agents/ada/tasks/thing_1/stop: holon tasks stop thing_1',
  task_input: 'POST /agents/ada/tasks/thing_1/input: holon tasks input thing_1 <text>',
  snapshot_worktree: 'POST /agents/ada/worktrees/thing_1/snapshot: holon worktree snapshot thing_1',
  restore_worktree: 'POST /agents/ada/worktrees/thing_1/restore: holon worktree restore thing_1',
  discard_worktree: 'POST /agents/ada/worktrees/thing_1/discard: holon worktree discard thing_1',
  remove_worktree: 'POST /agents/ada/worktrees/thing_1/remove: holon worktree remove thing_1',
  reset_trigger: 'POST /agents/ada/triggers/thing_1/reset: holon trigger reset thing_1',
  revoke_trigger: 'DELETE /agents/ada/triggers/thing_1: holon trigger revoke thing_1',
  redeliver: 'POST /agents/ada/deliveries/thing_1/redeliver: holon webhook redeliver thing_1',
  change_schedule: 'PATCH /agents/ada/schedules/thing_1: null',
  pause_schedule: 'POST /agents/ada/schedules/thing_1/pause: holon schedule pause thing_1',
  resume_schedule: 'POST /agents/ada/schedules/thing_1/resume: holon schedule resume thing_1',
  remove_schedule: 'DELETE /agents/ada/schedules/thing_1: holon schedule remove thing_1',
  snooze: 'POST /attention/thing_1/snooze: holon inbox snooze thing_1 --for 2h',
  dismiss: 'POST /attention/thing_1/dismiss: holon inbox dismiss thing_1',
}

test('each act has its own line, method and path, of the thing and of its agent', () => {
  for (const key of Object.keys(doors) as Offered[]) {
    const { label, cli, method, path, ...rest } = actOn(key, 'do it', thing)
    assert.deepEqual(rest, { key })
    assert.deepEqual([label, `${method} ${path}: ${cli}`], ['do it', doors[key]])
  }
})

test('the usual agent is not named in a line, and its path names it', () => {
  const line = (key: Offered, id: string) => {
    const { cli, path } = actOn(key, '', { agent_id: id, id })
    return `${cli} ${path}`
  }
  assert.deepEqual(
    (['send', 'create_item', 'import_item'] as const).flatMap((key) => [
      line(key, 'main'),
      line(key, 'ada'),
    ]),
    [
      'holon send <text> /agents/main/messages',
      'holon send --agent ada <text> /agents/ada/messages',
      'holon work create <objective> /agents/main/work-items',
      'holon work create --agent ada <objective> /agents/ada/work-items',
      'holon import <file> /agents/main/imports',
      'holon import --agent ada <file> /agents/ada/imports',
    ],
  )
})

test('a check is answered by its name, and a budget is raised by the flags of what is used up', () => {
  assert.deepEqual(answerCheck(thing, 'looks'), {
    key: 'answer_check',
    label: 'answer it',
    cli: 'holon work check answer thing_1 looks <pass|fail>',
    method: 'POST',
    path: '/agents/ada/work-items/thing_1/checks/looks/answer',
  })
  const over: Parameters<typeof raiseBudget>[1] = [
    { what: 'usd', used: 2, limit: 1 },
    { what: 'deadline', limit: '2026-03-02T09:00:00.000Z' },
  ]
  assert.deepEqual(raiseBudget(thing, over), {
    key: 'update_item',
    label: 'raise its budget',
    cli: 'holon work update thing_1 --max-usd <n> --deadline <time>',
    method: 'PATCH',
    path: '/agents/ada/work-items/thing_1',
  })
})

test('what ends a hold is said by what holds, and whose budget it is', () => {
  const held = (
    given: { runtime_cause?: string; source?: string | null; resource?: string | null },
    { model = 'a/b', has_owner = true }: { model?: string | null; has_owner?: boolean } = {},
  ) => {
    const w = new World()
    hold(w, 'provider_setup')
    const [wait] = w.all('waits')
    assert.ok(wait)
    const agent = { ...w.row('agents', 'main'), model }
    return endsHold(agent, { ...wait, ...given } as typeof wait, has_owner).map(
      ({ label, cli, path }) => `${label}: ${cli} ${path}`,
    )
  }
  const again = 'try again, once it is settled'
  for (const [given, says, here = {}] of [
    [
      { runtime_cause: 'budget', resource: 'work_9' },
      ['give it a budget of its own: holon agents configure main --max-usd <n> /agents/main'],
    ],
    [{ runtime_cause: 'budget', resource: null }, []],
    [
      { runtime_cause: 'spending', source: 'budget', resource: 'ada' },
      ['raise its budget: holon agents configure ada --max-usd <n> /agents/ada'],
    ],
    [
      { runtime_cause: 'spending', source: 'question', resource: 'ada' },
      ['let them go on: holon send --agent ada <text> /agents/ada/messages'],
    ],
    [{ runtime_cause: 'spending', source: 'budget', resource: null }, []],
    [{}, [`${again}: holon agents start main /agents/main/start`]],
    [{}, [`${again}: holon run --resume null`], { has_owner: false }],
    [
      {},
      ['give it a model: holon agents configure main --model <provider/model> /agents/main'],
      { model: null },
    ],
    // A hold by a budget is ended by more of it, also where the agent has no model.
    [{ runtime_cause: 'spending', source: 'budget', resource: null }, [], { model: null }],
  ] as const) {
    assert.deepEqual(held(given, here), says, JSON.stringify([given, here]))
  }
})
