import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, itemRow, say, T0, wait, World } from '../testing/domain.ts'
import { begin, turnOf } from '../testing/domain-turn.ts'
import { agentPacing } from './facts.ts'
import { holdAgent, providerServed, releaseHolds, type Hold } from './park.ts'
import { plus } from './time.ts'
import { fireDue } from './waiting.ts'

const minute = 60_000
const hold = (w: World, given: Partial<Hold> = {}) =>
  w.do((d) => holdAgent(d, { cause: 'provider_world', message: '503.', until: null, ...given }))
const holds = (w: World) =>
  w.all('waits').filter((x) => x.wake === 'system' && x.status === 'active')

test('§6 holds in a row last 1, 5, 15, then 60 minutes, until the provider served again', () => {
  const w = new World()
  const lasted: number[] = []
  const once = () => {
    hold(w)
    const until = holds(w)[0]?.wake_at ?? assert.fail()
    lasted.push((Date.parse(until) - Date.parse(w.now)) / minute)
    w.now = until
    w.do(fireDue)
  }
  for (let n = 0; n < 5; n++) once()
  w.do(providerServed)
  once()
  assert.deepEqual(lasted, [1, 5, 15, 60, 60, 1])
})

test('§6 a hold is one agent-level system wait with one failure brief; no item is touched', () => {
  const w = new World()
  const id = item(w, { focus: true })
  const before = itemRow(w, id)
  hold(w)
  hold(w)
  assert.equal(holds(w).length, 1)
  assert.deepEqual(
    w.all('briefs').map((b) => [b.kind, b.text, b.wait_id, b.work_item_id]),
    [
      [
        'failure',
        `503. The agent is held until ${plus(T0, minute)}, then it goes on by itself. ` +
          'Nothing is lost.',
        holds(w)[0]?.id,
        null,
      ],
    ],
  )
  assert.deepEqual(itemRow(w, id), before)
  assert.deepEqual(w.next(), {
    do: 'wait',
    for: 'system',
    until: plus(T0, minute),
    because: 'the agent is held: 503.',
  })
})

test('§6 the provider’s own time goes before the steps', () => {
  const w = new World()
  hold(w, { until: plus(T0, 42_000) })
  assert.equal(holds(w)[0]?.wake_at, plus(T0, 42_000))
})

test('§6 a hold for the setup lasts until the operator ends it', () => {
  const w = new World()
  hold(w, { cause: 'provider_setup', message: 'The key is refused.' })
  assert.equal(holds(w)[0]?.wake_at, null)
  assert.match(w.all('briefs')[0]?.text ?? '', /until you start it again or change the setting/)
  w.pass(1000 * minute).do(fireDue)
  assert.equal(w.next().do, 'wait')
  w.do(releaseHolds)
  assert.equal(w.next().do, 'sleep')
})

test('§6 the same open turn goes on after a hold', () => {
  const w = new World()
  say(w)
  begin(w)
  hold(w)
  assert.equal(w.next().do, 'wait')
  w.pass(minute).do(fireDue)
  const next = w.next()
  assert.ok(next.do === 'start_turn' && next.start.rule === 'recover')
  assert.equal(next.start.turn.id, turnOf(w).id)
})

test('§6 a hold counts no attempt, and ends no other wait', () => {
  const w = new World()
  const { message_id } = say(w)
  const other = wait(w, { work_item_id: item(w) }).wait
  hold(w)
  w.do(releaseHolds)
  assert.deepEqual(
    [w.row('messages', message_id).attempts, w.row('waits', other.id).status],
    [0, 'active'],
  )
  assert.equal(agentPacing(w.facts).holds, 1)
})
