/** What comes between the start of a turn and the wait that it makes is of that wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deliver, item, say, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { answer, ask, begin, end } from '../../testing/world/turns.ts'
import type { WorkItemId } from '../ids.ts'
import { violations } from '../invariants/of-an-agent.ts'
import { hintKey, tellsOfHint } from '../state/message.ts'
import { callbackEvent, ownTriggerEvent, webhookEvent } from '../state/provenance.ts'

const waits = (w: World, id: WorkItemId | null, source: string | null = 'ci') =>
  wait(w, { work_item_id: id, source, delivery_mode: 'enqueue_message' }).wait.id

/** A turn about an item, in whose middle `comes` happens, and which then waits for `ci`. */
function between(comes: (w: World) => void) {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  ask(w)
  answer(w)
  comes(w)
  const wait_id = waits(w.reload(), id)
  end(w, { outcome: 'waiting' })
  return { w, id, wait_id }
}

for (const provenance of [callbackEvent, ownTriggerEvent, webhookEvent]) {
  test(`a ${provenance.kind} (${provenance.admission_context}) in between wakes the item that it meets`, () => {
    const { w, id, wait_id } = between((w) => void deliver(w, { source: 'ci', provenance }))
    const [message] = w.all('messages')
    assert.deepEqual([message?.work_item_id, message?.wait_id], [id, wait_id])
    assert.equal(waitOf(w, id).trigger_count, 1)
    const next = begin(w, 'message')
    assert.deepEqual([next.work_item_id, w.all('messages')[0]?.turn_id], [id, next.id])
    assert.equal(waitOf(w, id).reviewed_trigger_count, 1)
    assert.deepEqual(violations(w.whole(), w.events), [])
  })
}

test('of several events in between each is of the wait, and one that it does not match of nothing', () => {
  const { w, id } = between((w) => {
    for (const source of ['ci', 'mail', 'ci']) deliver(w, { source })
  })
  assert.deepEqual(
    w.all('messages').map(({ work_item_id }) => work_item_id),
    [id, null, id],
  )
})

test('an event that two waits meet stays unbound, and one of an earlier wait stays there', () => {
  const w = new World()
  const [a, b, c] = [item(w), item(w, { focus: true }), item(w)]
  waits(w, c, 'mail')
  begin(w, 'continue_current')
  const both = deliver(w, { source: 'ci' }).message_id
  const earlier = deliver(w, { source: 'mail' }).message_id
  waits(w, a)
  assert.equal(w.row('messages', both).work_item_id, a)
  const later = deliver(w, { source: 'ci' }).message_id
  const mail = w.row('messages', earlier).wait_id
  waits(w, b, null)
  assert.deepEqual(
    [both, earlier, later].map((id) => w.row('messages', id).work_item_id),
    [a, c, a],
  )
  assert.equal(w.row('messages', earlier).wait_id, mail)
  const unnamed = deliver(w, { source: 'ci' }).message_id
  assert.equal(w.row('messages', unnamed).work_item_id, null)
})

const hint = (w: World, source = 'ci') =>
  void deliver(w, { source, resource: null, delivery_mode: 'wake_hint', body: 'the body' })
const told = (w: World) =>
  w.all('messages').flatMap((m) => (tellsOfHint(m) ? [[m.status, m.came]] : []))

test('a hint in between meets the wait, and nobody is told that it met none', () => {
  const { w, id } = between((w) => (hint(w), hint(w), hint(w, 'mail')))
  assert.equal(waitOf(w, id).trigger_count, 2)
  assert.deepEqual(told(w), [
    ['dropped', 2],
    ['queued', 1],
  ])
  assert.equal(begin(w, 'review_triggered').work_item_id, id)
  assert.deepEqual(violations(w.whole(), w.events), [])
})

test('of hints of which some met no wait before the turn began the agent is told all the same', () => {
  const w = new World()
  hint(w)
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  hint(w)
  waits(w, id)
  assert.deepEqual([waitOf(w, id).trigger_count, told(w)], [1, [['queued', 2]]])
  assert.deepEqual(
    w.all('messages').flatMap((m) => (tellsOfHint(m) ? [hintKey(m)] : [])),
    ['hint\nci\n'],
  )
})

test('words of the operator in between end the question and stay words about the item', () => {
  const w = new World()
  const id = item(w, { focus: true })
  begin(w, 'continue_current')
  const { message_id } = say(w, { work_item_id: id, text: 'The blue one.' })
  wait(w, { wake: 'operator_input', work_item_id: id, reason: 'Which?', question: 'Which?' })
  const { work_item_id, wait_id, status } = w.row('messages', message_id)
  // He had not seen the question: it does not stand before them as if he answered it.
  assert.deepEqual([work_item_id, wait_id, status], [id, null, 'queued'])
})
