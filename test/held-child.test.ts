/** Stopping a child whose turn only stands in the rows: nothing of it runs, and nothing breaks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBox } from '../src/testing/host/host-fixture.ts'
import { calls, fails, says, scriptedModel } from '../src/testing/scripted-model.ts'

test('a child that is stopped while its turn is held ends aborted, once', async (t) => {
  const noKey = fails({ kind: 'setup', code: 'unauthorized', status: 401 })
  const model = scriptedModel((request) => {
    const [opening] = request.messages
    const isChild = opening?.role === 'user' && opening.content.includes('Count the words.')
    if (isChild) return noKey
    const isFirst = request.messages.length === 1
    const spawn = { name: 'SpawnAgent', input: { initial_message: 'Count the words.' } }
    return isFirst ? calls(spawn) : says('It is at work.')
  })
  const box = await openBox(t, { models: { default: model } })
  await box.makeAgent('test/scripted')
  await box.host.open()
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go.' })
  await box.rests('main.1', ({ next }) => next.do === 'wait' && next.for === 'system')
  const [task] = await box.ledger.list('tasks', { limit: 1 })
  assert.ok(task)

  const reply = await box.host.act({ do: 'stop_task', agent_id: 'main', task_id: task.id })

  assert.equal(reply.ok, true)
  const turns = await box.ledger.list('turns', { agent_id: 'main.1', limit: 5 })
  assert.deepEqual(
    turns.map(({ state, outcome, reason }) => ({ state, outcome, reason })),
    [{ state: 'ended', outcome: 'aborted', reason: 'operator_aborted' }],
  )
  assert.equal((await box.ledger.row('tasks', task.id))?.status, 'cancelled')
  await box.host.act({ do: 'send', agent_id: 'main', text: 'Go on.' })
  await box.rests('main')
  assert.deepEqual(
    box.notices.filter(({ kind }) => kind === 'fault'),
    [],
  )
})
