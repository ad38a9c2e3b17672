/** What comes of a completed item's tasks is read in the next turn, and wakes nobody. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { calls, says } from '../src/testing/scripted-model.ts'
import { done, doneAnyway, onA, waiting } from './support/scene.ts'
import { runs, until } from './support/scripts.ts'
import { hour, textOf, type Stage } from './support/stage.ts'
import {
  call,
  create,
  happens,
  lastId,
  openFamily,
  pick,
  spawn,
  steps,
  tell,
} from './support/parent-and-child.ts'

const command = (name: string, then: string) => () =>
  calls(runs(`${until(name)}; ${then}`, { yield_ms: 0 }))
const go = (s: Stage, name: string) => writeFileSync(join(s.box.workspace, name), '')

test('the end of a command that was left running is in the next request, and in no turn of its own', async (t) => {
  const s = await onA(
    t,
    command('go', 'echo the size is 4711; exit 3'),
    doneAnyway('A'),
    () => says('I see.'),
    () => says('Nothing more.'),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  const turns = (await s.rows('turns')).length
  const ended = s.committed('task_ended')
  go(s, 'go')
  await ended
  await s.rest()
  assert.equal((await s.rows('turns')).length, turns)
  assert.equal(s.next.do, 'sleep')

  await s.say('What else?')
  const shown = textOf(s.model.requests.at(-1))
  assert.match(shown, /task_result from a task.* about work_\S+, which is completed: it came late/)
  assert.match(shown, /the size is 4711/)
  assert.equal((await s.rows('messages')).at(-2)?.status, 'consumed')
  await s.say('And now?')
  assert.doesNotMatch(textOf(s.model.requests.at(-1)), /4711/)
  await s.sound()
})

test('what the operator completed while its command ran, or its end lay unread, comes late', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const s = await onA(t, command('go', 'echo 4711'), waiting('timer', { wait_ms: hour }), () =>
      says('I see.'),
    )
    await s.act({ do: 'send', text: 'Begin.' })
    await s.hurry('turn_ended')
    const ends = async () => {
      const ended = s.committed('task_ended')
      go(s, 'go')
      await ended
    }
    const completed = () => s.act({ do: 'complete', work_item_id: s.id('A'), report: 'By hand.' })
    if (when === 'before') {
      await s.act({ do: 'stop_agent' })
      await ends()
      await completed()
      await s.does({ do: 'start_agent' })
    } else {
      await completed()
      await ends()
    }
    await s.rest()
    assert.equal(s.next.do, 'sleep', when)
    await s.say('What now?')
    assert.match(textOf(s.model.requests.at(-1)), /which is completed: it came late/, when)
    await s.sound()
  }
})

test('a command that ended unseen before its item was completed is read in the next turn', async (t) => {
  const s = await onA(
    t,
    command('go', 'echo 4711'),
    (s) => async () => {
      go(s, 'go')
      const [task] = await s.rows('tasks')
      while ((await s.box.ports.processes.observe(task?.id ?? '')).state !== 'ended') {
        await s.clock.advance(0)
      }
      return done('A')(s)
    },
    () => says('I see.'),
  )
  await s.act({ do: 'send', text: 'Begin.' })
  await s.hurry('turn_ended')
  await s.rest()
  assert.equal(s.next.do, 'sleep')
  await s.say('What now?')
  assert.match(textOf(s.model.requests.at(-1)), /which is completed: it came late[^]*4711/)
  await s.sound()
})

test('the report of a child for a completed item is read by the parent in its next turn', async (t) => {
  const over = Promise.withResolvers<void>()
  const parent = steps(
    create('the whole'),
    pick,
    () => calls(spawn('Count them.')),
    (text) => {
      const input = { work_item_id: lastId(text, 'work'), leave_running: true }
      return calls('The whole is done. I checked it twice.', call('CompleteWorkItem', input))
    },
    () => says('I see.'),
  )
  const child = steps(async () => {
    await over.promise
    return says('There are 42 of them, and there is a bug.')
  })
  const box = await openFamily(t, { parent, child })
  const first = happens(box, 'main', 'turn_ended')
  await tell(box, 'Begin.')
  await first
  const ended = happens(box, 'main', 'task_ended')
  over.resolve()
  await ended
  assert.equal(box.host.next('main')?.do, 'sleep')
  const [task] = await box.ledger.list('tasks', { limit: 1 })
  await tell(box, 'What now?')
  await happens(box, 'main', 'message_consumed', ({ id }) => id === task?.id.replace('task', 'msg'))
  assert.match(textOf(parent.requests[4]), /it came late[^]*there is a bug/)
})
