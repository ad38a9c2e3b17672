/** A thread tells everything once: also a report to which the runtime has put a warning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportedWithWarning } from '../../testing/screens/report-scene.ts'
import { aState } from '../../testing/screens/state.ts'
import { apply, open, thread } from '../presentation.ts'
import type { Entry } from './entry.ts'

const flat = (entries: readonly Entry[]): Entry[] =>
  entries.flatMap((one) => [one, ...flat(one.children)])

test('a report with a warning stands in a thread once, as what was delivered', () => {
  const { id, events } = reportedWithWarning()
  const [brief] = events.filter(({ event }) => event.type === 'brief_delivered')
  assert.ok(brief?.event.type === 'brief_delivered' && /Warning: /.test(brief.event.text))
  const watched = apply(open(aState()), { kind: 'watch', agent_id: 'main' })
  const p = apply(watched, { kind: 'events', events })
  for (const level of [1, 2] as const) {
    const told = flat(thread(p, 'main', id, level)).filter(({ title, body }) =>
      [title, ...body].join('\n').includes('One todo is left'),
    )
    assert.deepEqual(
      told.map(({ kind }) => kind),
      ['completion'],
    )
  }
})
