/** What a child asks: told to its parent once, replaced, taken back when it is over. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { item, pick, task, wait, waitOf, type World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end, turn } from '../../testing/world/turns.ts'
import { FamilyWorld } from '../../testing/world/family-world.ts'
import { changes, handedOver, makes, waits } from '../../testing/world/family-turns.ts'
import { completeItem } from '../work/complete.ts'
import type { WorkItemId } from '../ids.ts'
import type { UpdateItem } from '../work/create-and-update.ts'
import { limits } from '../limits.ts'
import { hour, minute, plus } from '../time.ts'
import { asksOperator } from '../state/wait.ts'

/** Messages to the parent about a question: status and the last line. */
const told = (main: World) =>
  main
    .all('messages')
    .filter(({ kind }) => kind === 'task_status')
    .map(({ status, body }) => `${status}: ${body.split('\n').at(-1)}`)

describe('a question', () => {
  const asking = (child: World, id: WorkItemId, reason: string) =>
    waits(child, { work_item_id: id, wake: 'operator_input', reason })

  test('goes to the parent once, as a normal message about the delegation’s item', () => {
    const { family, main, about, child, delegation } = handedOver()
    const id = makes(child)
    asking(child, id, 'All words?')
    family.relay(child)
    assert.deepEqual(family.taskOf(child).asking, {
      key: waitOf(child, id).id,
      wait_id: waitOf(child, id).id,
      work_item_id: id,
      of: 'supervisor',
      text: 'All words?',
      choices: [],
    })
    const [message] = main.all('messages')
    assert.deepEqual(message, {
      ...message,
      kind: 'task_status',
      origin: 'task',
      authority_class: 'external_evidence',
      priority: 'normal',
      work_item_id: about,
      task_id: family.taskOf(child).id,
      correlation_id: delegation,
    })
    assert.deepEqual(told(main), ['queued: All words?'])
    assert.equal(family.relay(child), 0)
  })

  test('that another one replaces is taken back unread', () => {
    const { family, main, child } = handedOver()
    const id = makes(child)
    asking(child, id, 'All words?')
    family.relay(child)
    child.do((d) =>
      d.emit({ type: 'wait_cancelled', id: waitOf(child, id).id, by: 'agent', because: 'x' }),
    )
    begin(child)
    ask(child)
    answer(child)
    asking(child, id, 'Also numbers?')
    family.relay(child)
    assert.deepEqual(told(main), ['consumed: All words?', 'queued: Also numbers?'])
    assert.equal(family.taskOf(child).asking?.text, 'Also numbers?')
  })

  test('that is over is taken back, and the child needs no input any more', () => {
    const { family, main, child } = handedOver()
    const id = makes(child)
    asking(child, id, 'All words?')
    family.relay(child)
    child.do((d) =>
      d.emit({ type: 'wait_cancelled', id: waitOf(child, id).id, by: 'agent', because: 'x' }),
    )
    family.relay(child)
    assert.deepEqual([told(main), family.taskOf(child).asking], [['consumed: All words?'], null])
  })

  test('that the parent has read stays read', () => {
    const { family, main, child } = handedOver()
    ask(main)
    answer(main)
    end(main, { text: 'Handed over.' })
    asking(child, makes(child), 'All words?')
    family.relay(child)
    main.pass(2 * minute)
    turn(main)
    assert.deepEqual(told(main), ['consumed: All words?'])
    assert.equal(family.relay(child), 0)
  })

  test('for an item that the parent completed meanwhile is told without it', () => {
    const { family, main, about, child } = handedOver()
    main.do((d) => completeItem(d, { work_item_id: about, by: 'agent', report: null, turn: null }))
    asking(child, makes(child), 'All words?')
    family.relay(child)
    assert.deepEqual(
      main.all('messages').map(({ status, work_item_id }) => [status, work_item_id]),
      [['queued', null]],
    )
  })

  test('is the oldest of several, then the next', () => {
    const { family, child } = handedOver()
    const [a, b] = [makes(child), makes(child)]
    wait(child, { work_item_id: b, wake: 'operator_input', reason: 'Of b?' })
    asking(child, a, 'Of a?')
    family.relay(child)
    assert.equal(family.taskOf(child).asking?.text, 'Of b?')
    family.tell(child, 'Yes.', 'k1')
    family.relay(child)
    assert.equal(family.taskOf(child).asking?.text, 'Of a?')
  })

  test('of the runtime to a child that goes in circles is its parent’s, too', () => {
    const { family, main, child } = handedOver()
    const id = makes(child)
    pick(child, id)
    ask(child)
    answer(child)
    end(child)
    for (let n = 0; n < limits.no_progress_turns.value; n++) {
      child.pass(10 * minute)
      turn(child, { rule: 'continue_current' })
    }
    family.relay(child)
    assert.match(told(main).join(), /^queued: Three turns in a row made no progress/)
  })

  test('for the permission of another maker’s agent is the operator’s, and told to nobody else', () => {
    const family = new FamilyWorld()
    const child = family.spawn(family.of('main'), { model: 'acp/other' })
    const id = makes(child)
    waits(child, { work_item_id: id, wake: 'operator_input', source: 'permission', reason: 'rm?' })
    family.relay(child)
    assert.deepEqual([family.taskOf(child).asking?.of, told(family.of('main'))], ['operator', []])
  })

  const permits: [
    model: string | null,
    wake: 'operator_input' | 'timer',
    source: string | null,
    boolean,
  ][] = [
    ['acp/other', 'operator_input', 'permission', true],
    ['acp/other', 'operator_input', null, false],
    ['acp/other', 'timer', 'permission', false],
    ['anthropic/x', 'operator_input', 'permission', false],
    [null, 'operator_input', 'permission', false],
  ]
  for (const [model, wake, source, expected] of permits) {
    const whose = expected ? 'the operator' : 'the supervisor'
    test(`${model} that waits for ${wake} of ${source} asks ${whose}`, () => {
      assert.equal(asksOperator({ model }, { wake, source }), expected)
    })
  }
})

