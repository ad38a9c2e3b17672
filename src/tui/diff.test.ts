/** The diff of a call on the screen: its row, its opening by either key, its lines and colours. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventsOf } from '../testing/screens/scenes.ts'
import { anItemRecord } from '../testing/screens/home.ts'
import { aState } from '../testing/screens/state.ts'
import { openSession, press, until } from '../testing/screens/tui-session.ts'
import { textOf } from './drawing/line.ts'

const answers = { '/agents/main/events': { events: eventsOf('patched'), next_cursor: null } }

const state = () =>
  aState({
    last_seq: 60,
    work_items: [
      anItemRecord('work_0001', 'main', 'Fix the parser', { candidate_class: 'current_runnable' }),
    ],
  })

/** The thread of the agent that changed files. */
async function threadOf(t: Parameters<typeof openSession>[0]) {
  const opened = await openSession(t, state, { answers, size: [80, 40] })
  press(opened.session, '2', 'enter')
  await until(opened.session, () => /patch 3 files/.test(opened.text()))
  return opened
}

const rowsOf = (lines: readonly string[]) =>
  lines.flatMap((one) => (/^ {9}|^\S? {8,}/.test(one) ? [one.trimEnd()] : []))

test('a row names the file and its counts, or how many files there are', async (t) => {
  const { lines } = await threadOf(t)
  assert.deepEqual(
    lines().flatMap((one) => /(?:patch|edit) .*$/.exec(one)?.[0].replace(/ +/g, ' ') ?? []),
    ['patch src/a.ts +2 -1', 'patch 3 files +11 -2', 'edit new.ts new, +9 -0'],
  )
})

for (const key of ['enter', 'space']) {
  test(`${key} opens the diff of a row, and on a line of it closes it again`, async (t) => {
    const { session, lines } = await threadOf(t)
    const closed = lines()
    press(session, 'G', 'k')
    press(session, key)
    const at = lines().findIndex((one) => /patch 3 files/.test(one))
    assert.deepEqual(
      rowsOf(lines().slice(at + 1, at + 14)).map((one) => one.trim()),
      [
        'src/a.ts  +2 -1',
        '@@ -1,2 +1,3 @@',
        'a',
        '-b',
        '+B',
        '+  c',
        'new.ts  new  +9 -0',
        '@@ -0,0 +1,9 @@',
        '+1',
        '… 8 more lines are not kept',
        '\\x1b[31mold.ts  deleted  +0 -1',
        '@@ -1,1 +0,0 @@',
        '-\\x1b]0;title\\x07',
      ],
    )
    const styles = session
      .frame()
      .slice(at + 1, at + 14)
      .map((one) => one.find(({ text }) => text.trim() !== '')?.style)
    assert.deepEqual(styles, [
      ...['bold', 'cyan', 'plain', 'red', 'green', 'green'],
      ...['bold', 'cyan', 'green', 'dim'],
      ...['bold', 'cyan', 'red'],
    ])
    press(session, 'j', 'j', key)
    assert.deepEqual(
      session
        .frame()
        .map(textOf)
        .filter((one) => /@@/.test(one)),
      [],
    )
    assert.equal(lines().length, closed.length)
  })
}

test('the command of a row that changed files is the one that shows all of the item', async (t) => {
  const { session, stage } = await threadOf(t)
  press(session, 'G', 'Y')
  await until(session, () => session.model.notice !== null)
  assert.deepEqual(stage.copied, ['holon work diff work_0001'])
})

test('on the third level every file stands below the row by its name', async (t) => {
  const { session, text } = await threadOf(t)
  press(session, 'v')
  assert.match(text(), /patch 3 files.*\n +src\/a\.ts {2}\+2 -1 *\n +new\.ts {2}new {2}\+9 -0/)
})
