/**
 * `up` in an empty box, as a person presses it: what the server is asked, and where the text goes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { item, say, World } from '../../testing/world/agent-world.ts'
import { begin } from '../../testing/world/turns.ts'
import { does } from '../../testing/world/operator-inputs.ts'
import { anItemRecord } from '../../testing/screens/home.ts'
import { aState } from '../../testing/screens/state.ts'
import { openSession, press, type, until, type Opened } from '../../testing/screens/tui-session.ts'
import type { Answers } from '../../testing/screens/tui-stage.ts'

const path = '/agents/main/messages/msg_0001/take-back'
const words = 'Use the red one.\nNot the blue.'

/** The thread of an item whose box is open, and a stream that tells what the rules decide. */
async function inThread(t: Parameters<typeof openSession>[0], answers: Answers = {}) {
  const w = new World()
  item(w, { objective: 'Paint it' })
  const record = anItemRecord('work_0001', 'main', 'Paint it')
  const state = () => aState({ work_items: [record] })
  const all: Answers = { '/agents/main/events': { events: [...w.events], next_cursor: null } }
  const opened = await openSession(t, state, { answers: { ...all, ...answers } })
  press(opened.session, 'j', 'enter', 'c')
  await until(opened.session, () => opened.text().includes('to main: Paint it'))
  let told = w.events.length
  /** The stream brings what happened since. */
  const hears = async () => {
    for (const stored of w.events.slice(told)) {
      const { global_seq: id, event } = stored
      opened.stage.say({ id, event: event.type, data: stored })
    }
    told = w.events.length
    const { session, stage } = opened
    while (session.model.p?.last_seq !== told) await stage.clock.advance(100)
  }
  return { w, hears, ...opened }
}

const says = (w: World) => say(w, { text: words, work_item_id: 'work_0001' })
const posts = ({ stage }: Pick<Opened, 'stage'>) =>
  stage.asked.flatMap((one) => (one.method === 'POST' ? [one.path] : []))
const takesBack: Answers = {
  [path]: { message: { id: 'msg_0001', body: words }, said: 'msg_0001 is taken back.' },
}

test('what waits is taken back: its whole text returns, and the thread says what became of it', async (t) => {
  const s = await inThread(t, takesBack)
  says(s.w)
  await s.hears()
  assert.match(s.text(), /Use the red one\. +accepted, waits for the next turn/)
  press(s.session, 'up', 'up')
  assert.match(s.text(), /it is being taken back/)
  await until(s.session, () => s.text().includes('taken back: no turn has read it'))
  assert.match(s.text(), /> Use the red one\.\n {2}Not the blue\./)
  assert.deepEqual(posts(s), [path], 'a second `up` asked again')
  does(s.w, { do: 'take_back', message_id: 'msg_0001', surface: 'http_control' })
  await s.hears()
  assert.match(s.text(), /Use the red one\. +taken back by you/)
  press(s.session, 'esc')
  await s.stage.clock.advance(500)
  assert.deepEqual(s.stage.drafts, { work_0001: words })
})

test('what was just sent is taken back before the stream has told of it', async (t) => {
  const accepted = { '/agents/main/messages': { message_id: 'msg_0001' } }
  const s = await inThread(t, { ...takesBack, ...accepted })
  type(s.session, 'red')
  press(s.session, 'enter', 'up')
  assert.match(s.text(), /not taken back yet: it is still on its way/)
  await until(s.session, () => s.session.model.p?.sent.at(-1)?.state.kind === 'accepted')
  press(s.session, 'up')
  await until(s.session, () => s.text().includes('taken back: no turn'))
  assert.deepEqual(posts(s), ['/agents/main/messages', path])
})

test('once a turn has it, `up` goes through what was sent before, as in any text', async (t) => {
  const s = await inThread(t, { '/agents/main/messages': { message_id: 'msg_0001' } })
  type(s.session, 'red')
  press(s.session, 'enter')
  await until(s.session, () => s.session.model.p?.sent.at(-1)?.state.kind === 'accepted')
  says(s.w)
  begin(s.w, 'message')
  await s.hears()
  press(s.session, 'up')
  assert.match(s.text(), /> red/)
  assert.deepEqual(posts(s), ['/agents/main/messages'])
})

test('a turn that was faster keeps it: the server says so, and the box stays empty', async (t) => {
  const s = await inThread(t)
  says(s.w)
  await s.hears()
  press(s.session, 'up')
  await until(s.session, () => s.text().includes('There is none.'))
  assert.equal(s.session.model.writing?.text.text, '')
})

test('a text in the box, another place, or no connection: nothing is taken back', async (t) => {
  const s = await inThread(t, takesBack)
  says(s.w)
  await s.hears()
  type(s.session, 'x')
  press(s.session, 'up', 'esc', 'C', 'up', 'esc')
  assert.deepEqual(posts(s), [])
  press(s.session, 'c', 'backspace')
  s.stage.hangUp()
  await until(s.session, () => s.text().includes('NOT CONNECTED'))
  press(s.session, 'up')
  assert.match(s.text(), /not taken back: no connection/)
  assert.deepEqual(posts(s), [])
})

test('the text loses nothing that was typed meanwhile, wherever the person is by then', async (t) => {
  const s = await inThread(t)
  const target = { agent_id: 'main', work_item_id: 'work_0001' }
  type(s.session, 'and soon')
  s.session.send({ kind: 'taken_back', target, text: words })
  assert.equal(s.session.model.writing?.text.text, `${words}\nand soon`)
  press(s.session, 'esc')
  s.session.send({ kind: 'taken_back', target: { ...target, work_item_id: null }, text: words })
  assert.deepEqual(
    [...s.session.model.drafts],
    [
      ['work_0001', `${words}\nand soon`],
      ['@main', words],
    ],
  )
})
