// How much of a long answer a thread shows: all of it where it fits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredEvent } from '../../protocol/records/records.ts'
import { anAgentRecord } from '../../testing/screens/home.ts'
import { eventsOf } from '../../testing/screens/scenes.ts'
import { aState } from '../../testing/screens/state.ts'
import { openSession, until } from '../../testing/screens/tui-session.ts'

/** An agent that said so many lines. */
function said(lines: number): StoredEvent {
  const found = eventsOf('claimed').find(({ event }) => event.type === 'brief_delivered')
  assert.ok(found?.event.type === 'brief_delivered')
  const text = Array.from({ length: lines }, (_, n) => `- word ${n + 1}`).join('\n')
  return { ...found, agent_id: 'main', event: { ...found.event, text } }
}

test('an answer is folded only where it does not fit, and never for the sake of one line', async (t) => {
  const now = '2026-11-21T14:05:00.000Z'
  for (const rows of [16, 24, 40]) {
    const folded: number[] = []
    const all = Array.from({ length: rows }, (_, n) => n + 1)
    for (const lines of all) {
      const agents = [anAgentRecord('main', { open_work_items: 0 })]
      const at = await openSession(t, () => aState({ now, agents, last_seq: 1_000 }), {
        size: [80, rows],
        options: { opens: 'main' },
        answers: { '/agents/main/events': { events: [said(lines)], next_cursor: null } },
      })
      await until(at.session, () => /word \d/.test(at.text()))
      const text = at.text()
      const more = /(\d+) more lines?; space/.exec(text)?.[1]
      assert.notEqual(more, '1', `${rows} rows, ${lines} lines`)
      if (more === undefined) continue
      folded.push(lines)
      assert.equal(Number(more), lines - 12)
    }
    // Header and foot take six lines, who says it one.
    const room = rows - 6
    const first = Math.max(room, 14)
    assert.deepEqual(
      folded,
      all.filter((lines) => lines >= first),
      `${rows} rows`,
    )
  }
})
