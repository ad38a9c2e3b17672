/**
 * Which message of a place can be taken back, by the events of the real rules, and what is shown.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { item, say, T0, wait, waitOf, World } from '../../testing/world/agent-world.ts'
import { begin, end, turn } from '../../testing/world/turns.ts'
import { does } from '../../testing/world/operator-inputs.ts'
import { aState } from '../../testing/screens/state.ts'
import type { OutboxMessage } from './input.ts'
import { bounds } from './limits.ts'
import { apply, open, thread, type Presentation } from '../presentation.ts'
import { newestWaiting, waitingAfter } from './unclaimed.ts'

const toAgent = { agent_id: 'main', work_item_id: null }
const back = (message_id: string) => ({ do: 'take_back', message_id }) as const

const heard = (p: Presentation, w: World): Presentation =>
  apply(p, { kind: 'events', events: w.events })
/** Opened before anything happened: it heard everything by the stream, and holds no history. */
const streamed = (w: World) => heard(open(aState()), w)
/** Opened afterwards: it read the history of the agent in a page. */
const read = (w: World): Presentation => {
  const watching = apply(open(aState()), { kind: 'watch', agent_id: 'main' })
  const { events } = w
  return apply(watching, { kind: 'page', agent_id: 'main', events, from: 1, to: events.length })
}

describe('the newest message to a place that no turn has claimed', () => {
  const scenes: [what: string, (w: World) => void, newest: string | null][] = [
    ['nothing was said', () => {}, null],
    ['one waits', (w) => void say(w), 'msg_0001'],
    ['two wait', (w) => void [say(w), say(w)], 'msg_0002'],
    ['a turn has it', (w) => void [say(w), begin(w)], null],
    ['a turn has read it', (w) => void [say(w), turn(w)], null],
    ['one came while a turn runs', (w) => void [say(w), begin(w), say(w)], 'msg_0002'],
    [
      'a turn that died gave it back',
      (w) => {
        say(w)
        begin(w)
        end(w, { outcome: 'interrupted', reason: 'no_request' })
      },
      'msg_0001',
    ],
    ['it was taken back', (w) => void [say(w), does(w, back('msg_0001'))], null],
    [
      'the newest was taken back, and one before it was not',
      (w) => void [say(w), say(w), does(w, back('msg_0002'))],
      'msg_0001',
    ],
    ['it is about an item', (w) => void say(w, { work_item_id: item(w) }), null],
    [
      'it answers a question of the agent',
      (w) => {
        wait(w, { wake: 'operator_input', work_item_id: null })
        const [question] = w.all('waits')
        say(w, { wait_id: question?.id ?? null })
      },
      null,
    ],
  ]
  for (const [what, scene, newest] of scenes) {
    test(what, () => {
      const w = new World()
      scene(w)
      const ids = [streamed(w), read(w), heard(read(w), w)].map((p) => {
        const found = newestWaiting(p, toAgent)
        return found === null || found === 'sending' ? found : found.id
      })
      assert.deepEqual(ids, [newest, newest, newest])
    })
  }

  test('an item has its own, and what answered its question is not among them', () => {
    const w = new World()
    const id = item(w)
    say(w, { work_item_id: id })
    const to = { agent_id: 'main', work_item_id: id }
    assert.equal(Object(newestWaiting(read(w), to)).id, 'msg_0001')
    wait(w, { work_item_id: id, wake: 'operator_input' })
    say(w, { wait_id: waitOf(w, id).id })
    assert.equal(Object(newestWaiting(read(w), to)).id, 'msg_0001')
    assert.equal(newestWaiting(read(w), { ...to, agent_id: 'docs' }), null)
  })
})

const sent = (state: OutboxMessage['state']): OutboxMessage => ({
  ...toAgent,
  key: 'key_1',
  text: 'Ship it.',
  at: T0,
  state,
})
const accepted = { kind: 'accepted', message_id: 'msg_0001' } as const
const refused = { kind: 'refused', problem: { code: 'bad_request', detail: '' } } as const

test('what this screen has just sent counts before the stream tells of it, and not twice', () => {
  const w = new World()
  say(w)
  const before = open(aState())
  const sends = (p: Presentation, state: OutboxMessage['state']) =>
    apply(p, { kind: 'sent', sent: sent(state) })
  assert.equal(newestWaiting(sends(before, { kind: 'sending' }), toAgent), 'sending')
  assert.deepEqual(newestWaiting(sends(before, accepted), toAgent), { id: 'msg_0001' })
  assert.equal(newestWaiting(sends(before, refused), toAgent), null)
  // The answer may come after the event, and after the turn that took it.
  begin(w)
  assert.equal(newestWaiting(sends(streamed(w), accepted), toAgent), null)
})

test('events about nothing of it leave the very list, and the list has a bound', () => {
  const w = new World()
  item(w)
  const none = streamed(w)
  assert.equal(waitingAfter(none.waiting, w.events), none.waiting)
  for (let n = 0; n <= bounds.sent; n += 1) say(w)
  const p = streamed(w)
  assert.deepEqual([p.waiting.length, p.waiting[0]?.id], [bounds.sent, 'msg_0002'])
})

test('a home that was put back, or whose history is gone, is believed nothing of before', () => {
  const w = new World()
  say(w)
  const gone = apply(streamed(w), { kind: 'link', link: { kind: 'gone', snapshot: '/state' } })
  assert.deepEqual(apply(gone, { kind: 'state', state: aState() }).waiting, [])
})

test('the thread says that it was taken back', () => {
  const w = new World()
  say(w, { text: 'Ship it.' })
  does(w, back('msg_0001'))
  const shown = [1, 2, 3].map((level) =>
    thread(read(w), 'main', null, level as 1 | 2 | 3)
      .filter(({ kind }) => kind === 'message')
      .map(({ title, facts }) => `${title}: ${facts.join('; ')}`),
  )
  const line = 'Ship it.: taken back by you'
  assert.deepEqual(shown, [[line], [line], [line]])
})
