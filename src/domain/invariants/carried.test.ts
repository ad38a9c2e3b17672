/** 26: nothing lies where nobody will come by. Each world has something spoilt in its rows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, say, task, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { begin, taskEnds } from '../../testing/world/turns.ts'
import type { Rows, Table } from '../state/event.ts'
import { agentPacing } from '../facts/facts.ts'
import { violations } from './of-an-agent.ts'
import type { Message } from '../state/message.ts'
import { minute, plus } from '../time.ts'

/** What 26 finds, and nothing else may be found but what `beside` names. */
function carried(w: World, beside: readonly string[] = []): string[] {
  const found = violations(w.facts).filter((one) => !beside.includes(one))
  assert.deepEqual(
    found.filter((one) => !one.startsWith('26: ')),
    [],
  )
  return found
}

const put = <T extends Table>(w: World, table: T, row: Rows[T]) => w.facts.include(table, row)

/** Somebody's words that a turn claimed which is not there: 5 finds that, too. */
function stranded(w: World, given: Partial<Message> = {}): string {
  const { message_id } = say(w)
  const row = { ...w.row('messages', message_id), ...given, status: 'claimed' } as const
  put(w, 'messages', { ...row, turn_id: 'turn_x' })
  return message_id
}
const of5 = (id: string) => [`5: ${id} is claimed by turn_x, which is not open`]

test('26: a message that no turn will show is found, asleep or waiting', () => {
  const asleep = new World()
  const first = stranded(asleep)
  assert.deepEqual(carried(asleep, of5(first)), [`26: ${first} is claimed and next is sleep`])

  const waiting = new World()
  wait(waiting, { work_item_id: item(waiting), source: 'ci' })
  const second = stranded(waiting)
  assert.deepEqual(carried(waiting, of5(second)), [`26: ${second} is claimed and next is wait`])
})

test('26: what has ended needs nobody', () => {
  const w = new World()
  const { message_id } = say(w)
  put(w, 'messages', { ...w.row('messages', message_id), status: 'consumed' })
  assert.deepEqual(carried(w), [])
})

test('26: a message is carried by an open turn, a hold, or a moment at which one looks again', () => {
  const turn = new World()
  say(turn)
  begin(turn, 'message')
  const one = stranded(turn)
  assert.deepEqual(carried(turn, of5(one)), [])

  const held = new World()
  wait(held)
  put(held, 'waits', { ...held.row('waits', 'wait_0001'), wake: 'system', by: 'runtime' })
  const two = stranded(held)
  assert.deepEqual(carried(held, of5(two)), [])

  const timed = new World()
  wait(timed, { work_item_id: item(timed), wake: 'timer', wake_at: plus(timed.now, minute) })
  const three = stranded(timed)
  assert.deepEqual(carried(timed, of5(three)), [])

  const stopped = new World()
  const four = stranded(stopped)
  stopped.do((d) => d.emit({ type: 'agent_stopped', id: 'main', by: 'operator' }))
  assert.deepEqual(carried(stopped, of5(four)), [])
})

test('26: the question about a parked item carries its results, and no other message', () => {
  const result = { kind: 'task_result', work_item_id: 'work_0001' } as const
  const rows: [found: boolean, Partial<Message>][] = [
    [false, result],
    [true, { ...result, kind: 'operator_prompt' }],
    [true, { ...result, work_item_id: null }],
    [true, { ...result, work_item_id: 'work_0002' }],
  ]
  for (const [found, given] of rows) {
    const w = new World()
    const [parked, other] = [item(w), item(w)]
    wait(w, { work_item_id: parked, by: 'runtime', wake: 'operator_input' })
    wait(w, { work_item_id: other, source: 'ci' })
    const id = stranded(w, given)
    const expect = found ? [`26: ${id} is claimed and next is wait`] : []
    assert.deepEqual(carried(w, of5(id)), expect, JSON.stringify(given))
  }
})

test('26: the question about a budget carries the messages of its item', () => {
  const budget = { max_tokens: null, max_usd: null, max_rounds: null }
  for (const over of [true, false]) {
    const w = new World()
    const id = item(w, { plan_status: 'needs_input' })
    const deadline = over ? w.now : plus(w.now, -minute)
    put(w, 'work_items', { ...itemRow(w, id), budget: over ? { ...budget, deadline } : null })
    const message = stranded(w, { work_item_id: id })
    const beside = [...of5(message), `25: ${id} has a budget and no meter`]
    const expect = over ? [] : [`26: ${message} is claimed and next is wait`]
    assert.deepEqual(carried(w, beside), expect, over ? 'over its budget' : 'without one')
  }
})

test('26: a trigger that no turn will show is found', () => {
  const w = new World()
  const [gone, open] = [item(w), item(w)]
  wait(w, { work_item_id: open, source: 'ci' })
  wait(w, { work_item_id: gone, source: 'cd' })
  const row = waitOf(w, gone)
  const beside = [`27: ${row.id} waits on ${gone}, which is not open`]
  put(w, 'work_items', { ...itemRow(w, gone), state: 'completed', completed_at: w.now })
  put(w, 'waits', { ...row, trigger_count: 2, reviewed_trigger_count: 2 })
  assert.deepEqual(carried(w, beside), [], 'it was shown')
  put(w, 'waits', { ...row, trigger_count: 2, reviewed_trigger_count: 1 })
  assert.deepEqual(carried(w, beside), [`26: ${row.id} was triggered and next is wait`])
  const budget = {
    max_tokens: null,
    max_usd: null,
    max_rounds: null,
    deadline: plus(w.now, -minute),
  }
  put(w, 'work_items', { ...itemRow(w, gone), budget })
  const meterless = [`25: ${gone} has a budget and no meter`, ...beside]
  assert.deepEqual(carried(w, meterless), [], 'its budget is under attention')
  put(w, 'waits', { ...row, trigger_count: 2, status: 'cancelled', cancelled_at: w.now })
  assert.deepEqual(carried(w, meterless), [], 'it is over')
})

test('26: items that can run and are left are found, unless somebody was asked', () => {
  const left = (by: 'agent' | 'runtime'): World => {
    const w = new World()
    item(w)
    wait(w, { work_item_id: item(w), by, wake: 'operator_input' })
    put(w, 'pacing', { ...agentPacing(w.facts), queue_wait_id: 'wait_x' })
    return w
  }
  const next = left('agent').next()
  assert.deepEqual([next.do, 'until' in next ? next.until : 'at no time'], ['wait', null])
  const found = carried(left('agent'))
  assert.deepEqual(found, ['26: 1 items can run and next is wait'])
  assert.deepEqual(carried(left('runtime')), [])
})

test('26: a result that comes while nobody waits starts a turn, and is carried by that', () => {
  const w = new World()
  taskEnds(w, task(w, { work_item_id: item(w) }))
  assert.equal(w.next().do, 'start_turn')
  assert.deepEqual(carried(w), [])
})
