/**
 * Supervised children, end to end: scripted models, a real ledger, real processes. The parent hands
 * work over, goes on, and gets each result on the item it was spawned for.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../src/ports/json.ts'
import type { ModelRequest } from '../src/models/model.ts'
import { openBox, type HostFixture } from '../src/testing/host/host-fixture.ts'
import { calls, scriptedModel, type Script } from '../src/testing/scripted-model.ts'

const call = (name: string, input: Json) => ({ name, input })

/** The results of the last round, as the model reads them. */
const lastOf = (request: ModelRequest): string => JSON.stringify(request.messages.at(-1))

/** Ids of `prefix` in what the model has read, oldest first. */
function idsIn(request: ModelRequest, prefix: string): string[] {
  const text = JSON.stringify(request.messages)
  return [...new Set(text.match(new RegExp(`${prefix}_[0-9a-f-]{4,36}`, 'g')) ?? [])]
}

const send = (box: HostFixture, text: string, agent_id = 'main') =>
  box.host.act({ do: 'send', agent_id, text })

test('a child’s report reaches the item it was spawned for, and the child is over', async (t) => {
  const child: Script = (request, n) => {
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'count the words' }))
    if (n === 2)
      return calls(call('PickWorkItem', { work_item_id: idsIn(request, 'work')[0] ?? '' }))
    return calls(
      'There are 42 words.',
      call('CompleteWorkItem', {
        work_item_id: idsIn(request, 'work')[0] ?? '',
      }),
    )
  }
  const parent: Script = (request, n) => {
    const [item] = idsIn(request, 'work')
    if (n === 1) return calls(call('CreateWorkItem', { objective: 'the whole' }))
    if (n === 2) return calls(call('PickWorkItem', { work_item_id: item ?? '' }))
    if (n === 3) {
      return calls(
        call('SpawnAgent', { initial_message: 'Count the words.\nAll of them.', model: 'a/child' }),
      )
    }
    if (n === 4) {
      const [task] = idsIn(request, 'task')
      return calls(
        call('WaitFor', { wake: 'task_result', resource: task ?? '', reason: 'its count' }),
      )
    }
    return calls('It is 42.', call('CompleteWorkItem', { work_item_id: item ?? '' }))
  }
  const parentModel = scriptedModel(parent)
  const box = await openBox(t, {
    models: { 'a/parent': parentModel, 'a/child': scriptedModel(child) },
  })
  const over = box.until(
    (notice) =>
      notice.kind === 'committed' &&
      notice.agent_id === 'main' &&
      notice.events.some(({ event }) => event.type === 'work_item_completed'),
    'the parent completes',
  )
  await box.host.open()
  await box.makeAgent('a/parent')
  assert.equal((await send(box, 'Do the whole.')).ok, true)
  await over
  const [delegation] = await box.ledger.list('delegations', { limit: 5 })
  const [task] = await box.ledger.list('tasks', { limit: 5 })
  const agent = await box.ledger.row('agents', 'main.1')
  assert.equal(agent?.state, 'deleted')
  assert.equal(task?.status, 'completed')
  assert.equal(task?.label, 'Count the words.')
  assert.deepEqual(
    [delegation?.state, delegation?.result_summary, delegation?.child_agent_id],
    ['completed', 'There are 42 words.', 'main.1'],
  )
  assert.equal(delegation?.work_item_id, task?.work_item_id)
  assert.match(lastOf(parentModel.requests[4] as ModelRequest), /There are 42 words/)
  assert.deepEqual((await box.ledger.verify()).problems, [])
})
