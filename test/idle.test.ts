/**
 * Waiting and idling cost nothing: a day passes over a hundred waiting items, and neither the
 * model nor the ledger notices; then one event wakes one item.
 */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { calls, says, scriptedModel, type Scripted } from '../src/testing/scripted-model.ts'
import { call, creates, picks, runs, until, waitsFor } from './support/scripts.ts'
import { hour, openStage, textOf, type Stage } from './support/stage.ts'

const perKind = 25
const numbers = Array.from({ length: perKind }, (_, at) => at)
const kinds = ['operator', 'external', 'timer', 'task'] as const

/** A hundred items: 25 wait for the operator, for an event, a time two days off, and a task. */
async function hundredWaiting(t: TestContext) {
  const later: Scripted[] = []
  const waitOf = {
    operator: () => waitsFor('operator_input'),
    external: (n: number) => waitsFor('external', { source: 'ci', resource: `build-${n}` }),
    timer: (n: number) => waitsFor('timer', { wait_ms: (48 + n) * hour }),
    task: () => waitsFor('task_result', { resource: taskId() }),
  }
  const taskId = () => [...(stage.box.host.facts('main')?.rows('tasks') ?? [])][0]?.id ?? 'none'
  const answers: (() => Scripted)[] = [
    ...kinds.map((kind) => () => creates(...numbers.map((n) => `${kind} ${n}`))),
    // It ends by itself when the test removes the workspace.
    () => calls(runs(until('done'), { yield_ms: 0 })),
    ...kinds.map(
      (kind) => () =>
        calls(
          ...numbers.map((n) => {
            const given = waitOf[kind](n)
            const input = 'input' in given ? (given.input as object) : {}
            return call('WaitFor', { ...input, work_item_id: stage.id(`${kind} ${n}`) })
          }),
        ),
    ),
    () => says('All hundred wait.'),
  ]
  const model = scriptedModel((_, n) => {
    const answer = answers[n - 1]?.() ?? later.shift()
    if (answer === undefined) throw new Error(`request ${n} was not expected`)
    return answer
  })
  const stage: Stage = await openStage(t, { model })
  await stage.act({ do: 'send', text: 'Start a hundred things.' })
  await stage.hurry('task_promoted')
  await stage.rest()
  return { stage, model, later }
}

const traces = async (stage: Stage, model: { requests: readonly unknown[] }) => ({
  requests: model.requests.length,
  events: await stage.box.ledger.lastGlobalSeq(),
  notices: stage.box.notices.length,
  next: stage.next,
})

test('waiting and idling cost nothing', async (t) => {
  const { stage, model, later } = await hundredWaiting(t)

  await t.test('a day over a hundred waiting items asks no model and writes no row', async () => {
    const waits = Object.entries(Object.groupBy(await stage.rows('waits'), ({ wake }) => wake))
    assert.deepEqual(
      waits.map(([wake, of]) => [wake, of?.length]),
      [
        ['operator_input', perKind],
        ['external', perKind],
        ['timer', perKind],
        ['task_result', perKind],
      ],
    )
    const before = await traces(stage, model)
    await stage.clock.advance(24 * hour)
    const after = await traces(stage, model)
    assert.equal(after.next.do, 'wait')
    assert.deepEqual({ ...after, next: null }, { ...before, next: null })
    await stage.sound()
  })

  await t.test('then one event wakes exactly the item that waits for it', async () => {
    const before = await traces(stage, model)
    later.push(says('Build 7 is red; I wait on.'))
    const given = { source: 'ci', resource: 'build-7', body: 'build 7 failed' }
    const reply = await stage.does({ do: 'trigger', ...given })

    const wait = await stage.wait('external 7')
    assert.deepEqual(reply.triggered, [wait.id])
    assert.equal(model.requests.length, before.requests + 1)
    assert.match(textOf(model.requests.at(-1)), /build 7 failed/)
    const turns = (await stage.rows('turns')).slice(1)
    assert.deepEqual(
      turns.map(({ work_item_id, cause, outcome }) => [work_item_id, cause.kind, outcome]),
      [[stage.id('external 7'), 'message', 'completed']],
    )
    const touched = (await stage.rows('waits')).filter(
      ({ trigger_count, status }) => trigger_count > 0 || status !== 'active',
    )
    assert.deepEqual(touched, [wait])
    const { status, trigger_count, reviewed_trigger_count } = wait
    assert.deepEqual([status, trigger_count, reviewed_trigger_count], ['active', 1, 1])
  })

  await t.test('afterwards it is as quiet as before', async () => {
    const rested = await traces(stage, model)
    await stage.clock.advance(20 * hour)
    const quiet = await traces(stage, model)
    assert.deepEqual([quiet.requests, quiet.events], [rested.requests, rested.events])
  })

  await t.test('the first of the timers, two days off, wakes its own item only', async () => {
    const before = model.requests.length
    later.push(picks(stage.id('timer 0')))
    later.push(calls(waitsFor('timer', { wait_ms: 400 * hour })))
    await stage.pass(4 * hour)

    assert.equal(model.requests.length, before + 2)
    const ended = (await stage.rows('waits')).filter(({ status }) => status !== 'active')
    assert.deepEqual(
      ended.map(({ work_item_id, wake, status }) => ({ work_item_id, wake, status })),
      [{ work_item_id: stage.id('timer 0'), wake: 'timer', status: 'resolved' }],
    )
    await stage.sound()
  })
})
