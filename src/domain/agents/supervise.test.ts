/** What a parent and its child owe each other: bound once, ended once, stopped together. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { item, pick, task, wait, type World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end, taskEnds, turn } from '../../testing/world/turns.ts'
import type { FamilyWorld } from '../../testing/world/family-world.ts'
import { handedOver, makes, reports, waits } from '../../testing/world/family-turns.ts'
import { completeItem } from '../work/complete.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import { taskResultId } from '../ids.ts'
import { limits } from '../limits.ts'
import { holdAgent, releaseHolds } from '../scheduler/park.ts'
import { givenUpAt, mayEnd } from './supervise.ts'
import { hour, minute, plus } from '../time.ts'
import { taskEnded } from '../../testing/events.ts'

/** How the child's task stands, and the words of its result. */
function ended(main: World, result: string) {
  const [delegation] = main.all('delegations')
  const message = main.all('messages').find(({ id }) => id === result)
  const [row] = main.all('tasks')
  assert.equal(row?.status, delegation?.state === 'active' ? 'running' : delegation?.state)
  return [row?.status, message?.body.split('\n').slice(1).join('\n') ?? null]
}

describe('the first item', () => {
  test('of the child is bound to the delegation, once', () => {
    const { family, main, child, delegation } = handedOver()
    family.relay(child)
    assert.equal(main.row('delegations', delegation).child_work_item_id, null)
    const first = makes(child)
    family.relay(child)
    assert.deepEqual(main.last, [
      { type: 'delegation_bound', id: delegation, child_work_item_id: first },
    ])
    makes(child, 'Count again')
    assert.equal(family.relay(child), 0)
    assert.equal(main.row('delegations', delegation).child_work_item_id, first)
  })

  test('is bound by the end at the latest, also by a stop', () => {
    const { family, main, child, delegation } = handedOver()
    const first = makes(child)
    family.stop(child)
    const { child_work_item_id, state } = main.row('delegations', delegation)
    assert.deepEqual([child_work_item_id, state], [first, 'cancelled'])
  })
})

describe('posture', () => {
  test('a child stops and starts with its parent, and does not end meanwhile', () => {
    const { family, main, child } = handedOver()
    const state = () => family.agent(child).state
    ask(main)
    answer(main)
    end(main)
    begin(child)
    ask(child)
    answer(child, { text: 'Done.' })
    end(child, { text: 'Done.' })
    main.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
    family.relay(child)
    assert.deepEqual(
      [state(), child.last],
      ['stopped', [{ type: 'agent_stopped', id: 'main.1', by: 'runtime' }]],
    )
    assert.equal(family.relay(child), 0)
    main.do((d) => d.emit({ type: 'agent_started', id: 'main', by: 'operator' }))
    family.relay(child)
    assert.deepEqual([state(), main.row('tasks', 'task_t001').status], ['deleted', 'completed'])
  })

  test('the start of its parent ends a hold of the child', () => {
    const { family, main, child } = handedOver()
    child.do((d) => holdAgent(d, { cause: 'provider_setup', message: 'no key', until: null }))
    for (const type of ['agent_stopped', 'agent_started'] as const) {
      main.do((d) => d.emit({ type, id: 'main', by: 'operator' }))
      family.relay(child)
    }
    assert.equal(family.agent(child).state, 'active')
    assert.deepEqual(
      child.all('waits').map(({ status }) => status),
      ['resolved'],
    )
  })
})

