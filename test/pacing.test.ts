/**
 * Pacing: an agent that goes in circles is slowed, then stopped, and the operator is asked once;
 * one that moves is left alone. Turns, times and questions of a whole host on a virtual clock.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paceAgent } from '../src/domain/waits/pacing.ts'
import { toMs } from '../src/domain/time.ts'
import { systemIds } from '../src/exec/clock.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import { Store } from '../src/runtime/store.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'
import { calls, fails, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { virtualClock, type VirtualClock } from '../src/testing/virtual-clock.ts'
import { call, completes, creates, inOrder, picks, runs, waitsFor } from './support/scripts.ts'
import { agent, minute, openStage, textOf, type Stage } from './support/stage.ts'

/** Turns that nobody asked for, in order. */
const selfStarted = async (stage: Stage) =>
  (await stage.rows('turns')).filter((turn) => turn.started_by === 'itself')

const times = (turns: readonly { started_at: string }[]) =>
  turns.map((turn) => toMs(turn.started_at))

const questions = async (stage: Stage) =>
  (await stage.rows('briefs')).filter((brief) => brief.kind === 'question')

/** Begins one item, takes it up, and then does as `then` says in every further request. */
function onOneItem(then: (n: number) => Scripted) {
  const stage: { now: Stage | null } = { now: null }
  const model = scriptedModel((_, n) => {
    if (n === 1) return creates('Go on')
    if (n === 2) return picks(stage.now?.id('Go on') ?? 'none')
    return then(n - 2)
  })
  return { model, stage }
}

test('a model that only says "continuing" is asked about after three turns', async (t) => {
  const scene = onOneItem((n) =>
    n <= 4 ? says('continuing') : completes(stage.id('Go on'), 'It went on as you said. Done.'),
  )
  const stage = (scene.stage.now = await openStage(t, { model: scene.model }))
  await stage.say('Go on.')
  const item = stage.id('Go on')
  // The message's own turn made progress, so the first self-started turn follows at once.
  assert.equal((await selfStarted(stage)).length, 1)
  assert.equal(stage.focus(), item)
  await stage.passOn()
  await stage.passOn()

  const turns = await selfStarted(stage)
  const [first, second, third] = times(turns)
  assert.deepEqual(
    [turns.length, first, second, third],
    [3, first, (first ?? 0) + minute, (first ?? 0) + 6 * minute],
  )
  assert.deepEqual(
    turns.map(({ progress, work_item_id }) => [progress, work_item_id]),
    turns.map(() => [false, item]),
  )
  const asked = await questions(stage)
  const wait = await stage.wait('Go on')
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.wait_id, wait.id)
  for (const turn of turns) assert.ok(asked[0]?.text.includes(turn.id), asked[0]?.text)
  const { wake, by, status } = wait
  assert.deepEqual(
    { wake, by, status },
    {
      wake: 'operator_input',
      by: 'runtime',
      status: 'active',
    },
  )
  assert.equal(stage.focus(), null)

  const requests = scene.model.requests.length
  await stage.pass(24 * 60 * minute)
  assert.equal(scene.model.requests.length, requests, 'a parked item costs nothing')

  await stage.say('Yes, finish it.', { wait_id: wait.id })
  const picked = await stage.eventsOf('work_item_picked')
  assert.deepEqual(
    picked.map(({ switch_kind, current_work_item_id }) => [switch_kind, current_work_item_id]),
    [
      ['explicit_pick', item],
      ['wait_resolved', item],
    ],
  )
  assert.equal((await stage.rows('work_items'))[0]?.state, 'completed')
  assert.equal((await questions(stage)).length, 1)
  await stage.sound()
})

test('a model that rewrites its todos for ever is parked after 50 turns', async (t) => {
  let rewrites = 0
  const scene = onOneItem((n) => {
    if (n % 2 === 0) return says('Rewrote the list.')
    const todo_list = [{ text: `step ${++rewrites}`, state: 'pending' }]
    return calls(call('UpdateWorkItem', { work_item_id: stage.id('Go on'), todo_list }))
  })
  const stage = (scene.stage.now = await openStage(t, { model: scene.model }))
  await stage.say('Go on.')

  const turns = await selfStarted(stage)
  assert.equal(turns.length, 50)
  assert.equal(new Set(times(turns)).size, 1, 'turns with progress follow at once')
  assert.deepEqual(
    (await questions(stage)).map(({ text }) => /^\d+/.exec(text)?.[0]),
    ['50'],
  )
  assert.equal((await stage.wait('Go on')).status, 'active')
  assert.deepEqual([stage.next.do, stage.focus()], ['wait', null])
  await stage.sound()
})

test('a model that only runs new commands goes on', async (t) => {
  const rounds = 2 * 24
  const scene = onOneItem((n) => {
    if (n > rounds) return completes(stage.id('Go on'), 'I ran every command. All is well.')
    return n % 2 === 1 ? calls(runs(`echo ${n}`)) : says(`Ran command ${n / 2}.`)
  })
  const stage = (scene.stage.now = await openStage(t, { model: scene.model }))
  await stage.say('Go on.')

  const turns = await selfStarted(stage)
  assert.equal(turns.length, 24)
  assert.deepEqual(new Set(turns.map(({ progress }) => progress)), new Set([true]))
  assert.equal(new Set(times(turns)).size, 1)
  assert.deepEqual(await questions(stage), [])
  assert.equal((await stage.rows('work_items'))[0]?.state, 'completed')
  await stage.sound()
})

