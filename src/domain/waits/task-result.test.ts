import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, task, wait, World } from '../../testing/world/agent-world.ts'
import { act, answer, ask, begin, end, taskEnds } from '../../testing/world/turns.ts'
import { taskResultId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { endedByAgent, readResult } from './task-result.ts'
import type { Task } from '../state/task.ts'
import type { Outcome } from '../state/turn.ts'

const result = (w: World, { id }: Task) => w.row('messages', taskResultId(id))

/** A turn in which a call has just shown the end of a task of its item; no request has it yet. */
function read(how: 'TaskOutput' | 'WaitFor' = 'TaskOutput') {
  const w = new World()
  const id = item(w, { focus: true })
  const t = task(w, { work_item_id: id })
  begin(w, 'continue_current')
  taskEnds(w, t)
  act(w, { tool: how }, (d) => {
    if (how === 'TaskOutput') readResult(d, t.id)
  })
  if (how === 'WaitFor') {
    const row = w.row('tasks', t.id)
    wait(w, { work_item_id: id, wake: 'task_result', resource: t.id, task: row })
  }
  return { w, id, t }
}

for (const how of ['TaskOutput', 'WaitFor'] as const) {
  test(`a result that ${how} read is used up by the answer to the request that carries it`, () => {
    const { w, t } = read(how)
    assert.deepEqual([result(w, t).status, result(w, t).round], ['claimed', null])
    ask(w)
    assert.deepEqual([result(w, t).status, result(w, t).round], ['claimed', 2])
    answer(w, { text: 'I see.' })
    const { status, status_reason } = result(w, t)
    assert.deepEqual([status, status_reason], ['consumed', 'shown in request 2'])
    end(w, { text: 'I see.' })
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
}

const outcomes: Outcome[] = ['completed', 'waiting', 'interrupted', 'aborted', 'failed']

for (const outcome of outcomes) {
  test(`a result that was read in the last round of a turn that ended ${outcome} is shown by the next`, () => {
    const { w, t } = read()
    end(w, { outcome })
    assert.deepEqual([result(w, t).status, result(w, t).attempts], ['queued', 0])
    say(w)
    const next = begin(w.pass(1000))
    ask(w)
    assert.deepEqual([result(w, t).turn_id, result(w, t).round], [next.id, 1])
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
}

test('a result in a request that was never answered was attempted', () => {
  const { w, t } = read()
  ask(w)
  end(w, { outcome: 'interrupted' })
  assert.deepEqual([result(w, t).status, result(w, t).attempts], ['queued', 1])
})

test('a result that the turn began with is not read twice', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const t = task(w, { work_item_id: id })
  taskEnds(w, t)
  begin(w, 'continue_current')
  ask(w)
  const [call] = answer(w, { calls: [{ tool: 'TaskOutput' }] })
  assert.ok(call)
  w.do((d) => readResult(d, t.id))
  assert.deepEqual(w.last, [])
  assert.equal(result(w, t).status, 'consumed')
})

test('what the agent stopped itself is no news to it', () => {
  const w = new World()
  const t = task(w, { work_item_id: item(w, { focus: true }) })
  begin(w, 'continue_current')
  taskEnds(w, t, 'cancelled')
  w.do((d) => endedByAgent(d, t.id))
  const { status, status_reason } = result(w, t)
  assert.deepEqual([status, status_reason], ['consumed', 'the agent stopped it'])
})
