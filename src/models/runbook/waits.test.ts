import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WaitId } from '../../domain/ids.ts'
import type { Wait } from '../../domain/state/wait.ts'
import {
  at,
  blocked,
  callback,
  callsOf,
  error,
  kept,
  message,
  ok,
  question,
  roundOf,
  row,
  situation,
  textOf,
  timer,
  update,
  view,
  wait,
} from '../../testing/runbook-situations.ts'

/** The wait of step `step`, with what a test wants to say of it. */
const stepWait = (step: number, wake: Wait['wake'], more: Partial<Wait> = {}): Wait =>
  wait({ wake, condition: `runbook step ${step}`, ...more })

const complete: [string, unknown] = [
  'CompleteWorkItem',
  { work_item_id: 'work_1', leave_running: true },
]

describe('a timer', () => {
  const cases: [name: string, waits: Wait[], expected: [string, unknown][]][] = [
    ['is set once the step is in progress', [], [timer]],
    ['that passed lets the run go on', [stepWait(3, 'timer')], [update('xxx>.'), question]],
    [
      'that the operator took away lets the run go on',
      [stepWait(3, 'timer', { status: 'cancelled' })],
      [update('xxx>.'), question],
    ],
    ['of another step does not count', [stepWait(2, 'timer')], [timer]],
    ['is not a task or a question', [stepWait(3, 'operator_input')], [timer]],
  ]
  for (const [name, waits, expected] of cases) {
    test(name, async () => {
      const s = situation({ item: view(row('xx>..'), waits) })
      assert.deepEqual(callsOf(await roundOf(s)), expected)
    })
  }

  test('of an earlier try does not count for a step that was put back', async () => {
    const s = situation({ item: view(row('xx...'), [stepWait(3, 'timer')]) })
    assert.deepEqual(callsOf(await roundOf(s)), [update('xx>..'), timer])
  })

  test('that is refused blocks the item instead of being asked for again', async () => {
    const s = situation({ item: view(row('xx>..')) })
    const round = kept(await roundOf(s), error('rejected', 'No more waits.'))
    assert.deepEqual(callsOf(await roundOf({ ...s, rounds: [round] })), [
      blocked('step 3 (Settle) failed: the wait was refused: No more waits'),
    ])
  })
})

describe('a question', () => {
  test('goes out with its step and what the step says about it', async () => {
    const round = await roundOf(situation({ item: view(row('xxx>.')) }))
    assert.deepEqual(callsOf(round), [question])
    assert.equal(textOf(round), '')
  })

  const answered = (body: string, id: WaitId = 'wait_1') =>
    situation({
      item: view(row('xxx>.'), [stepWait(4, 'operator_input', { id })]),
      messages: [message(body, { wait_id: id, work_item_id: 'work_1' })],
    })

  test('that is answered lets the run go on, and the answer is in the report', async () => {
    const round = await roundOf(answered('yes,\nsilent'))
    assert.deepEqual(callsOf(round), [update('xxxx>'), callback])
    const arrived = stepWait(5, 'external', { id: 'wait_2', status: 'active', trigger_count: 2 })
    const later = situation({
      item: view(row('xxxx>'), [arrived]),
      earlier: [kept(round, ok(), ok())],
    })
    assert.match(textOf(await roundOf(later)), /^4\. Approve: you answered "yes, silent"$/m)
  })

  test('that is answered with no stops the run, and is asked again when unblocked', async () => {
    const s = answered('No.')
    const round = await roundOf(s)
    assert.deepEqual(callsOf(round), [
      blocked(
        'step 4 (Approve) was answered with no, which stops the run; unblocked, it asks again',
      ),
    ])
    const later = situation({ item: s.item, earlier: [kept(round, ok())] })
    assert.deepEqual(callsOf(await roundOf(later)), [question])
  })

  test('keeps its answer when other words come with it and are replied to first', async () => {
    const s = answered('yes')
    const other = message('by the way', { id: 'msg_2', work_item_id: 'work_1' })
    const reply = await roundOf({ ...s, messages: [...s.messages, other] })
    assert.equal(reply.finish, 'stop')
    const later = situation({ item: s.item, earlier: [kept(reply)] })
    const round = await roundOf(later)
    assert.deepEqual(callsOf(round), [update('xxxx>'), callback])
    const arrived = stepWait(5, 'external', { id: 'wait_2', status: 'active', trigger_count: 1 })
    const last = situation({
      item: view(row('xxxx>'), [arrived]),
      earlier: [kept(reply), kept(round, ok(), ok())],
    })
    assert.match(textOf(await roundOf(last)), /^4\. Approve: you answered "yes"$/m)
  })

  test('of the runtime itself is no answer to a step and needs no reply', async () => {
    const parked = wait({ wake: 'operator_input', id: 'wait_7', by: 'runtime' })
    const s = situation({
      item: view(row('xxx>.'), [parked]),
      messages: [message('go on', { wait_id: 'wait_7', work_item_id: 'work_1' })],
    })
    assert.deepEqual(callsOf(await roundOf(s)), [question])
  })

  test('is what a step without an action is', async () => {
    const s = situation({
      item: view(row('>', { todo_list: [{ text: 'Sweep', state: 'in_progress' }] })),
      plan_text: '# Go\n## Sweep\nAll rooms.\n',
    })
    assert.deepEqual(callsOf(await roundOf(s)), [
      [
        'WaitFor',
        {
          wake: 'operator_input',
          reason: 'Step 1 of 1: Sweep',
          question: 'All rooms.\n\nIs it done: Sweep?',
          condition: 'runbook step 1',
        },
      ],
    ])
  })
})

