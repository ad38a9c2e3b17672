/**
 * Waiting and waking, end to end: every kind of wait, focus lost and returned, triggers beside
 * other work, rechecks, a stopped agent, downtime, and what a closing call does to its round.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Json } from '../src/models/model.ts'
import { temporaryHome } from '../src/testing/box.ts'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { virtualClock } from '../src/testing/virtual-clock.ts'
import {
  call,
  completes,
  creates,
  inOrder,
  picks,
  runs,
  until,
  waitsFor,
} from './support/scripts.ts'
import type { Answer } from './support/scripts.ts'
import { hour, minute, openStage, resultsOf, textOf, type Stage } from './support/stage.ts'

const report = (what: string) => `${what} is done. I checked it twice.`

type Scene = Stage & { model: ReturnType<typeof scriptedModel> }

/** A stage whose model makes the item `A`, takes it up, and then says `then`, answer by answer. */
async function onA(t: TestContext, ...then: readonly ((s: Stage) => Answer)[]): Promise<Scene> {
  return scene(
    t,
    () => creates('A'),
    (s) => picks(s.id('A')),
    ...then,
  )
}

async function scene(t: TestContext, ...script: readonly ((s: Stage) => Answer)[]): Promise<Scene> {
  const box: { stage: Stage | null } = { stage: null }
  const model = scriptedModel(
    inOrder(
      ...script.map((answer) => (request: Parameters<Extract<Answer, Function>>[0]) => {
        assert.ok(box.stage)
        const given = answer(box.stage)
        return typeof given === 'function' ? given(request) : given
      }),
    ),
  )
  const stage = (box.stage = await openStage(t, { model }))
  return Object.assign(stage, { model })
}

const done = (objective: string) => (s: Stage) => completes(s.id(objective), report(objective))
const waiting =
  (wake: string, more: Readonly<Record<string, Json>> = {}) =>
  () =>
    calls(waitsFor(wake, more))

const causes = async (s: Stage) => (await s.rows('turns')).map(({ cause }) => cause.kind)
const stateOf = async (s: Stage, objective: string) =>
  (await s.rows('work_items')).find((item) => item.objective === objective)?.state
const switches = async (s: Stage) =>
  (await s.eventsOf('work_item_picked')).map(({ switch_kind }) => switch_kind)
const errors = async (s: Stage) =>
  (await s.rows('calls')).map(({ tool_name, result }) => [
    tool_name,
    result?.status === 'error' ? result.error.kind : result?.status,
  ])
const statuses = async (s: Stage) => (await s.rows('messages')).map(({ status }) => status)