describe('the end', () => {
  test('a child that reported is completed, with its reports in order', () => {
    const { family, main, about, child, result, delegation } = handedOver()
    const [a, b] = [makes(child), makes(child)]
    reports(child, b, 'There are 42 words.')
    reports(child, a, 'And 7 numbers.')
    end(child)
    family.relay(child)
    const text = 'There are 42 words.\n\nAnd 7 numbers.'
    assert.deepEqual(ended(main, result), ['completed', text])
    assert.deepEqual(
      [main.row('delegations', delegation).result_summary, family.agent(child).state],
      [text, 'deleted'],
    )
    const message = main.row('messages', result)
    assert.deepEqual(
      [message.kind, message.status, message.work_item_id, message.body.split('\n')[0]],
      ['task_result', 'queued', about, 'main.1 (task_t001, Count the words.): completed'],
    )
    assert.equal(main.row('tasks', 'task_t001').output.bytes, text.length)
    assert.equal(family.relay(child), 0)
    assert.deepEqual(family.violations(true), [])
  })

  test('a child that only spoke is completed with its last words', () => {
    const { family, main, child, result } = handedOver()
    begin(child)
    ask(child)
    answer(child, { text: 'Hm.' })
    end(child, { text: 'There are 42 words.' })
    family.relay(child)
    assert.deepEqual(ended(main, result), ['completed', 'There are 42 words.'])
  })

  /** How the last turn ended, and what the task then is. */
  const turns: ['completed' | 'waiting' | 'aborted' | 'failed', status: string, why: string][] = [
    ['completed', 'completed', 'completed'],
    ['waiting', 'completed', 'completed'],
    ['aborted', 'failed', 'failed (its last turn was aborted)'],
    ['failed', 'failed', 'failed (its turn failed: policy)'],
  ]
  for (const [outcome, status, why] of turns) {
    test(`a last turn that was ${outcome} leaves a task that is ${status}`, () => {
      const { family, main, child, result } = handedOver()
      begin(child)
      ask(child)
      answer(child)
      end(child, { outcome, reason: outcome === 'failed' ? 'policy' : null })
      family.relay(child)
      assert.deepEqual(ended(main, result), [status, ''])
      const head = `main.1 (task_t001, Count the words.): ${why}`
      assert.equal(main.row('messages', result).body, `${head}. It left no words.`)
    })
  }

  test('a turn that was refused ends the child also with open items', () => {
    const { family, main, child, result } = handedOver()
    makes(child)
    end(child, { outcome: 'failed', reason: 'invalid_request', text: 'So far 41.' })
    family.relay(child)
    assert.deepEqual(ended(main, result), ['failed', 'So far 41.'])
  })

  test('a child whose handoff died never began, and that is said', () => {
    const { family, main, child, result } = handedOver()
    child.do((d) => d.emit({ type: 'message_dead', id: 'msg_0001', reason: 'three times' }))
    family.relay(child)
    assert.deepEqual(ended(main, result), ['failed', ''])
    assert.match(main.row('messages', result).body, /failed \(it never began\)/)
  })

  /** What a child that has spoken may still have: each keeps it running. */
  const keeps: [what: string, (w: World, family: FamilyWorld) => void][] = [
    ['an open turn', (w) => void begin(w)],
    ['an open item', (w) => void item(w)],
    ['a queued message', (w, family) => void family.tell(w, 'More.', 'k1')],
    ['a running command', (w) => void task(w)],
    ['a timer of its own', (w) => void wait(w, { wake: 'timer', wake_at: plus(w.now, hour) })],
    ['a question of its own', (w) => void wait(w, { wake: 'operator_input' })],
    [
      'an ended wait that no turn has shown',
      (w) => {
        const { id } = task(w)
        wait(w, { wake: 'task_result', resource: id, task: w.row('tasks', id) })
        taskEnds(w, w.row('tasks', id))
        const [message] = w.all('messages').filter((one) => one.kind === 'task_result')
        const because = 'it was read'
        w.do((d) =>
          d.emit({ type: 'message_consumed', id: message?.id ?? 'msg_', turn_id: null, because }),
        )
      },
    ],
  ]
  for (const [what, prepare] of keeps) {
    test(`${what} keeps a child running`, () => {
      const { family, main, child, result } = handedOver()
      if (what === 'an open turn') {
        begin(child)
      } else {
        turn(child, { text: 'There are 42 words.' })
        prepare(child, family)
      }
      family.relay(child)
      assert.deepEqual(ended(main, result), ['running', null])
      assert.equal(family.agent(child).state, 'active')
    })
  }

  test('the report for an item that is completed is kept for the next turn, which it does not start', () => {
    const { family, main, about, child, result } = handedOver()
    main.do((d) => completeItem(d, { work_item_id: about, by: 'agent', report: null, turn: null }))
    ask(main)
    answer(main)
    end(main)
    turn(child, { text: 'There are 42 words.' })
    family.relay(child)
    const { status, work_item_id } = main.row('messages', result)
    assert.deepEqual([status, work_item_id], ['queued', about])
    assert.notEqual(main.next().do, 'start_turn')
  })

  test('a child that is done ends although a result of it came late, and its parent is told of that', () => {
    const { family, main, child, result } = handedOver()
    const own = makes(child)
    const t = task(child, { work_item_id: own })
    reports(child, own, 'There are 42 words.')
    end(child)
    family.relay(child)
    assert.equal(main.row('tasks', 'task_t001').status, 'running')
    taskEnds(child, t)
    family.relay(child)
    assert.equal(
      main.row('messages', result).body,
      [
        'main.1 (task_t001, Count the words.): completed. It has not seen this end, which came late: ' +
          `${t.id} ended`,
        'There are 42 words.',
        '',
        'Warning: A task of the item still runs; it goes on, and its result comes late.',
      ].join('\n'),
    )
    assert.equal(child.row('messages', taskResultId(t.id)).status, 'dropped')
  })

  test('a result goes to the delegation’s item, wherever the parent’s focus is', () => {
    const { family, main, about, child, result } = handedOver()
    ask(main)
    answer(main)
    end(main)
    pick(main, item(main))
    turn(child, { text: 'There are 42 words.' })
    family.relay(child)
    assert.equal(main.row('messages', result).work_item_id, about)
  })

  test('it resolves a wait of the parent’s on it', () => {
    const { family, main, about, child } = handedOver()
    const { id } = family.taskOf(child)
    ask(main)
    answer(main)
    const row = main.row('tasks', id)
    waits(main, { work_item_id: about, wake: 'task_result', resource: id, task: row })
    turn(child, { text: 'There are 42 words.' })
    family.relay(child)
    assert.deepEqual(
      main.lastOf('wait_resolved').map(({ by }) => by),
      [{ kind: 'task', task_id: id }],
    )
    assert.equal(main.row('agents', 'main').current_work_item_id, about)
  })

  test('a result that is a book is cut; its summary says the first of it', () => {
    const { family, main, child, result, delegation } = handedOver()
    turn(child, { text: 'ä'.repeat(limits.delivery_text.value) })
    family.relay(child)
    const { body } = main.row('messages', result)
    assert.ok(body.endsWith('ä\n(Cut here; TaskOutput has more.)'), body.slice(-80))
    assert.ok(body.length < limits.delivery_text.value / 2 + 200)
    const { result_summary } = main.row('delegations', delegation)
    assert.equal(result_summary, `${'ä'.repeat(limits.result_summary.value - 1)}…`)
    assert.equal(main.row('tasks', 'task_t001').output.bytes, limits.delivery_text.value * 2)
  })

  test('the queue, the waits and the question of a child end with it', () => {
    const { family, main, child } = handedOver()
    const id = makes(child)
    waits(child, { work_item_id: id, wake: 'operator_input', reason: 'All words?' })
    family.relay(child)
    family.stop(child, 'not needed')
    assert.deepEqual(
      main.all('messages').map(({ kind, status }) => `${kind} ${status}`),
      ['task_status consumed', 'task_result queued'],
    )
    assert.equal(waitsOf(child), 'cancelled')
    const { status, reason, asking } = main.row('tasks', 'task_t001')
    assert.deepEqual([status, reason, asking], ['cancelled', 'not needed', null])
    assert.deepEqual(family.violations(true), [])
  })
  const waitsOf = (child: World) =>
    child
      .all('waits')
      .map(({ status }) => status)
      .join()
})