test('a model that runs the same command again and again is asked about', async (t) => {
  const scene = onOneItem((n) => (n % 2 === 0 ? calls(runs('echo same')) : says('Looked again.')))
  const stage = (scene.stage.now = await openStage(t, { model: scene.model }))
  await stage.say('Go on.')
  await stage.pass(10 * minute)

  const turns = await selfStarted(stage)
  assert.deepEqual(
    turns.map(({ progress }) => progress),
    [true, false, false, false],
    'only the first time its result was new',
  )
  assert.equal((await questions(stage)).length, 1)
  await stage.sound()
})

test('a refused turn counts as one without progress', async (t) => {
  const refusal = fails({ kind: 'refused', code: 'bad_request', status: 400 })
  const scene = onOneItem((n) => (n === 1 ? says('Began.') : refusal))
  const stage = (scene.stage.now = await openStage(t, { model: scene.model }))
  await stage.say('Go on.')
  await stage.pass(10 * minute)

  const turns = await selfStarted(stage)
  assert.deepEqual(
    turns.map(({ outcome, progress }) => [outcome, progress]),
    [
      ['failed', false],
      ['failed', false],
      ['failed', false],
    ],
  )
  assert.equal((await questions(stage)).length, 1)
  await stage.sound()
})

test('a queue that is looked at and left is asked about once', async (t) => {
  const model = scriptedModel(
    inOrder(
      creates('One', 'Two'),
      says('Made two.'),
      says('Neither.'),
      says('Neither.'),
      says('Neither.'),
      (request) => {
        assert.match(textOf(request), /Take the first/)
        return picks(stage.id('One'))
      },
      () => completes(stage.id('One'), 'One is done as you asked. It was small.'),
      () => picks(stage.id('Two')),
      () => completes(stage.id('Two'), 'Two is done as well. It was small.'),
    ),
  )
  const stage: Stage = await openStage(t, { model })
  await stage.say('Make two.')
  await stage.pass(30 * minute)

  const turns = await selfStarted(stage)
  assert.deepEqual(
    turns.map(({ cause, work_item_id }) => [cause.kind, work_item_id]),
    turns.map(() => ['queued_available', null]),
  )
  const [first = 0, second, third] = times(turns)
  assert.deepEqual([turns.length, second, third], [3, first + minute, first + 6 * minute])
  const asked = await questions(stage)
  assert.equal(asked.length, 1)
  assert.equal((await stage.wait(null)).id, asked[0]?.wait_id)

  await stage.say('Take the first.')
  assert.equal((await stage.wait(null)).status, 'resolved')
  assert.deepEqual(
    (await stage.rows('work_items')).map(({ state }) => state),
    ['completed', 'completed'],
  )
  assert.equal((await questions(stage)).length, 1)
  await stage.sound()
})

test('an empty bucket asks once, fills by one in ten minutes, and by any word', async (t) => {
  const place = temporaryHome(t)
  const clock = virtualClock()
  const left = 5
  let rewrites = 0
  let finish = false
  const scene = onOneItem((n) => {
    if (n === 1) return calls(waitsFor('timer', { wait_ms: 2 * minute }))
    if (finish) return completes(stage.id('Go on'), 'It is finished now. Nothing is open.')
    if (n % 2 === 1) return says('Rewrote the list.')
    const todo_list = [{ text: `step ${++rewrites}`, state: 'pending' }]
    return calls(call('UpdateWorkItem', { work_item_id: stage.id('Go on'), todo_list }))
  })
  let stage = (scene.stage.now = await openStage(t, { ...place, clock, model: scene.model }))
  await stage.say('Go on.')
  await stage.box.close()
  await drain(place.home, clock, left)
  const drained = clock.now()
  stage = scene.stage.now = await openStage(t, { ...place, clock, model: scene.model })

  // The first turn after a timer of more than a minute is free; the others draw from the bucket.
  await stage.passOn()
  assert.equal((await selfStarted(stage)).length, 1 + left)
  assert.equal((await questions(stage)).length, 1)
  const wait = await stage.wait(null)
  assert.deepEqual([wait.status, wait.runtime_cause], ['active', 'bucket_empty'])
  for (const turns of [1, 2]) {
    await stage.passOn()
    assert.equal(stage.now, drained + turns * 10 * minute)
    assert.equal((await selfStarted(stage)).length, 1 + left + turns)
  }
  assert.equal((await questions(stage)).length, 1, 'the question is put once')

  finish = true
  await stage.say('Finish it.')
  assert.equal((await stage.wait(null)).status, 'resolved')
  const pacing = (await stage.rows('pacing')).find((row) => row.kind === 'agent')
  assert.deepEqual([pacing?.bucket, pacing?.bucket_wait_id], [500, null])
  assert.equal((await stage.rows('work_items'))[0]?.state, 'completed')
  await stage.sound()
})

/** Uses up all but `left` of the self-started turns, in one commit instead of 500 turns. */
async function drain(home: string, clock: VirtualClock, left: number): Promise<void> {
  const ids = systemIds()
  const ledger = await openLedger(home, {
    clock_now: () => clock.now(),
    mint: (prefix) => ids.mint(prefix),
  })
  const store = new Store(ledger, clock, ids)
  await store.loaded(agent)
  await store.transact(agent, null, (d) => paceAgent(d, { bucket: left, bucket_at: d.now }))
  await ledger.close()
}
