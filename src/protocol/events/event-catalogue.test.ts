import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tableOf } from '../../domain/state/event.ts'
import { fireSlots } from '../../domain/timers/slots.ts'
import { fireDue } from '../../domain/waits/wait-end.ts'
import { act, answer, ask, begin, end, taskEnds, turn } from '../../testing/world/turns.ts'
import { item, pick, say, task, wait, World } from '../../testing/world/agent-world.ts'
import { does, every, everyFew } from '../../testing/world/operator-inputs.ts'
import { eventTypes } from './event-catalogue.ts'
import { eventPage, storedEvent } from './event-page.ts'

const minute = 60_000
const hash = 'a'.repeat(64)

/** A day of an agent with something of nearly everything. */
function aDay(): World {
  const w = new World()
  does(w, { do: 'configure_agent', model: 'test/model' })
  say(w, { text: 'Build it.' })
  begin(w)
  const one = item(w, { todo_list: [{ text: 'look', state: 'pending' }] })
  act(w, { tool: 'PickWorkItem', input: { work_item_id: one } }, () => pick(w, one))
  const made = task(w, { work_item_id: one })
  say(w, { text: 'Hurry.', priority: 'interject' })
  ask(w)
  answer(w, { text: 'I wait for it.' })
  wait(w, { wake: 'external', work_item_id: one, source: 'ci', resource: 'build/7' })
  end(w, { text: 'I wait for it.', outcome: 'waiting' })
  const token = { token_hash: () => hash, body_sha256: hash }
  const trigger = does(w, { do: 'create_trigger', label: 'ci' }, token).id ?? ''
  const from = { via: { kind: 'trigger', trigger_id: trigger }, body: 'green' } as const
  const about = { source: 'ci', resource: 'build/7', sender_id: 'evt-1' }
  does(w, { do: 'deliver', ...from, ...about }, token)
  const dead = does(w, { do: 'dead_letter', ...from, reason: 'no name' }, token).id ?? ''
  // The host fetches the row, which is no live one.
  w.facts.include('deliveries', w.row('deliveries', dead))
  does(w, { do: 'redeliver', delivery_id: dead }, { body: 'green' })
  does(w, { do: 'reset_trigger', trigger_id: trigger }, token)
  does(w, { do: 'revoke_trigger', trigger_id: trigger })
  taskEnds(w, made)
  turn(w, { progress: true })
  const planned = { label: 'tick', text: 'Look.', spec: every(5) }
  const schedule_id = does(w, { do: 'create_schedule', ...planned }).id ?? ''
  does(w, { do: 'change_schedule', schedule_id, label: 'tock' })
  does(w, { do: 'pause_schedule', schedule_id })
  does(w, { do: 'resume_schedule', schedule_id })
  w.pass(6 * minute).do((d) => fireSlots(d, everyFew))
  does(w, { do: 'remove_schedule', schedule_id })
  const receipt = { id: `rcpt_${hash}`, request_sha256: hash } as const
  const two = does(w, { do: 'create_item', objective: 'Another', receipt }).id ?? ''
  does(w, { do: 'update_item', work_item_id: 'work_made', blocked_by: 'no key' })
  wait(w, { wake: 'timer', work_item_id: 'work_made', wake_at: w.now })
  w.pass(minute).do((d) => fireDue(d))
  does(w, { do: 'unblock', work_item_id: 'work_made' })
  does(w, { do: 'complete', work_item_id: one, report: 'It is built.' })
  assert.equal(two, 'work_made')
  does(w, { do: 'stop_agent' })
  does(w, { do: 'start_agent' })
  return w
}

describe('the event catalogue', () => {
  test('has every type the rules have, and no other', () => {
    assert.deepEqual(eventTypes.toSorted(), Object.keys(tableOf).toSorted())
  })

  test('takes what a ledger holds as it is: no field more, none less', () => {
    const { events } = aDay()
    const read = eventPage.parse({ events, next_cursor: null })
    assert.deepEqual(read.events, events)
  })

  test('is held against most of the types by that day', () => {
    const seen = new Set(aDay().events.map(({ event }) => event.type))
    const unseen = Object.keys(tableOf).filter((type) => !seen.has(type as never))
    assert.ok(seen.size >= 45, `only ${seen.size}; not seen: ${unseen.join(', ')}`)
  })

  const [event] = aDay().events
  const wrong: [name: string, event: object][] = [
    ['an unknown type', { ...event?.event, type: 'agent_danced' }],
    ['a field too many', { ...event?.event, extra: 1 }],
    ['a field of another type', { ...event?.event, model: 7 }],
  ]
  for (const [name, inner] of wrong) {
    test(`refuses ${name}`, () => {
      assert.equal(storedEvent.safeParse({ ...event, event: inner }).success, false)
    })
  }
})
