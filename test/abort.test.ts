/** Abort: the operator ends the current run, and only that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../src/domain/state/event.ts'
import type { Ledger } from '../src/ledger/port.ts'
import { openBox, temporaryHome, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { calls, scriptedModel } from '../src/testing/scripted-model.ts'
import { settle, virtualClock } from '../src/testing/virtual-clock.ts'

async function running(
  t: Parameters<typeof openBox>[0],
  script: Parameters<typeof scriptedModel>[0],
) {
  const box = await openBox(t, { models: { default: scriptedModel(script) } })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  return box
}

const turnOf = async (box: HostFixture) => {
  const [turn] = await box.ledger.list('turns', { limit: 1 })
  assert.ok(turn)
  return turn
}

test('abort ends a hung request: the turn is aborted, its message too, the agent stopped', async (t) => {
  const box = await running(t, () => 'hang')
  await box.until(
    (n) => n.kind === 'committed' && n.events.some((e) => e.event.type === 'request_sent'),
  )
  const { id } = await turnOf(box)
  const reply = await box.host.act({ do: 'abort', agent_id: 'main', run_id: id })
  assert.equal(reply.ok, true)
  const turn = await turnOf(box)
  assert.deepEqual(
    [turn.state, turn.outcome, turn.reason],
    ['ended', 'aborted', 'operator_aborted'],
  )
  const [message] = await box.ledger.list('messages', { limit: 1 })
  assert.equal(message?.status, 'aborted')
  assert.equal((await box.ledger.agents())[0]?.state, 'stopped')
})

test('abort stops a foreground command with proof; calls not begun get not_executed', async (t) => {
  const box = await running(t, () =>
    calls(
      { name: 'ExecCommand', input: { cmd: 'echo begun; sleep 60', yield_ms: 60_000 } },
      { name: 'ExecCommand', input: { cmd: 'echo never' } },
    ),
  )
  const started = (n: Parameters<Parameters<HostFixture['until']>[0]>[0]) =>
    n.kind === 'committed' && n.events.some(({ event }) => event.type === 'call_started')
  await box.until(started)
  const [task] = await box.ledger.list('tasks', { limit: 1 })
  assert.ok(task)
  while ((await box.ports.processes.observe(task.id)).state !== 'running') {
    await new Promise((again) => setImmediate(again))
  }
  const { id } = await turnOf(box)
  await box.host.act({ do: 'abort', agent_id: 'main', run_id: id, stop: false })
  const results = (await box.ledger.list('calls', { limit: 5 })).map(({ result }) =>
    result?.status === 'error' ? result.error.kind : result?.status,
  )
  assert.deepEqual(results, ['aborted', 'not_executed'])
  const [ended] = await box.ledger.list('tasks', { limit: 1 })
  assert.equal(ended?.status, 'cancelled')
  assert.equal((await box.ledger.agents())[0]?.state, 'active')
  assert.deepEqual((await box.ledger.verify()).problems, [])
})

test('a run that ends by itself before the abort has its place is not said to be aborted', async (t) => {
  const [ending, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => asked.resolve())
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    async commit(...changes) {
      if (changes.some(({ events }) => events.some((one) => one.event.type === 'turn_ended'))) {
        ending.resolve()
        await asked.promise
      }
      return ledger.commit(...changes)
    },
  })
  const model = scriptedModel(() => calls('Done.'))
  const box = await openBox(t, { models: { default: model }, over })
  await box.host.ensureAgent({ id: 'main', model: 'test/scripted' })
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await ending.promise
  const { id } = await turnOf(box)
  const aborting = box.host.act({ do: 'abort', agent_id: 'main', run_id: id })
  asked.resolve()
  const reply = await aborting
  assert.deepEqual([reply.ok, !reply.ok && reply.code], [false, 'run_stale'])
  assert.equal((await turnOf(box)).outcome, 'completed')
  assert.equal((await box.ledger.agents())[0]?.state, 'active')
})

test('a stale run id is refused', async (t) => {
  const box = await running(t, () => calls('Done.'))
  await box.rests('main')
  const { id } = await turnOf(box)
  const reply = await box.host.act({ do: 'abort', agent_id: 'main', run_id: id })
  assert.deepEqual(reply, {
    ok: false,
    code: 'run_stale',
    message: `${id} is not open: no turn is open.`,
    hint: 'Look again: the run you mean is not the open one.',
  })
})

/** The ledger of a host, with `before` run ahead of each commit of an event of this type. */
const before =
  (type: Event['type'], body: () => Promise<void>) =>
  (ledger: Ledger): Ledger => ({
    ...ledger,
    async commit(...changes) {
      const has = changes.some(({ events }) => events.some(({ event }) => event.type === type))
      if (has) await body()
      return ledger.commit(...changes)
    },
  })

test('abort ends a turn without a request while the next process is about to undo it', async (t) => {
  const places = temporaryHome(t)
  const clock = virtualClock()
  const timer = { wake: 'timer', reason: 'a minute', wait_ms: 60_000 }
  const models = { default: scriptedModel(() => calls({ name: 'WaitFor', input: timer })) }
  let dies = false
  const dying = before('request_sent', async () => {
    if (dies) throw new Error('the process dies')
  })
  const first = await openBox(t, { models, clock, over: dying, is_dead: () => dies, ...places })
  await first.host.act({ do: 'create_agent', agent_id: 'main', model: 'test/scripted' })
  await first.host.open()
  await first.host.act({ do: 'send', agent_id: 'main', text: 'Wait a minute.' })
  await first.until(
    (notice) =>
      notice.kind === 'resting' && notice.next.do === 'sleep' && notice.next.until !== null,
  )
  dies = true
  await first.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await first.until((notice) => notice.kind === 'fault').catch(() => {})
  await first.close().catch(() => {})

  const [isDue, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = before('wait_resolved', () => (isDue.resolve(), goesOn.promise))
  await clock.advance(120_000)
  const box = await openBox(t, { models, clock, over: slow, ...places })
  await box.host.open()
  await isDue.promise
  const { id } = await turnOf(box)
  const reply = box.host.act({ do: 'abort', agent_id: 'main', run_id: id })
  await settle(5)
  goesOn.resolve()
  assert.equal((await reply).ok, true)
  await box.until((notice) => notice.kind === 'resting')
  const turn = await turnOf(box)
  assert.deepEqual([turn.id, turn.outcome, turn.reason], [id, 'aborted', 'operator_aborted'])
  assert.deepEqual((await box.ledger.verify()).problems, [])
})