describe('an item that nothing can wake', () => {
  const blocked = (child: World, fields: Partial<UpdateItem> = { blocked_by: 'no key' }) => {
    const id = makes(child)
    changes(child, id, fields)
    ask(child)
    answer(child)
    end(child)
    return id
  }

  test('is a question: what blocks it', () => {
    const { family, main, child } = handedOver()
    const id = blocked(child)
    family.relay(child)
    assert.deepEqual(family.taskOf(child).asking, {
      key: `${id}@${child.row('work_items', id).revision}`,
      wait_id: null,
      work_item_id: id,
      of: 'supervisor',
      text: 'Count\nno key',
      choices: [],
    })
    assert.deepEqual(told(main), ['queued: no key'])
    assert.equal(family.relay(child), 0)
  })

  test('asks what its plan needs to know, and the answer of the parent is not the operator’s act', () => {
    const { family, main, child } = handedOver()
    const id = blocked(child, { plan_status: 'needs_input', question: 'Which words?' })
    family.relay(child)
    const wait = waitOf(child, id)
    assert.deepEqual(family.taskOf(child).asking, {
      key: wait.id,
      wait_id: wait.id,
      work_item_id: id,
      of: 'supervisor',
      text: 'Which words?',
      choices: [],
    })
    assert.deepEqual(told(main), ['queued: Which words?'])
    family.tell(child, 'All of them.', 'call_1')
    assert.equal(child.row('work_items', id).plan_status, 'draft')
    const settled = child.events.findLast(({ event }) => event.type === 'work_item_updated')
    assert.equal(settled?.event.type === 'work_item_updated' && settled.event.by, 'runtime')
  })

  test('is no question while the child has something else to do', () => {
    const others: [what: string, (family: FamilyWorld, child: World) => void][] = [
      ['a turn', (_, child) => begin(child)],
      ['a queued message', (family, child) => family.tell(child, 'More.', 'k1')],
      ['a command', (_, child) => task(child)],
      ['an item that can go on', (_, child) => item(child)],
      [
        'an item that goes on after a pause',
        (_, child) => {
          item(child, { focus: true })
          turn(child, { rule: 'continue_current' })
        },
      ],
    ]
    for (const [what, prepare] of others) {
      const { family, main, child } = handedOver()
      blocked(child)
      if (what === 'a turn') item(child, { focus: true })
      prepare(family, child)
      family.relay(child)
      assert.deepEqual([family.taskOf(child).asking, told(main)], [null, []], what)
    }
  })

  test('with a wait of its own is none', () => {
    const { family, child } = handedOver()
    const id = blocked(child)
    wait(child, { work_item_id: id, wake: 'timer', wake_at: plus(child.now, hour) })
    family.relay(child)
    assert.equal(family.taskOf(child).asking, null)
  })
})