describe('a stop', () => {
  test('that is under way leaves nothing to relay; its proof ends the child', () => {
    const { family, main, child, result } = handedOver()
    const id = makes(child)
    reports(child, id, 'There are 42 words.')
    end(child)
    family.beginStop(child, 'not needed')
    assert.equal(family.relay(child), 0)
    assert.equal(main.row('tasks', 'task_t001').status, 'cancelling')
    family.finishStops()
    assert.deepEqual(ended(main, result), ['cancelled', 'There are 42 words.'])
    assert.equal(family.relay(child), 0)
    assert.deepEqual(family.violations(true), [])
  })
})

describe('a hold', () => {
  const held = (child: World): void =>
    child.do((d) => holdAgent(d, { cause: 'provider_setup', message: 'no key', until: null }))

  test('that lasts a day ends the child, also in a turn, and its end is told once', () => {
    for (const inTurn of [false, true]) {
      const { family, main, child, result } = handedOver()
      if (inTurn) begin(child)
      if (inTurn) ask(child)
      if (!inTurn) child.do((d) => deliverBrief(d, { kind: 'progress', text: 'I begin.' }))
      held(child)
      const at = givenUpAt(child.facts) ?? assert.fail()
      assert.equal(at, plus(child.now, limits.child_hold.value))
      family.pass(limits.child_hold.value - 1)
      assert.equal(family.relay(child), 0)
      family.pass(1)
      family.relay(child)
      assert.deepEqual(ended(main, result)[0], 'failed')
      assert.deepEqual(main.row('messages', result).body.split('\n'), [
        'main.1 (task_t001, Count the words.): failed (it was held for 24 hours: no key)' +
          (inTurn ? '. It left no words.' : ''),
        ...(inTurn ? [] : ['I begin.']),
      ])
      assert.deepEqual(
        child.all('turns').map(({ outcome }) => outcome),
        inTurn ? ['failed'] : [],
      )
      assert.deepEqual(family.violations(true), [])
    }
  })

  test('is counted from the first of the holds in a row, not from when the daemon was down', () => {
    const { child } = handedOver()
    begin(child)
    ask(child)
    // A weekend without a daemon is no hold.
    child.pass(60 * hour)
    const fail = (cause: 'provider_world') =>
      child.do((d) => holdAgent(d, { cause, message: 'no network', until: null }))
    fail('provider_world')
    assert.equal(givenUpAt(child.facts), plus(child.now, limits.child_hold.value))
    const first = child.now
    for (const minutes of [1, 5, 15]) {
      child.pass(minutes * minute)
      child.do(releaseHolds)
      fail('provider_world')
    }
    assert.equal(givenUpAt(child.facts), plus(first, limits.child_hold.value))
  })

  test('of a child whose command runs is not given up: a rule cannot stop it', () => {
    const { family, main, child, result } = handedOver()
    const command = task(child)
    held(child)
    assert.equal(givenUpAt(child.facts), null)
    family.pass(limits.child_hold.value)
    family.relay(child)
    assert.equal(ended(main, result)[0], 'running')
    taskEnds(child, command)
    family.relay(child)
    assert.equal(ended(main, result)[0], 'failed')
  })
})

test('a child is deleted when its task is over, once nothing of it runs', () => {
  const { family, main, child } = handedOver()
  begin(child)
  ask(child)
  answer(child)
  const command = task(child)
  const { id } = family.taskOf(child)
  const lost = { status: 'interrupted', exit_status: null } as const
  main.do((d) => d.emit(taskEnded(id, { ...lost, ended_at: d.now })))
  assert.equal(family.relay(child), 0)
  end(child)
  assert.equal(family.relay(child), 0)
  taskEnds(child, command)
  family.relay(child)
  assert.equal(family.agent(child).state, 'deleted')
  assert.equal(family.relay(child), 0)
})

test('what a child leaves is looked at only when it may be over', () => {
  const { family, child } = handedOver()
  const asked = () => mayEnd(child.facts, child.now)
  assert.equal(asked(), false, 'its handoff is queued')
  begin(child)
  assert.equal(asked(), false, 'its turn is open')
  ask(child)
  answer(child)
  end(child)
  assert.equal(asked(), true)
  child.do((d) => d.emit({ type: 'agent_stopped', id: d.agent_id, by: 'runtime' }))
  assert.equal(asked(), true, 'its parent may start it')
  family.stop(child)
  assert.equal(asked(), false, 'it is deleted')
})
