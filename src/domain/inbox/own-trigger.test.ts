/**
 * The agent's own trigger, whose URL its commands have: what comes in by it wakes as any other, and
 * draws on what it may start. Here a model pokes it in every turn.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { act, ask, answer, begin, end, turn } from '../../testing/world/turns.ts'
import { item, say, wait, World } from '../../testing/world/agent-world.ts'
import { does, tokenHash, type Bare } from '../../testing/world/operator-inputs.ts'
import { agentPacing, itemPacing } from '../facts/facts.ts'
import type { TriggerId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { limits } from '../limits.ts'
import { askAboutOwnTrigger } from '../scheduler/park.ts'
import { levelOf, stockOf } from '../waits/stock.ts'
import { day, minute } from '../time.ts'
import { defaultLabel, ensureDefaultTrigger } from './triggers.ts'

const most = limits.trigger_turns.value

function withTriggers() {
  const w = new World()
  w.do((d) => ensureDefaultTrigger(d, tokenHash))
  const own = w.all('triggers').find(({ label }) => label === defaultLabel)?.id
  const minted = does(w, { do: 'create_trigger', label: 'ci' }).id as TriggerId
  assert.ok(own)
  const by = (trigger_id: TriggerId): Bare => ({
    do: 'deliver',
    via: { kind: 'trigger', trigger_id },
    body: 'again',
  })
  return { w, own: by(own), minted: by(minted) }
}

const left = (w: World) => levelOf(stockOf(agentPacing(w.facts), 'trigger_turns'), w.now)

/** A turn whose command posts to the agent's own trigger; then words. */
function poke(w: World, own: Bare): void {
  begin(w)
  act(w, { tool: 'ExecCommand' }, () => undefined, { changed: false, hash: 'same' })
  does(w, own)
  ask(w)
  answer(w, { text: 'I look again.' })
  end(w, { text: 'I look again.' })
}

test('a model that pokes its own trigger gets the turns of its allowance, then asks once', () => {
  const { w, own } = withTriggers()
  does(w, own)
  let turns = 0
  for (; w.next().do === 'start_turn' && turns < 100; turns += 1) {
    poke(w, own)
    w.do(askAboutOwnTrigger)
  }
  assert.equal(turns, most)
  w.do(askAboutOwnTrigger)
  const asked = w.all('waits').filter((one) => one.runtime_cause === 'trigger_turns_used')
  assert.deepEqual(
    asked.map(({ status, wake, work_item_id }) => [status, wake, work_item_id]),
    [['active', 'operator_input', null]],
  )
  const said = w.all('briefs').filter((brief) => brief.wait_id === asked[0]?.id)
  assert.deepEqual(
    said.map(({ kind }) => kind),
    ['question'],
  )
  assert.deepEqual(violations(w.facts, w.events), [])
})

test('what is left queued starts one turn every ten minutes, and a day of it is bounded', () => {
  const { w, own } = withTriggers()
  does(w, own)
  let turns = 0
  for (const until = w.now; Date.parse(w.now) < Date.parse(until) + day; w.pass(minute)) {
    while (w.next().do === 'start_turn' && turns < 1_000) {
      poke(w, own)
      turns += 1
    }
  }
  // The twenty, and one for each ten minutes of the day but the last.
  assert.equal(turns, most + 143)
})

test('it resets no count and fills no bucket; a word, a signature or a minted trigger fills both', () => {
  const { w, own, minted } = withTriggers()
  const id = item(w)
  const ways: Record<string, [go: () => unknown, isOutside: boolean]> = {
    'its own trigger': [() => does(w, own), false],
    'a minted trigger': [() => does(w, minted), true],
    'a signed webhook': [
      () => does(w, { do: 'deliver', via: { kind: 'webhook', webhook: 'gh' }, body: 'x' }),
      true,
    ],
    'the operator': [() => say(w), true],
    'a delivery that the operator sends again': [
      () => {
        // The log is not among the live facts: who looked it up puts the row there.
        w.facts.include('deliveries', w.row('deliveries', 'dlv_0001'))
        does(w, { do: 'redeliver', delivery_id: 'dlv_0001' }, { body: 'again' })
      },
      true,
    ],
  }
  for (const [name, [go, isOutside]] of Object.entries(ways)) {
    w.do((d) => {
      const { kind: _, id: __, agent_id, ...pacing } = agentPacing(d)
      const empty = { bucket: 0, bucket_at: d.now, trigger_turns: 0, trigger_turns_at: d.now }
      d.emit({ type: 'agent_paced', id: agent_id, pacing: { ...pacing, ...empty } })
    })
    go()
    const { bucket } = agentPacing(w.facts)
    const full = [limits.bucket.value, most]
    assert.deepEqual([bucket, left(w)], isOutside ? full : [0, 0], name)
  }
  const before = itemPacing(w.facts, id)
  wait(w, { work_item_id: id, source: 'ci' })
  does(w, { ...own, source: 'ci' } as Bare)
  assert.deepEqual(itemPacing(w.facts, id), before)
})

test('a review that only its own trigger asks for draws on the allowance, and stays out of it', () => {
  for (const delivery_mode of ['wake_hint', 'enqueue_message'] as const) {
    const { w, own, minted } = withTriggers()
    const [a, b] = [item(w), item(w)]
    wait(w, { work_item_id: a, source: 'ci', delivery_mode })
    wait(w, { work_item_id: b, source: 'mail', delivery_mode })
    does(w, { ...own, source: 'ci' } as Bare)
    assert.equal(turn(w).started_by, 'own_trigger', delivery_mode)
    assert.deepEqual([left(w), agentPacing(w.facts).bucket], [most - 1, limits.bucket.value])
    assert.deepEqual(itemPacing(w.facts, a).no_progress, 0)
    does(w.pass(minute), { ...minted, source: 'mail' } as Bare)
    assert.equal(turn(w).started_by, 'input', delivery_mode)
  }
})

test('a turn that goes on with the current item is its own, whatever its trigger brought along', () => {
  const { w, own } = withTriggers()
  const id = item(w, { focus: true })
  for (const n of [1, 2, 3]) {
    does(w, { ...own, source: `${n}` } as Bare)
    assert.equal(turn(w.pass(6 * minute), { rule: 'continue_current' }).started_by, 'itself')
  }
  assert.equal(w.all('waits').find((one) => one.work_item_id === id)?.runtime_cause, 'no_progress')
})
