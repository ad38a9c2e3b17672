/** Help at every size: all of it can be read, and its columns do not touch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { designedState } from '../../testing/screens/home.ts'
import { openSession, press } from '../../testing/screens/tui-session.ts'

const titles = ['MOVE', 'LOOK', 'ACT', 'WRITING', 'LEAVING', 'WHAT THE MARKS MEAN']

for (const size of [
  [80, 24],
  [40, 24],
  [40, 10],
  [200, 50],
] as const) {
  test(`help at ${size.join('x')} can be read to its end`, async (t) => {
    const { session, lines } = await openSession(t, designedState, { size })
    press(session, '?')
    const seen = new Set<string>()
    let before = ''
    while (before !== lines().join('\n')) {
      before = lines().join('\n')
      for (const one of lines()) seen.add(one)
      press(session, 'pagedown')
    }
    const said = [...seen].join('\n')
    assert.deepEqual(
      titles.filter((title) => !said.includes(title)),
      [],
    )
    assert.match(said, /ctrl\+c twice leaves[\s\S]*done \(claimed or/)
    assert.deepEqual(
      lines().filter((one) => one.length > size[0]),
      [],
    )
    press(session, 'g')
    assert.match(lines()[2] ?? '', /^MOVE/)
  })
}

test('what scrolls help is explained where all of it is in sight', async (t) => {
  const { session, lines } = await openSession(t, designedState, { size: [200, 50] })
  press(session, '?', 'j')
  assert.match(lines()[0] ?? '', /j: down$/)
})

for (const size of [
  [80, 24],
  [80, 25],
  [80, 30],
  [120, 40],
  [200, 50],
] as const) {
  test(`help at ${size.join('x')} has no words that touch`, async (t) => {
    const { session, lines } = await openSession(t, designedState, { size })
    press(session, '?')
    const shown = lines()
    const [, , head = ''] = shown
    const starts = ['LOOK', 'ACT'].map((title) => head.indexOf(title))
    assert.ok(
      starts.every((start) => start > 0),
      head,
    )
    for (const row of shown.slice(3, 14)) {
      for (const start of starts) {
        if (row.length > start) assert.equal(row.slice(start - 2, start), '  ', row)
      }
    }
  })
}

test('the events of the home open at the newest', async (t) => {
  const events = Array.from({ length: 60 }, (_, n) => ({
    global_seq: n + 1,
    seq: n + 1,
    at: '2026-11-21T14:00:00.000Z',
    agent_id: 'main',
    work_item_id: null,
    event: { type: 'agent_started', id: `main${n + 1}` },
  }))
  const answers = { '/events': { events, next_cursor: null } }
  const { session, text } = await openSession(t, designedState, { answers })
  press(session, '6')
  while (!session.isWhole() || text().includes('reading …')) await new Promise(setImmediate)
  assert.match(text(), /main60/)
  assert.doesNotMatch(text(), /main2 /)
  press(session, 'g')
  assert.match(text(), /main1 /)
})
