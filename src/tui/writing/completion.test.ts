/** What helps to write, and what a terminal is told beside the frame. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anEntry, anItemRecord, designedState } from '../../testing/screens/home.ts'
import { openSession, press, type, until } from '../../testing/screens/tui-session.ts'
import { copySequence, noSignals, signalsOf } from '../signals.ts'

const posted = (asked: readonly { method: string; path: string; body: unknown }[]) =>
  asked.flatMap(({ method, path, body }) => (method === 'POST' ? [[path, body]] : []))

describe('while something is written', () => {
  test('an @ names items and agents; what is chosen stands in the place of what was typed', async (t) => {
    const { session, text } = await openSession(t, designedState)
    press(session, 'c')
    type(session, 'like @fix')
    assert.match(text(), /@fix ─+ enter takes it {3}esc closes\n› work_\w+ {2}Port the fixtures/)
    press(session, 'enter')
    assert.match(text(), /> like work_\w+ ▪\n/)
    type(session, '@')
    press(session, 'esc')
    assert.match(text(), /> like work_\w+ @▪\n/)
    assert.equal(session.model.writing?.aid, undefined)
  })

  test('what an address has in it asks for no name', async (t) => {
    const { session } = await openSession(t, designedState)
    press(session, 'c')
    type(session, 'me@x')
    assert.deepEqual(session.model.writing?.text, { text: 'me@x', cursor: 4 })
    assert.equal(session.model.writing?.aid, undefined)
  })

  test('ctrl+r finds what was sent, the newest first; nothing is sent by it', async (t) => {
    const answers = { '/agents/release/messages': { message_id: 'msg_0009' } }
    const { session, stage, text } = await openSession(t, designedState, { answers })
    for (const said of ['first words', 'other words']) {
      press(session, 'c')
      type(session, said)
      press(session, 'enter')
    }
    await until(session, () => posted(stage.asked).length === 2)
    press(session, 'c')
    press(session, 'ctrl+r')
    assert.match(text(), /sent before: +─+.*\n› other words\n {2}first words/)
    type(session, 'first')
    press(session, 'enter')
    assert.match(text(), /> first words▪\n/)
    assert.equal(posted(stage.asked).length, 2)
  })

  test('an editor gets the draft, and what it leaves is the draft', async (t) => {
    const { session, text } = await openSession(t, designedState)
    press(session, 'c')
    type(session, 'hello')
    press(session, 'ctrl+g')
    await until(session, () => text().includes('> hello (edited)▪'))
  })
})

test('what the command line names is opened: an agent, or an item by a beginning or end of its id', async (t) => {
  const agent = await openSession(t, designedState, { options: { opens: 'ops' } })
  assert.match(agent.lines()[0] ?? '', /^ops {2}agent/)
  press(agent.session, 'esc')
  assert.match(agent.lines()[0] ?? '', /^holon {2}4 need you/)
  const item = await openSession(t, designedState, { options: { opens: 'work_7f3a' } })
  assert.match(item.lines()[0] ?? '', /^work_7f3a {2}Upgrade the parser/)
  const twins = () =>
    designedState({
      work_items: [anItemRecord('work_17f3a', 'docs', 'A'), anItemRecord('work_27f3a', 'ops', 'B')],
    })
  const several = await openSession(t, twins, { options: { opens: '7f3a' } })
  assert.match(several.text(), /7f3a means work_17f3a \(docs\), work_27f3a \(ops\)/)
  const end = await openSession(t, twins, { options: { opens: '27f3a' } })
  assert.match(end.lines()[0] ?? '', /^work_27f3a {2}B/)
  // The command found it in the ledger: the state has only the newest of what is done.
  const opens = { agent_id: 'docs', work_item_id: 'work_0ld0' }
  const older = await openSession(t, twins, { options: { opens } })
  assert.match(older.lines()[0] ?? '', /^work_0ld0/)
  assert.doesNotMatch(older.text(), /no agent and no item/)
  const nothing = await openSession(t, designedState, { options: { opens: 'work_0000' } })
  assert.match(nothing.text(), /no agent and no item here is called work_0000/)
})

test('a check that asks is answered with the run it was shown with, by number and enter', async (t) => {
  const path = '/agents/docs/work-items/work_0c'
  const check = {
    kind: 'person',
    name: 'look',
    question: 'Does it look right?',
    run: { state: 'owed', n: 2, owed_at: '2026-11-21T14:00:00.000Z', told: false },
  }
  const state = () =>
    designedState({
      attention: [
        anEntry('work_0c', 'check_asked', 'docs', 'Does it look right?', {
          work_item_id: 'work_0c',
        }),
      ],
    })
  const record = { ...anItemRecord('work_0c', 'docs', 'Write it'), checks: [check] }
  const answers = { [path]: record, [`${path}/checks/look/answer`]: {} }
  const { session, stage, text } = await openSession(t, state, { answers })
  await until(session, () => session.model.details.has('item work_0c'))
  press(session, 'a')
  assert.match(text(), /CHECK look of work_0c/)
  await stage.clock.advance(400)
  press(session, '1', 'enter')
  await until(session, () => text().includes('look: passed'))
  assert.deepEqual(posted(stage.asked), [[`${path}/checks/look/answer`, { run: 2, passed: true }]])
})

describe('what a terminal is told', () => {
  test('its title is the state; what newly needs a person rings once, and not while it is looked at', async (t) => {
    const { session } = await openSession(t, designedState)
    const first = signalsOf(noSignals, session.model, null)
    const title = '\u001b]2;holon: 4 need you, 1 working, 2 waiting, 1 next\u001b\\'
    assert.equal(first.write, title)
    assert.deepEqual(signalsOf(first.next, session.model, null), { next: first.next, write: '' })
    const more = anEntry('wait_new', 'question', 'ops', 'Really?\u001b]0;x\u0007', {})
    const { p } = session.model
    assert.ok(p)
    const state = { ...p.state, attention: [...p.state.attention, more], attention_total: 5 }
    const after = { ...session.model, p: { ...p, state } }
    const rung = signalsOf(first.next, after, false)
    assert.equal(
      rung.write,
      `${title.replace('4', '5')}\u001b]9;holon: ops: Really?\\x1b]0;x\\x07\u001b\\\u0007`,
    )
    assert.equal(signalsOf(rung.next, after, false).write, '')
    const long = anEntry('wait_long', 'question', 'ops', '\u001b'.repeat(90), {})
    const noted = { ...state, attention: [...state.attention, long] }
    const cut = signalsOf(rung.next, { ...after, p: { ...p, state: noted } }, false)
    assert.equal(cut.write, `\u001b]9;holon: ops: ${'\\x1b'.repeat(16)}\\x1…\u001b\\\u0007`)
    assert.equal(signalsOf(first.next, after, true).write, title.replace('4', '5'))
  })

  test('a copied text is asked of the terminal where no program takes it, up to its bound', async (t) => {
    assert.equal(copySequence('é'), '\u001b]52;c;w6k=\u001b\\')
    assert.equal(copySequence('x'.repeat(60_000)), null)
    const { session, stage, text } = await openSession(t, designedState)
    stage.ports.copy = () => Promise.resolve(null)
    press(session, 'y')
    await until(session, () => text().includes('by the terminal (OSC 52), if it allows that'))
  })
})
