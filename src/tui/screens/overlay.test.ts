/** Help at every size: whole groups only, and columns that do not touch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { designedState } from '../../testing/screens/home.ts'
import { openSession, press } from '../../testing/screens/tui-session.ts'

const titles = ['WRITING', 'LEAVING', 'WHAT THE MARKS MEAN']

for (const size of [
  [80, 24],
  [80, 25],
  [80, 30],
  [120, 40],
  [200, 50],
] as const) {
  test(`help at ${size.join('x')} has no group without its text, and no words that touch`, async (t) => {
    const { session, lines } = await openSession(t, designedState, { size })
    press(session, '?')
    const shown = lines()
    for (const title of titles) {
      const at = shown.findIndex((one) => one.startsWith(title))
      if (at >= 0) assert.match(shown[at + 1] ?? '', /^[^─]{20}/, title)
    }
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
