/** §6 Abort: the operator ends the current run, and only that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBox, type Box } from '../src/testing/box.ts'
import { calls, scriptedModel } from '../src/testing/scripted-model.ts'

async function running(
  t: Parameters<typeof openBox>[0],
  script: Parameters<typeof scriptedModel>[0],
) {
  const box = await openBox(t, { models: { default: scriptedModel(script) } })
  await box.host.ensureAgent({
    id: 'main',
    model: 'test/scripted',
    workspace: { mode: 'explicit_root', root: box.workspace },
  })
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  return box
}

const turnOf = async (box: Box) => {
  const [turn] = await box.ledger.list('turns', { limit: 1 })
  assert.ok(turn)
  return turn
}

test('§6 abort ends a hung request: the turn is aborted, its message too, the agent stopped', async (t) => {
  const box = await running(t, () => 'hang')
  await box.until(
    (n) => n.kind === 'committed' && n.events.some((e) => e.event.type === 'request_sent'),
  )
  const { id } = await turnOf(box)
  const reply = await box.host.act({ do: 'abort', agent_id: 'main', run_id: id })
  assert.equal(reply.ok, true)
  const turn = await turnOf(box)
  assert.deepEqual([turn.state, turn.outcome, turn.reason], ['ended', 'aborted', 'operator'])
  const [message] = await box.ledger.list('messages', { limit: 1 })
  assert.equal(message?.status, 'aborted')
  assert.equal((await box.ledger.agents())[0]?.state, 'stopped')
})

test('§6 abort stops a foreground command with proof; calls not begun get not_executed', async (t) => {
  const box = await running(t, () =>
    calls(
      { name: 'ExecCommand', input: { cmd: 'echo begun; sleep 60', yield_ms: 60_000 } },
      { name: 'ExecCommand', input: { cmd: 'echo never' } },
    ),
  )
  const started = (n: Parameters<Parameters<Box['until']>[0]>[0]) =>
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

test('§6 a stale run id is refused', async (t) => {
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
