/**
 * Waiting and waking, end to end: every kind of wait, focus lost and returned, triggers beside
 * other work, rechecks, a stopped agent, downtime.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import {
  calls,
  says,
  scriptedModel,
  type Scripted,
  type ScriptedModel,
} from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import {
  causes,
  done,
  onA,
  report,
  scene,
  stateOf,
  statuses,
  switches,
  todo,
  waiting,
} from './support/scene.ts'
import {
  call,
  completes,
  creates,
  inOrder,
  picks,
  runs,
  until,
  waitsFor,
  type Answer,
} from './support/scripts.ts'
import { hour, minute, openStage, resultsOf, textOf, type Stage } from './support/stage.ts'

const liveTask = (s: Stage): string =>
  [...(s.box.host.facts('main')?.rows('tasks') ?? [])].at(-1)?.id ?? 'none'

test('an answer to the question resolves the wait, and focus returns', async (t) => {
  const s = await onA(t, () => calls('Red or blue?', waitsFor('operator_input')), done('A'))
  await s.say('Paint it.')
  const wait = await s.wait('A')
  assert.deepEqual([s.focus(), wait.status], [null, 'active'])
  assert.deepEqual(await s.briefs(), [{ kind: 'question', text: 'Red or blue?' }])

  const reply = await s.does({ do: 'send', text: 'Blue.', wait_id: wait.id })
  assert.deepEqual(reply.resolved, [wait.id])
  assert.deepEqual(await switches(s), ['explicit_pick', 'wait_resolved'])
  assert.match(textOf(s.model.requests.at(-1)), /Blue\./)
  assert.equal(await stateOf(s, 'A'), 'completed')
  assert.deepEqual(await statuses(s), ['consumed', 'consumed'])
  await s.sound()
})

test('a word bound to the item answers its question too', async (t) => {
  const s = await onA(t, waiting('operator_input'), done('A'))
  await s.say('Paint it.')
  const wait = await s.wait('A')
  const item = s.id('A')
  const reply = await s.does({ do: 'send', text: 'Blue.', work_item_id: item })
  assert.deepEqual(reply.resolved, [wait.id])
  assert.deepEqual(
    (await s.rows('turns')).map(({ work_item_id }) => work_item_id),
    [item, item],
  )
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('an unbound word answers nothing by itself and shows what waits', async (t) => {
  const s = await onA(t, waiting('operator_input', { reason: 'Red or blue?' }), () =>
    says('Which do you mean?'),
  )
  await s.say('Paint it.')
  const wait = await s.wait('A')
  const reply = await s.does({ do: 'send', text: 'Blue.' })
  assert.deepEqual(reply.resolved, [])
  assert.equal((await s.wait('A')).status, 'active')
  const shown = textOf(s.model.requests.at(-1))
  assert.match(shown, /waits? for the operator, and the message ends no wait by itself/)
  const item = await s.short(wait.work_item_id ?? '')
  assert.ok(shown.includes(`${item} "A"; asks: "Red or blue?"`))
  assert.deepEqual((await s.briefs()).at(-1), { kind: 'reply', text: 'Which do you mean?' })
  await s.sound()
})

test('the end of a task resolves the wait on it, and focus returns', async (t) => {
  const s = await onA(
    t,
    () => calls(runs(`${until('go')}; echo built`, { yield_ms: 0 })),
    (s) => waiting('task_result', { resource: liveTask(s) })(),
    done('A'),
  )
  await s.act({ do: 'send', text: 'Build it.' })
  await s.hurry('task_promoted')
  await s.rest()
  assert.deepEqual([s.focus(), s.item('A').state], [null, 'open'])
  const from = s.box.notices.length
  writeFileSync(join(s.box.workspace, 'go'), '')
  await s.committed('work_item_completed')
  await s.rest(from)
  assert.match(textOf(s.model.requests.at(-1)), /built/)
  assert.deepEqual(await switches(s), ['explicit_pick', 'wait_resolved'])
  assert.deepEqual(
    (await s.rows('messages')).map(({ kind, status }) => [kind, status]),
    [
      ['operator_prompt', 'consumed'],
      ['task_result', 'consumed'],
    ],
  )
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('a command that outlives the process is followed by the next, and its end is told', async (t) => {
  const place = temporaryHome(t)
  const open = (model: ScriptedModel) => openStage(t, { ...place, clock: virtualClock(), model })
  const before: Stage = await open(
    scriptedModel(
      inOrder(
        creates('A'),
        () => picks(before.id('A')),
        calls(runs(`${until('go')}; echo built`, { yield_ms: 0 })),
        () => calls(waitsFor('task_result', { resource: liveTask(before) })),
      ),
    ),
  )
  await before.act({ do: 'send', text: 'Build it.' })
  await before.hurry('task_promoted')
  await before.rest()
  const item = before.id('A')
  await before.box.close()

  const model = scriptedModel(inOrder(completes(item, report('A'))))
  const after = await open(model)
  const completed = after.committed('work_item_completed')
  writeFileSync(join(place.workspace, 'go'), '')
  await completed
  await after.rest()
  assert.match(textOf(model.requests[0]), /built/)
  assert.deepEqual(
    (await after.rows('tasks')).map(({ status, exit_status }) => [status, exit_status]),
    [['completed', 0]],
  )
  assert.deepEqual(
    (await after.rows('messages')).map(({ kind, status }) => [kind, status]),
    [
      ['operator_prompt', 'consumed'],
      ['task_result', 'consumed'],
    ],
  )
  await after.sound()
})

test('a wait for a task that has ended is answered in the call', async (t) => {
  const s = await onA(
    t,
    () => calls(runs('echo quick', { yield_ms: 60_000 })),
    () => async () => {
      const [task] = await s.rows('tasks')
      return calls(waitsFor('task_result', { resource: task?.id ?? 'none' }))
    },
    done('A'),
  )
  await s.say('Build it.')
  assert.equal((await s.rows('turns')).length, 1)
  const [wait] = await s.rows('waits')
  assert.equal(wait?.status, 'resolved')
  assert.deepEqual(await switches(s), ['explicit_pick'], 'focus stayed')
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('a timer wakes its item at its time and not before', async (t) => {
  const s = await onA(t, waiting('timer', { wait_ms: 90 * minute }), done('A'))
  await s.say('Later.')
  await s.pass(90 * minute - 1)
  assert.equal(s.model.requests.length, 3)
  await s.pass(1)
  const resolved = await s.eventsOf('wait_resolved')
  assert.deepEqual(
    resolved.map(({ by }) => by),
    [{ kind: 'timer', late_by_ms: 0 }],
  )
  assert.deepEqual(await causes(s), ['message', 'continue_current'])
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('a timer that came due in a downtime fires once and says how late', async (t) => {
  const place = temporaryHome(t)
  const clock = virtualClock()
  const open = (answers: readonly Answer[]) =>
    openStage(t, { ...place, clock, model: scriptedModel(inOrder(...answers)) })
  const before: Stage = await open([
    creates('A'),
    () => picks(before.id('A')),
    calls(waitsFor('timer', { wait_ms: hour })),
  ])
  await before.say('Later.')
  const item = before.id('A')
  await before.box.close()
  await clock.advance(3 * hour)

  const after = await open([completes(item, report('A'))])
  const resolved = await after.eventsOf('wait_resolved')
  assert.deepEqual(
    resolved.map(({ by }) => by),
    [{ kind: 'timer', late_by_ms: 2 * hour }],
  )
  assert.equal(await stateOf(after, 'A'), 'completed')
  await after.sound()
})

for (const [mode, shown] of [
  ['enqueue_message', true],
  ['wake_hint', false],
] as const) {
  test(`an event fired by hand wakes a review (${mode}) and ends no wait`, async (t) => {
    const about = { source: 'ci', resource: 'build', delivery_mode: mode }
    const s = await onA(t, waiting('external', about), () => says('Not green yet.'), done('A'))
    await s.say('Watch the build.')
    const wait = await s.wait('A')
    const reply = await s.does({ do: 'trigger', wait_id: wait.id, body: 'the-body-of-the-event' })
    assert.deepEqual(reply.triggered, [wait.id])
    const request = textOf(s.model.requests.at(-1))
    assert.equal(request.includes('the-body-of-the-event'), shown)
    assert.deepEqual((await causes(s)).at(-1), shown ? 'message' : 'review_triggered')
    const seen = await s.wait('A')
    const { status, trigger_count, reviewed_trigger_count } = seen
    assert.deepEqual([status, trigger_count, reviewed_trigger_count], ['active', 1, 1])
    const kept = (await s.rows('messages')).at(-1)
    assert.deepEqual([kept?.body, kept?.status], ['the-body-of-the-event', 'consumed'])
    // At most one review a minute: the next event waits for it.
    await s.does({ do: 'trigger', wait_id: wait.id, body: 'green' })
    assert.equal(s.model.requests.length, 4)
    await s.pass(minute)
    assert.equal(await stateOf(s, 'A'), 'completed')
    assert.equal((await s.rows('waits'))[0]?.status, 'cancelled')
    await s.sound()
  })
}

test('an event from before the wait never triggers it, one during the turn does', async (t) => {
  const about = { source: 'ci', resource: 'build' }
  const s = await onA(
    t,
    () => async () => {
      await s.act({ do: 'trigger', ...about, body: 'early bird' })
      return calls(waitsFor('external', about))
    },
    () => says('It came while I registered; I wait on.'),
  )
  await s.does({ do: 'trigger', ...about, body: 'begin' })
  const wait = await s.wait('A')
  assert.deepEqual([wait.trigger_count, wait.reviewed_trigger_count], [1, 1])
  assert.match(textOf(s.model.requests[3]), /early bird/)
  // The event matched no wait when it was admitted; from its registration on it is of that one.
  assert.deepEqual(await causes(s), ['message', 'message'])
  assert.deepEqual((await s.rows('turns')).at(-1)?.work_item_id, s.id('A'))
  await s.pass(hour)
  assert.equal(s.model.requests.length, 4)
  await s.sound()
})

test('focus does not return to an item while another is in focus', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) => picks(s.id('A')),
    () => calls(waitsFor('timer', { wait_ms: 3 * minute })),
    (s) => picks(s.id('B')),
    () => says('B is hard.'),
    () => says('B is hard.'),
    () => says('B is hard.'),
    // B is in focus and backed off when the three minutes of A are over: A is offered, not picked.
    (s) => calls(call('PickWorkItem', { work_item_id: s.id('A'), reason: 'its time has come' })),
    done('A'),
    (s) => picks(s.id('B')),
    done('B'),
  )
  await s.say('Do both.')
  await s.pass(3 * minute - 1)
  assert.equal(s.focus(), s.id('B'))
  await s.pass(10 * minute)
  assert.deepEqual(await switches(s), [
    'explicit_pick',
    'explicit_pick',
    'explicit_focus_override',
    'explicit_pick',
  ])
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['completed', 'completed'])
  await s.sound()
})

test('a wait of the agent itself ends in one turn without an item', async (t) => {
  const s = await scene(
    t,
    () => calls(waitsFor('timer', { wait_ms: hour, reason: 'look at the oven' })),
    () => says('The oven is fine.'),
  )
  await s.say('Look at the oven in an hour.')
  await s.pass(hour)
  assert.match(textOf(s.model.requests[1]), /look at the oven/)
  assert.deepEqual(
    (await s.rows('turns')).map(({ cause, work_item_id }) => [cause.kind, work_item_id]),
    [
      ['message', null],
      ['review_triggered', null],
    ],
  )
  await s.pass(24 * hour)
  assert.equal(s.model.requests.length, 2)
  assert.equal(s.next.do, 'sleep')
  await s.sound()
})

test('a new wait of an item replaces the one before and names it', async (t) => {
  const s = await scene(
    t,
    () => creates('A'),
    (s) => {
      const on = { reason: 'x', work_item_id: s.id('A') }
      return calls(
        call('WaitFor', { wake: 'timer', wait_ms: hour, ...on }),
        call('WaitFor', { wake: 'external', source: 'ci', ...on }),
        call('WaitFor', { wake: 'external', source: 'ci', condition: 'green', ...on }),
      )
    },
    () => says('It waits.'),
  )
  await s.say('Begin.')
  const waits = await s.rows('waits')
  assert.deepEqual(
    waits.map(({ wake, status, condition }) => [wake, status, condition]),
    [
      ['timer', 'cancelled', null],
      ['external', 'active', 'green'],
    ],
  )
  const [, replacing, rearming] = resultsOf(s.model.requests[2])
  assert.ok(replacing?.text.includes(await s.short(waits[0]?.id ?? 'none')))
  assert.match(rearming?.text ?? '', /re-?armed/)
  await s.pass(2 * hour)
  assert.equal(s.model.requests.length, 3)
  await s.sound()
})

test('a delivery that comes twice is one message', async (t) => {
  const s = await onA(
    t,
    () => calls(waitsFor('external', { source: 'ci' })),
    () => says('Seen.'),
  )
  await s.say('Watch.')
  const delivery = { do: 'trigger', source: 'ci', body: 'green', delivery_id: 'd-1' } as const
  const first = await s.does(delivery)
  const again = await s.act(delivery)
  assert.equal(again.message_id, first.message_id)
  assert.deepEqual(again.triggered, [])
  assert.equal((await s.wait('A')).trigger_count, 1)
  await s.pass(hour)
  assert.equal(s.model.requests.length, 4)
  await s.sound()
})

test('events during other work do not preempt the current item', async (t) => {
  const wait = { source: 'ci', resource: 'build' }
  let step = 0
  const onward = (s: Stage): Scripted =>
    calls(call('UpdateWorkItem', { work_item_id: s.id('A'), todo_list: todo(`${++step}`) }))
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) =>
      calls(call('WaitFor', { wake: 'external', reason: 'ci', work_item_id: s.id('B'), ...wait })),
    (s) => picks(s.id('A')),
    () => async () => {
      await s.act({ do: 'trigger', ...wait, body: 'build is green' })
      return says('Turn one of A.')
    },
    onward,
    () => says('Turn two of A.'),
    onward,
    () => says('Turn three of A.'),
    done('A'),
    done('B'),
  )
  await s.say('Do A, watch B.')
  const [a, b] = (await s.rows('work_items')).map(({ id }) => id)
  assert.deepEqual(
    (await s.rows('turns')).map(({ work_item_id, cause }) => [work_item_id, cause.kind]),
    [
      [a, 'message'],
      [a, 'continue_current'],
      [a, 'continue_current'],
      [a, 'continue_current'],
      [b, 'message'],
    ],
  )
  assert.match(textOf(s.model.requests.at(-1)), /build is green/)
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['completed', 'completed'])
  await s.sound()
})

test('an event passed over by ten turns goes before the current item, once', async (t) => {
  const about = { source: 'ci', resource: 'build' }
  let step = 0
  let events = 0
  const model = scriptedModel(async (request, n) => {
    if (n === 1) return creates('A', 'B')
    if (n === 2) {
      return calls(
        call('WaitFor', { wake: 'external', reason: 'ci', work_item_id: s.id('B'), ...about }),
      )
    }
    if (n === 3) return picks(s.id('A'))
    if (events++ === 0) await s.act({ do: 'trigger', ...about, body: 'build is green' })
    if (textOf(request).includes('build is green')) return completes(s.id('B'), report('B'))
    if (step === 14) return completes(s.id('A'), report('A'))
    if (request.messages.at(-1)?.role === 'tool') return says('One more step.')
    return calls(call('UpdateWorkItem', { work_item_id: s.id('A'), todo_list: todo(`${++step}`) }))
  })
  const s: Stage = await openStage(t, { model })
  await s.say('Do A, watch B.')
  const order = (await s.rows('turns')).map(({ cause }) => cause.kind)
  const at = order.indexOf('message', 1)
  assert.deepEqual(order.slice(1, at), Array<string>(at - 1).fill('continue_current'))
  const [message] = (await s.rows('messages')).filter(({ kind }) => kind === 'callback_event')
  assert.deepEqual([at - (message?.turn_count ?? 0), message?.status], [10, 'consumed'])
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['completed', 'completed'])
  await s.sound()
})

test('a recheck brings reviews, less and less often, and they need neither a call nor a word', async (t) => {
  const s = await onA(
    t,
    waiting('external', { source: 'ci', resource: 'build', recheck_after_ms: 10 * minute }),
    () => says('Nothing yet; I wait on.'),
    ...Array.from({ length: 30 }, () => () => says('')),
  )
  await s.say('Watch the build.')
  await s.pass(10 * minute - 1)
  assert.equal(s.model.requests.length, 3)
  await s.pass(1)
  assert.deepEqual(await causes(s), ['message', 'review_triggered'])
  const wait = await s.wait('A')
  assert.deepEqual([wait.status, wait.trigger_count], ['active', 0])
  assert.equal(wait.rechecks, 1)
  await s.pass(24 * hour)
  // After 10, 20 and 40 minutes, then every hour: the review that changes nothing ends silently.
  assert.equal(s.model.requests.length, 4 + 3 + 22)
  const briefs = await s.rows('briefs')
  assert.deepEqual(
    briefs.map(({ kind }) => kind),
    ['progress'],
  )
  await s.sound()
})

test('a stopped agent admits deliveries and timers and starts nothing', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) =>
      calls(
        call('WaitFor', { wake: 'timer', reason: 'later', work_item_id: s.id('A'), wait_ms: hour }),
        call('WaitFor', { wake: 'external', reason: 'ci', work_item_id: s.id('B'), source: 'ci' }),
      ),
    () => says('Both wait.'),
    done('B'),
    (s) => picks(s.id('A')),
    done('A'),
  )
  await s.say('Begin.')
  await s.does({ do: 'stop_agent' })
  const reply = await s.try({ do: 'send', text: 'Hello?' })
  assert.deepEqual([reply.ok, !reply.ok && reply.code], [false, 'agent_stopped'])
  const fired = await s.does({ do: 'trigger', source: 'ci', body: 'green' })
  assert.deepEqual(fired.triggered, [(await s.wait('B')).id])
  await s.passUntil(s.now + 2 * hour)
  assert.equal((await s.wait('A')).status, 'resolved')
  assert.deepEqual([s.model.requests.length, s.next.do], [3, 'stop'])

  await s.does({ do: 'start_agent' })
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['completed', 'completed'])
  assert.deepEqual(await statuses(s), ['consumed', 'consumed'])
  await s.sound()
})

test('a message that says start wakes a stopped agent', async (t) => {
  const s = await scene(t, () => says('Here.'))
  await s.does({ do: 'stop_agent' })
  await s.say('Hello?', { start: true })
  assert.deepEqual(await s.briefs(), [{ kind: 'reply', text: 'Here.' }])
  await s.sound()
})
