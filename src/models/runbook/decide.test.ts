import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ToolResult } from '../../domain/state/call.ts'
import {
  at,
  begun,
  blocked,
  callsOf,
  error,
  exec,
  exit,
  handle,
  kept,
  message,
  nobody,
  ok,
  plan,
  roundOf,
  row,
  situation,
  textOf,
  timer,
  todoList,
  update,
  view,
  wait,
} from '../../testing/runbook-situations.ts'

describe('a message', () => {
  const fresh = { agent: { current_work_item_id: null }, plan_text: null }

  test('that is a runbook becomes a work item, which is then picked', async () => {
    const s = situation({ ...fresh, messages: [message(plan)] })
    const first = await roundOf(s)
    assert.equal(textOf(first), 'Recorded as work: Check the house (5 steps)')
    assert.deepEqual(callsOf(first), [
      [
        'CreateWorkItem',
        { objective: 'Check the house', plan, plan_status: 'ready', todo_list: todoList('.....') },
      ],
    ])
    const rounds = [kept(first, ok({ item: { id: 'work_1' } }))]
    const second = await roundOf({ ...s, rounds })
    assert.deepEqual(callsOf(second), [['PickWorkItem', { work_item_id: 'work_1' }]])

    const picked = situation({
      messages: s.messages,
      rounds: [...rounds, kept(second, ok())],
      item: view(row('.....')),
    })
    assert.deepEqual(callsOf(await roundOf(picked)), [update('>....'), exec('lock')])
  })

  test('that is a runbook is recorded even while another one runs', async () => {
    const s = situation({ item: view(row('>....')), messages: [message('# Go\n## A')] })
    const first = await roundOf(s)
    assert.deepEqual(
      callsOf(first).map(([name]) => name),
      ['CreateWorkItem'],
    )
  })

  test('that is no runbook is told what one is, and nothing is made', async () => {
    const round = await roundOf(situation({ ...fresh, messages: [message('please help')] }))
    assert.equal(round.finish, 'stop')
    assert.match(textOf(round), /^This agent runs on the runbook model.*\n.*\n.*--model/)
  })

  test('that means to be a runbook is told its errors by line', async () => {
    const messages = [message('# Go\n## One\nwait: soon\n')]
    assert.equal(
      textOf(await roundOf(situation({ ...fresh, messages }))),
      'This runbook cannot run. Nothing was recorded.\n' +
        '  line 3: "soon" is no duration: write 500ms, 2s, 5m, 1h30m or 2d.',
    )
  })

  test('that names no question is shown the open ones and how to answer', async () => {
    const asking = { item: row('xxx>.'), wait: wait({ wake: 'operator_input', reason: 'Quiet?' }) }
    const stuck = { item: row('>', { id: 'work_2', blocked_by: 'step 1 failed\nx' }), wait: null }
    const candidates = { ...nobody, waiting_for_operator: [asking], blocked: [stuck] }
    const round = await roundOf(situation({ ...fresh, candidates, messages: [message('yes')] }))
    assert.deepEqual(textOf(round).split('\n').slice(0, 5), [
      'These wait for you, and the message named none of them:',
      '- Check the house: Quiet?',
      '  holon answer wait_1 "…"',
      '- Check the house: step 1 failed',
      '  holon work unblock work_2',
    ])
  })

  test('about an item that waits is answered with what it waits for', async () => {
    const active = wait({ wake: 'timer', status: 'active', wake_at: at(9) })
    const messages = [message('hurry', { work_item_id: 'work_1' })]
    const round = await roundOf(situation({ item: view(row('xx>..'), [active]), messages }))
    assert.equal(
      textOf(round),
      '"Check the house" is a runbook and takes its orders from its plan alone: /p/plan.md\n' +
        'Steps that are not begun yet may be edited there.\n\n' +
        `"Check the house" waits until ${at(9)}: a reason. It goes on by itself.`,
    )
  })

  test('is answered once: the run goes on in the next turn where it stood', async () => {
    const messages = [message('hello')]
    const running = await begun('.....', handle)
    const s = situation({ item: view(row('>....')), messages, rounds: [running] })
    const reply = await roundOf(s)
    assert.equal(reply.finish, 'stop')
    const later = situation({ item: view(row('>....')), earlier: [running, kept(reply)] })
    assert.deepEqual(
      callsOf(await roundOf(later)).map(([name]) => name),
      ['WaitFor'],
    )
  })

  test('from the outside that nothing waits for changes nothing', async () => {
    const event = message('{}', { origin: 'callback', kind: 'callback_event' })
    const round = await roundOf(situation({ ...fresh, messages: [event] }))
    assert.match(textOf(round), /^An event came that no step/)
  })
})