describe('a callback', () => {
  test('names the address that is to be called', async () => {
    const trigger_url = 'http://127.0.0.1:7777/callbacks/abc'
    const round = await roundOf(situation({ item: view(row('xxxx>')), trigger_url }))
    assert.equal(
      textOf(round),
      'Step 5 of 5: Alarm\n\nIt goes on when this is called: ' +
        `curl -X POST '${trigger_url}?resource=alarm%2Farmed'`,
    )
  })

  test('without an address says how to let it go on by hand', async () => {
    const round = await roundOf(situation({ item: view(row('xxxx>')) }))
    assert.match(textOf(round), /`holon trigger <wait>` lets it go on/)
  })

  const active = (more: Partial<Wait> = {}) =>
    stepWait(5, 'external', { status: 'active', resource: 'alarm/armed', ...more })

  test('that came clears the wait with the update that ticks the step off', async () => {
    const s = situation({ item: view(row('xxxx>'), [active({ trigger_count: 1 })]) })
    const [first, ...others] = callsOf(await roundOf(s))
    const [, input] = update('xxxxx')
    assert.deepEqual(first, ['UpdateWorkItem', { ...(input as object), blocked_by: null }])
    assert.deepEqual(others, [complete])
  })

  test('that came while nothing is in focus takes the focus for what follows', async () => {
    const plan_text = '# Go\n## A\ncallback: a\n## B\n```sh\nb\n```\n'
    const todo_list = [{ text: 'A', state: 'in_progress' as const }]
    const arrived = stepWait(1, 'external', { status: 'active', trigger_count: 1 })
    const item = view(row('', { todo_list }), [arrived])
    const s = situation({ agent: { current_work_item_id: null }, item, plan_text })
    assert.deepEqual(
      callsOf(await roundOf(s)).map(([name]) => name),
      ['UpdateWorkItem', 'PickWorkItem', 'ExecCommand'],
    )
  })

  test('that did not come is said to be waited for', async () => {
    const round = await roundOf(situation({ item: view(row('xxxx>'), [active()]) }))
    assert.equal(
      textOf(round),
      '"Check the house" waits for the callback alarm/armed: a reason.\n' +
        'By hand: holon trigger wait_1',
    )
  })

  test('of a wait that is no step of the plan is left to the operator', async () => {
    const other = active({ trigger_count: 1, condition: 'something else' })
    const round = await roundOf(situation({ item: view(row('xxxx>'), [other]) }))
    assert.deepEqual(callsOf(round), [])
  })
})

describe('the plan is the program:', () => {
  const cases: [name: string, plan_text: string | null, expected: [string, unknown][]][] = [
    [
      'steps that are not begun may be edited',
      '# Go\n## Lock\n## Blinds\n```sh\nblinds\n```\n## New\n',
      [
        [
          'UpdateWorkItem',
          {
            work_item_id: 'work_1',
            todo_list: [
              { text: 'Lock', state: 'completed' },
              { text: 'Blinds', state: 'in_progress' },
              { text: 'New', state: 'pending' },
            ],
          },
        ],
        ['ExecCommand', { cmd: 'blinds' }],
      ],
    ],
    [
      'a step that was done may not change its name',
      '# Go\n## Unlock\n## Lights\n',
      [blocked('runbook_changed: step 1 was done as "Lock" and now reads "Unlock"')],
    ],
    [
      'a text that is no runbook blocks',
      'words',
      [
        blocked(
          'runbook_changed: the plan is no runbook: line 1: No objective: begin with ' +
            'a `#` heading that says what is to be done. (and 1 more)',
        ),
      ],
    ],
    [
      'a missing file blocks',
      null,
      [blocked('runbook_changed: the plan cannot be read: there is no plan')],
    ],
  ]
  for (const [name, plan_text, expected] of cases) {
    test(name, async () => {
      const s = situation({ item: view(row('x....')), plan_text })
      assert.deepEqual(callsOf(await roundOf(s)), expected)
    })
  }

  test('a step that was done may not be taken out', async () => {
    const s = situation({ item: view(row('xx...')), plan_text: '# Go\n## Lock\n' })
    assert.deepEqual(callsOf(await roundOf(s)), [
      blocked('runbook_changed: step 2 ("Lights (optional)") was done and is gone'),
    ])
  })

  test('a step ticked off ahead of time is passed over', async () => {
    const s = situation({ item: view(row('xx>x.'), [stepWait(3, 'timer')]) })
    assert.deepEqual(callsOf(await roundOf(s)), [update('xxxx>'), callback])
  })

  test('an optional step that was left is not run again', async () => {
    const s = situation({ item: view(row('x.>..'), [stepWait(3, 'timer')]) })
    assert.deepEqual(callsOf(await roundOf(s))[0], update('x.x>.'))
  })
})

test('a refused update ends the turn with its reason', async () => {
  const s = situation({ item: view(row('.....')) })
  const refused = error('rejected', 'work_1 was completed.')
  const round = kept(await roundOf(s), refused, ok({ exit_status: 0, stdout: '', stderr: '' }))
  const after = await roundOf({ ...s, rounds: [round] })
  assert.equal(after.finish, 'stop')
  assert.equal(textOf(after), 'The run stopped: UpdateWorkItem was refused. work_1 was completed.')
})

test('an item that is completed is left alone', async () => {
  const item = view(row('xxxxx', { state: 'completed', completed_at: at(9) }))
  const round = await roundOf(situation({ item }))
  assert.equal(textOf(round), '"Check the house" is completed. For more work, run a new runbook.')
})