test('§3 an answer to the question resolves the wait, and focus returns', async (t) => {
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

test('§3 a word bound to the item answers its question too', async (t) => {
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

test('§3 an unbound word answers nothing by itself and shows what waits', async (t) => {
  const s = await onA(t, waiting('operator_input', { reason: 'Red or blue?' }), () =>
    says('Which do you mean?'),
  )
  await s.say('Paint it.')
  const wait = await s.wait('A')
  const reply = await s.does({ do: 'send', text: 'Blue.' })
  assert.deepEqual(reply.resolved, [])
  assert.equal((await s.wait('A')).status, 'active')
  const shown = textOf(s.model.requests.at(-1))
  assert.match(shown, /These items wait for the operator/)
  assert.ok(shown.includes(wait.id) && shown.includes('Red or blue?'))
  assert.deepEqual((await s.briefs()).at(-1), { kind: 'reply', text: 'Which do you mean?' })
  await s.sound()
})

test('§3 the end of a task resolves the wait on it, and focus returns', async (t) => {
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

const liveTask = (s: Stage): string =>
  [...(s.box.host.facts('main')?.rows('tasks') ?? [])].at(-1)?.id ?? 'none'

test('§3 a wait for a task that has ended is answered in the call, and the turn goes on', async (t) => {
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

test('§3 a timer wakes its item at its time and not before', async (t) => {
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

test('§3 a timer that came due while the host was down fires once, and says how late', async (t) => {
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
  test(`§3 an event fired by hand wakes a review (${mode}) and ends no wait`, async (t) => {
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

test('§3 an event from before the wait never triggers it, one during the turn does', async (t) => {
  const about = { source: 'ci', resource: 'build' }
  const s = await onA(
    t,
    () => async () => {
      await s.act({ do: 'trigger', ...about, body: 'early bird' })
      return calls(waitsFor('external', about))
    },
    () => says('A bird came.'),
    () => says('It came while I registered; I wait on.'),
  )
  await s.does({ do: 'trigger', ...about, body: 'begin' })
  const wait = await s.wait('A')
  assert.deepEqual([wait.trigger_count, wait.reviewed_trigger_count], [1, 1])
  assert.match(textOf(s.model.requests[3]), /early bird/)
  // The event matched no wait when it was admitted, so it was nobody's message; then the review.
  assert.deepEqual(await causes(s), ['message', 'message', 'review_triggered'])
  await s.pass(hour)
  assert.equal(s.model.requests.length, 5)
  await s.sound()
})

test('§2 focus does not return to an item while another is in focus', async (t) => {
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

test('§3 a wait of the agent itself ends in one turn without an item', async (t) => {
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

test('§3 a new wait of an item replaces the one before and names it', async (t) => {
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
  assert.ok(replacing?.text.includes(waits[0]?.id ?? 'none'), replacing?.text)
  assert.match(rearming?.text ?? '', /re-?armed/)
  await s.pass(2 * hour)
  assert.equal(s.model.requests.length, 3)
  await s.sound()
})

test('§3 a delivery that comes twice is one message', async (t) => {
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

test('§5 events during other work do not preempt the current item', async (t) => {
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

const todo = (text: string): Json => [{ text, state: 'pending' }]

test('§5 an event passed over by ten turns goes before the current item, once', async (t) => {
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
  assert.deepEqual(order.slice(1, at), Array(at - 1).fill('continue_current'))
  const [message] = (await s.rows('messages')).filter(({ kind }) => kind === 'callback_event')
  assert.deepEqual([at - (message?.turn_count ?? 0), message?.status], [10, 'consumed'])
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['completed', 'completed'])
  await s.sound()
})

test('§3 a recheck brings one review when it is due, and unblocks nothing', async (t) => {
  const s = await onA(
    t,
    waiting('external', { source: 'ci', resource: 'build', recheck_after_ms: 10 * minute }),
    () => says('Nothing yet; I wait on.'),
  )
  await s.say('Watch the build.')
  await s.pass(10 * minute - 1)
  assert.equal(s.model.requests.length, 3)
  await s.pass(1)
  assert.deepEqual(await causes(s), ['message', 'review_triggered'])
  const wait = await s.wait('A')
  assert.deepEqual([wait.status, wait.trigger_count], ['active', 0])
  assert.notEqual(wait.recheck_consumed_at, null)
  await s.pass(24 * hour)
  assert.equal(s.model.requests.length, 4, 'one recheck, one review')
  await s.sound()
})

test('§9 a stopped agent admits deliveries and timers, starts nothing, and loses nothing', async (t) => {
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

test('§9 a message that says start wakes a stopped agent', async (t) => {
  const s = await scene(t, () => says('Here.'))
  await s.does({ do: 'stop_agent' })
  await s.say('Hello?', { start: true })
  assert.deepEqual(await s.briefs(), [{ kind: 'reply', text: 'Here.' }])
  await s.sound()
})

/** What may befall a plan file while its item is worked on, and the problem it is read as. */
const damages: readonly [string, (path: string) => void][] = [
  ['missing', (path) => rmSync(path)],
  ['not_a_file', (path) => (rmSync(path), mkdirSync(path))],
  ['emptied', (path) => writeFileSync(path, '')],
  ['nul_filled', (path) => writeFileSync(path, Buffer.alloc(64))],
]

for (const [problem, damage] of damages) {
  test(`§2 a plan file that is ${problem} is told, not repaired, and stops nothing`, async (t) => {
    const plan = '# Plan\nfirst this, then that\n'
    const path = () => s.item('A').plan_artifact.path
    const s = await scene(
      t,
      () => calls(call('CreateWorkItem', { objective: 'A', plan })),
      (s) => picks(s.id('A')),
      () => {
        damage(path())
        return calls(call('GetWorkItem', { work_item_id: s.id('A') }))
      },
      () => says('The plan is damaged.'),
      (s) => calls(call('GetWorkItem', { work_item_id: s.id('A') })),
      done('A'),
    )
    await s.say('Begin.')
    for (const request of [s.model.requests[3], s.model.requests[5]]) {
      const [result] = resultsOf(request)
      assert.equal(result?.is_error, false)
      assert.match(result?.text ?? '', new RegExp(`"?code"?:? ?"?${problem}`), result?.text)
      const good = /[^\s"]*blobs[^\s"]*/.exec(result?.text ?? '')?.[0] ?? 'none'
      assert.equal(existsSync(good) && readFileSync(good, 'utf8'), plan, `last good: ${good}`)
      assert.match(result?.text ?? '', /runnable/)
    }
    assert.match(textOf(s.model.requests[4]), /plan/i)
    assert.equal(await stateOf(s, 'A'), 'completed')
    await s.sound()
  })
}

test('§1 times never decrease when the clock is set back', async (t) => {
  const s = await onA(
    t,
    () => {
      s.clock.setWallClock(Date.UTC(2020, 0, 1))
      return calls(call('UpdateWorkItem', { work_item_id: s.id('A'), todo_list: todo('x') }))
    },
    waiting('timer', { wait_ms: minute }),
    done('A'),
  )
  const begin = s.now
  await s.say('Begin.')
  const { created_at, wake_at } = await s.wait('A')
  assert.ok(Date.parse(created_at) >= begin, created_at)
  assert.equal(Date.parse(wake_at ?? '') - Date.parse(created_at), minute)
  assert.equal(s.next.do, 'wait')
  // Set right again, the timer is found overdue at the next look, within a minute.
  s.clock.setWallClock(begin + hour)
  const from = s.box.notices.length
  await s.clock.advance(minute)
  await s.rest(from)
  assert.equal(await stateOf(s, 'A'), 'completed')
  await s.sound()
})

test('§5 an interjected word moves a foreground command to the background at once', async (t) => {
  const s = await onA(
    t,
    () => calls(runs(`touch running; ${until('go')}`)),
    () => says('I read you.'),
    done('A'),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  while (!existsSync(join(s.box.workspace, 'running'))) await s.clock.advance(0)
  const before = s.now
  await s.act({ do: 'send', text: 'One more thing.', priority: 'interject' })
  await s.committed('turn_ended')
  assert.equal(s.now, before, 'no time had to pass')
  const [result] = resultsOf(s.model.requests[3])
  assert.match(result?.text ?? '', /task_handle|background/)
  const last = s.model.requests[3]?.messages.at(-1)
  assert.ok(last?.role === 'user' && last.content.includes('One more thing.'), 'after the results')
  await s.rest()
  assert.deepEqual(await statuses(s), ['consumed', 'interjected'])
  const ended = s.committed('task_ended')
  writeFileSync(join(s.box.workspace, 'go'), '')
  await ended
  await s.rest()
  await s.sound()
})

test('§5 an interjected word keeps a turn from ending in plain text', async (t) => {
  const s = await scene(
    t,
    () => async () => {
      await s.act({ do: 'send', text: 'And this.', priority: 'interject' })
      return says('I am done.')
    },
    () => says('That too.'),
  )
  await s.say('Begin.')
  assert.equal((await s.rows('turns')).length, 1)
  assert.match(textOf(s.model.requests[1]), /And this\./)
  assert.deepEqual(await statuses(s), ['consumed', 'interjected'])
  await s.sound()
})

test('§6 calls after a closing call get not_executed, completions excepted', async (t) => {
  const s = await scene(
    t,
    () => creates('A', 'B'),
    (s) => picks(s.id('A')),
    (s) =>
      calls(
        waitsFor('operator_input'),
        runs('touch ran'),
        call('CompleteWorkItem', { work_item_id: s.id('B') }),
        call('CreateWorkItem', { objective: 'C' }),
      ),
  )
  await s.say('Begin.')
  assert.deepEqual((await errors(s)).slice(3), [
    ['WaitFor', 'success'],
    ['ExecCommand', 'not_executed'],
    ['CompleteWorkItem', 'success'],
    ['CreateWorkItem', 'not_executed'],
  ])
  assert.equal(existsSync(join(s.box.workspace, 'ran')), false)
  assert.deepEqual([await stateOf(s, 'A'), await stateOf(s, 'B')], ['open', 'completed'])
  assert.deepEqual(
    (await s.rows('turns')).map(({ outcome }) => outcome),
    ['waiting'],
  )
  await s.sound()
})

test('§2 a completion lists the tasks that still run, and they go on', async (t) => {
  const s = await onA(t, () => calls(runs(until('off'), { yield_ms: 0 })), done('A'))
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('task_promoted')
  await s.rest()
  const [brief] = await s.rows('briefs')
  const [task] = await s.rows('tasks')
  assert.deepEqual([brief?.kind, brief?.text], ['result', report('A')])
  assert.deepEqual(
    brief?.warnings.map(({ kind }) => kind),
    ['running_tasks'],
  )
  assert.ok(JSON.stringify(brief?.warnings).includes(task?.id ?? 'none'))
  assert.equal(task?.status, 'running')

  const ended = s.committed('task_ended')
  writeFileSync(join(s.box.workspace, 'off'), '')
  await ended
  await s.rest()
  const result = (await s.rows('messages')).at(-1)
  assert.deepEqual([result?.kind, result?.status], ['task_result', 'consumed'])
  assert.equal(s.model.requests.length, 4, 'nobody needs to be told')
  await s.sound()
})

test('§2 a missing report is asked for once, with no tools', async (t) => {
  const s = await onA(
    t,
    (s) => calls('Now I complete it:', call('CompleteWorkItem', { work_item_id: s.id('A') })),
    () => calls(report('A'), runs('touch ran')),
  )
  await s.say('Begin.')
  const asked = s.model.requests[3]
  assert.equal(asked?.tool_choice, 'none')
  assert.match(textOf(asked), /its report is missing/)
  assert.deepEqual(await s.briefs(), [{ kind: 'result', text: report('A') }])
  assert.deepEqual((await errors(s)).at(-1), ['ExecCommand', 'not_executed'])
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', report('A')])
  assert.equal((await s.rows('turns')).length, 1)
  await s.sound()
})

test('§2 an empty answer to the request for a report means there is none', async (t) => {
  const s = await onA(
    t,
    (s) => calls(call('CompleteWorkItem', { work_item_id: s.id('A') })),
    () => says(''),
  )
  await s.say('Begin.')
  assert.equal(s.model.requests.length, 4)
  assert.deepEqual(await s.briefs(), [])
  const [item] = await s.rows('work_items')
  assert.deepEqual([item?.state, item?.result_summary], ['completed', null])
  await s.sound()
})