describe('a queue', () => {
  test('gives its first ready item that is still there', async () => {
    const queued = (id: 'work_1' | 'work_2' | 'work_4') => ({
      item: row('.....', { id }),
      wait: null,
    })
    const s = situation({
      agent: { current_work_item_id: null },
      turn: {
        id: 'turn_1',
        cause: { kind: 'queued_available', work_item_ids: ['work_3', 'work_2', 'work_4'] },
      },
      candidates: {
        ...nobody,
        queued_runnable: [queued('work_1'), queued('work_4'), queued('work_2')],
      },
    })
    const pick = ['PickWorkItem', { work_item_id: 'work_2' }]
    assert.deepEqual(callsOf(await roundOf(s)), [pick])
  })
})

describe('after a command, the next round', () => {
  const cases: [name: string, marks: string, answer: ToolResult, expected: [string, unknown][]][] =
    [
      ['goes on after exit 0', '.....', exit(0, 'ok'), [update('x>...'), exec('lights off')]],
      [
        'blocks after another exit, with the last output',
        '.....',
        exit(3, 'one\n', '\u001B[31mtwo\u001B[0m\n'),
        [blocked('step 1 (Lock) ended with exit 3: one\ntwo')],
      ],
      ['leaves an optional step pending', 'x....', exit(1, 'no bulb'), [update('x.>..'), timer]],
      [
        'blocks when it could not be started',
        '.....',
        error('fault', 'Nothing of the command ran.'),
        [blocked('step 1 (Lock) failed: Nothing of the command ran')],
      ],
      [
        'blocks when it was stopped, with its output',
        '.....',
        error('aborted', 'The command was stopped (aborted).', { stdout: 'half\n' }),
        [blocked('step 1 (Lock) failed: The command was stopped (aborted): half')],
      ],
      [
        'blocks when its outcome is unknown, even if optional',
        'x....',
        error('outcome_unknown', 'No exit was recorded.'),
        [
          blocked(
            'step 2 (Lights (optional)) has an unknown outcome: No exit was recorded. ' +
              'Look at what it changed before you let it run again',
          ),
        ],
      ],
      ['runs it when it was never begun', '.....', error('not_executed', '-'), [exec('lock')]],
      [
        'waits for it when it went to the background',
        '.....',
        handle,
        [
          [
            'WaitFor',
            {
              wake: 'task_result',
              resource: 'task_1',
              reason: 'Step 1 of 5: Lock, waits for its command',
              condition: 'runbook step 1',
            },
          ],
        ],
      ],
    ]
  for (const [name, marks, answer, expected] of cases) {
    const now = marks.replace('.', '>')
    test(`${name}, in the same turn and in a later one`, async () => {
      const ran = await begun(marks, answer)
      const item = view(row(now))
      assert.deepEqual(callsOf(await roundOf(situation({ item, rounds: [ran] }))), expected)
      assert.deepEqual(callsOf(await roundOf(situation({ item, earlier: [ran] }))), expected)
    })
  }

  test('keeps a blocker within its limit', async () => {
    const ran = await begun('.....', exit(1, `${'x'.repeat(5_000)}\nlast`))
    const [call] = callsOf(await roundOf(situation({ item: view(row('>....')), rounds: [ran] })))
    const blocked_by = (call?.[1] as { blocked_by: string } | undefined)?.blocked_by ?? ''
    assert.ok(blocked_by.length < 2_000 && blocked_by.endsWith('x\nlast'))
  })

  test('says what stopped the run and how to go on, and ends the turn', async () => {
    const ran = await begun('.....', exit(3, 'no key'))
    const blocking = await roundOf(situation({ item: view(row('>....')), rounds: [ran] }))
    const item = view(row('>....', { blocked_by: 'step 1 (Lock) ended with exit 3: no key' }))
    const round = await roundOf(situation({ item, rounds: [ran, kept(blocking, ok())] }))
    assert.equal(round.finish, 'stop')
    assert.equal(
      textOf(round),
      '"Check the house" is blocked: step 1 (Lock) ended with exit 3: no key\n' +
        'When that is put right: holon work unblock work_1, or holon run --resume',
    )
    const unblocked = situation({ item: view(row('>....')), earlier: [ran, kept(blocking, ok())] })
    assert.deepEqual(callsOf(await roundOf(unblocked)), [exec('lock')])
  })

  test('takes free focus, so that it comes back after waits', async () => {
    const s = situation({ agent: { current_work_item_id: null }, item: view(row('.....')) })
    assert.deepEqual(callsOf(await roundOf(s)), [
      update('>....'),
      ['PickWorkItem', { work_item_id: 'work_1' }],
      exec('lock'),
    ])
  })
})

