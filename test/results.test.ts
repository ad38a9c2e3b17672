/** A wait for a task that has ended answers with what the task brought, not with its status alone. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { calls, says } from '../src/testing/scripted-model.ts'
import { onA } from './support/scene.ts'
import { call, runs, until } from './support/scripts.ts'
import { resultsOf, textOf, type Stage } from './support/stage.ts'
import {
  create,
  happens,
  lastId,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
} from './support/parent-and-child.ts'

const waitsOn = (resource: string) =>
  call('WaitFor', { wake: 'task_result', resource, reason: 'its end' })

test('a wait for two commands that have ended answers with the output of each', async (t) => {
  const tasks = async (s: Stage) => (await s.rows('tasks')).map(({ id }) => id)
  const s = await onA(
    t,
    () =>
      calls(
        runs(`${until('go')}; echo the size is 4711`, { yield_ms: 0 }),
        runs(`${until('go')}; echo the colour is blue >&2; exit 3`, { yield_ms: 0 }),
      ),
    (s) => async () => {
      const ids = await tasks(s)
      writeFileSync(join(s.box.workspace, 'go'), '')
      const ended = async () => (await s.rows('tasks')).every(({ ended_at }) => ended_at !== null)
      while (!(await ended())) await s.clock.advance(0)
      return calls(...ids.map(waitsOn))
    },
    ...Array.from({ length: 9 }, () => () => says('I have both.')),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  const [first, second] = resultsOf(s.model.requests[4])
  assert.match(first?.text ?? '', /the size is 4711/)
  assert.match(second?.text ?? '', /the colour is blue/)
  assert.match(second?.text ?? '', /exit_status: 3/)
})

test('a wait for a child that has ended answers with its words, and names no file', async (t) => {
  const over = Promise.withResolvers<void>()
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Count them.')),
    async (text) => {
      await over.promise
      return calls(waitsOn(lastId(text, 'task')))
    },
    () => says('I have it.'),
  )
  const child = steps(() => says('There are 42 of them, I counted twice.'))
  const box = await openFamily(t, { parent, child })
  const ended = happens(box, 'main', 'task_ended')
  await tell(box, 'Begin.')
  await ended
  over.resolve()
  await happens(box, 'main', 'turn_ended')
  const [result] = resultsOf(parent.requests[4])
  assert.match(result?.text ?? '', /There are 42 of them/)
  for (const request of parent.requests) assert.doesNotMatch(textOf(request), /tasks\/task_/)
})

test('a child that had ended before it was to be stopped is still heard', async (t) => {
  const over = Promise.withResolvers<void>()
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Count them.')),
    async (text) => {
      await over.promise
      return calls(call('TaskStop', { task_id: lastId(text, 'task') }))
    },
    () => says('It is stopped.'),
    () => says('I have heard it.'),
  )
  const child = steps(() => says('There are 42 of them, I counted twice.'))
  const box = await openFamily(t, { parent, child })
  const ended = happens(box, 'main', 'task_ended')
  await tell(box, 'Begin.')
  await ended
  over.resolve()
  await happens(box, 'main', 'message_consumed', ({ because }) => because === 'shown in request 1')
  const [task] = await box.ledger.list('tasks', { limit: 1 })
  const id = task?.id.replace('task', 'msg')
  await happens(box, 'main', 'message_consumed', (event) => event['id'] === id)
  assert.match(textOf(parent.requests[5]), /task_result from a task[^]*There are 42 of them/)
})
