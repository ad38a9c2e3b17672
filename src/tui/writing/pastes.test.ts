/** Long pastes, and changes of a text that are taken back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { designedState } from '../../testing/screens/home.ts'
import { openSession, press, type, until } from '../../testing/screens/tui-session.ts'

const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `line ${n}`).join('\n')

/** What each message said that was sent. */
const said = (asked: readonly { method: string; path: string; body: unknown }[]) =>
  asked.flatMap(({ method, path, body }) =>
    method === 'POST' && path.endsWith('/messages') ? [Object(body).text as string] : [],
  )

describe('a paste', () => {
  test('of ten lines is one mark on the screen, and all of it in the message', async (t) => {
    const answers = { '/agents/release/messages': { message_id: 'msg_0009' } }
    const { session, stage, text } = await openSession(t, designedState, { answers })
    press(session, 'c')
    type(session, 'see ')
    session.send({ kind: 'paste', text: lines(10).replaceAll('\n', '\r\n') })
    type(session, ' first')
    assert.match(text(), /> see \[10 lines pasted\] first▪\n/)
    assert.match(text(), /ctrl\+o unfold/)
    press(session, 'enter')
    await until(session, () => said(stage.asked).length === 1)
    assert.deepEqual(said(stage.asked), [`see ${lines(10)} first`])
  })

  test('of nine lines is text as any other', async (t) => {
    const { session, text } = await openSession(t, designedState)
    press(session, 'c')
    session.send({ kind: 'paste', text: lines(9) })
    assert.match(text(), / {2}line 8▪\n/)
    assert.doesNotMatch(text(), /unfold/)
  })

  test('is moved over and deleted as one', async (t) => {
    const { session, text } = await openSession(t, designedState)
    press(session, 'c')
    type(session, 'a')
    session.send({ kind: 'paste', text: lines(12) })
    press(session, 'left')
    assert.match(text(), /> a▪\[12 lines pasted\]\n/)
    press(session, 'right', 'backspace')
    assert.match(text(), /> a▪\n/)
  })

  test('is unfolded where it stands, with the cursor behind it', async (t) => {
    const { session, text } = await openSession(t, designedState)
    press(session, 'c')
    session.send({ kind: 'paste', text: lines(12) })
    type(session, '!')
    press(session, 'left', 'ctrl+o')
    assert.match(text(), / {2}line 11▪!\n/)
    assert.deepEqual(session.model.writing?.text, {
      text: `${lines(12)}!`,
      cursor: lines(12).length,
    })
  })

  test('is whole in the draft that is kept of it', async (t) => {
    const { session, stage } = await openSession(t, designedState)
    press(session, 'c')
    session.send({ kind: 'paste', text: lines(20) })
    press(session, 'esc')
    await stage.clock.advance(500)
    assert.deepEqual(Object.values(stage.drafts), [lines(20)])
  })

  test('that has the mark of another in it is not taken for it', async (t) => {
    const answers = { '/agents/release/messages': { message_id: 'msg_0009' } }
    const { session, stage } = await openSession(t, designedState, { answers })
    press(session, 'c')
    session.send({ kind: 'paste', text: lines(10) })
    session.send({ kind: 'paste', text: '\ufdd0' })
    press(session, 'enter')
    await until(session, () => said(stage.asked).length === 1)
    assert.deepEqual(said(stage.asked), [`${lines(10)}\ufffd`])
  })
})

test('ctrl+_ undoes one change after the other, a paste as one', async (t) => {
  const { session } = await openSession(t, designedState)
  const writes = () => session.model.writing?.text.text
  press(session, 'c')
  type(session, 'ab')
  session.send({ kind: 'paste', text: lines(10) })
  press(session, 'ctrl+_')
  assert.equal(writes(), 'ab')
  press(session, 'left', 'ctrl+_')
  assert.equal(writes(), 'a')
  press(session, 'ctrl+_', 'ctrl+_')
  assert.equal(writes(), '')
})