describe('a command in the background', () => {
  const woken = async (answer: ToolResult) => {
    const ran = await begun('.....', handle)
    const waiting = await roundOf(situation({ item: view(row('>....')), rounds: [ran] }))
    const earlier = [ran, kept(waiting, ok())]
    const ended = wait({ wake: 'task_result', resource: 'task_1', condition: 'runbook step 1' })
    const s = situation({ item: view(row('>....'), [ended]), earlier })
    const reading = await roundOf(s)
    assert.deepEqual(callsOf(reading), [['TaskOutput', { task_id: 'task_1' }]])
    return roundOf({ ...s, rounds: [kept(reading, answer)] })
  }
  const output = (status: string, exit_status: number | null, more = {}) =>
    ok({ task_id: 'task_1', status, exit_status, stdout: 'words\n', stderr: '', ...more })

  const cases: [name: string, answer: ToolResult, expected: unknown][] = [
    ['that ended well lets the run go on', output('completed', 0), update('x>...')],
    [
      'that ended badly blocks',
      output('completed', 2),
      blocked('step 1 (Lock) ended with exit 2: words'),
    ],
    [
      'that was stopped blocks',
      output('cancelled', null, { reason: 'by the operator' }),
      blocked('step 1 (Lock) failed: it was stopped: by the operator: words'),
    ],
    [
      'that ran out of time blocks',
      output('failed', 143, { reason: 'timeout' }),
      blocked('step 1 (Lock) failed: it failed: timeout: words'),
    ],
    [
      'that vanished blocks',
      output('interrupted', null, { reason: 'gone' }),
      blocked(
        'step 1 (Lock) has an unknown outcome: its end is not on record: gone. ' +
          'Look at what it changed before you let it run again',
      ),
    ],
  ]
  for (const [name, answer, expected] of cases) {
    test(name, async () => assert.deepEqual(callsOf(await woken(answer))[0], expected))
  }

  test('that still runs, because its wait was taken away, is waited for again', async () => {
    const [call] = callsOf(await woken(output('running', null)))
    assert.equal(call?.[0], 'WaitFor')
  })

  test('is found by its wait when no round remembers it', async () => {
    const ended = wait({ wake: 'task_result', resource: 'task_9', condition: 'runbook step 1' })
    const s = situation({ item: view(row('>....'), [ended]) })
    assert.deepEqual(callsOf(await roundOf(s)), [['TaskOutput', { task_id: 'task_9' }]])
  })

  test('is found by its command when no round remembers it', async () => {
    const tasks = [{ id: 'task_8' as const, cmd: 'lock', created_at: at(1) }]
    const s = situation({ item: view(row('>....'), [], { tasks }) })
    assert.deepEqual(callsOf(await roundOf(s)), [['TaskOutput', { task_id: 'task_8' }]])
  })

  test('that nothing tells of is never run again by itself', async () => {
    const [call] = callsOf(await roundOf(situation({ item: view(row('>....')) })))
    assert.deepEqual(call?.[0], 'UpdateWorkItem')
    assert.match(JSON.stringify(call?.[1]), /has an unknown outcome: it was begun, and no record/)
  })
})
