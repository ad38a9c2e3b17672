import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../testing/world/agent-world.ts'
import { Draft } from '../facts/facts.ts'
import { limits } from '../limits.ts'
import { dismiss, snooze } from './snoozes.ts'
import { fromMs, toMs } from '../time.ts'
import { isRejection } from '../rejection.ts'

const entry = { attention_id: 'wait_1', fingerprint: 'f' }
const long = 'x'.repeat(limits.fingerprint.value + 1)
const longest = 'x'.repeat(limits.fingerprint.value)

/** What was decided of it: the events, or the code of the refusal. */
function put(given: Partial<typeof entry>, until: (now: number) => string | null) {
  const w = new World()
  const named = { ...entry, ...given }
  const moment = until(toMs(w.now))
  const d = new Draft(w.facts, { now: w.now, mint: w.mint })
  const done = moment === null ? dismiss(d, named) : snooze(d, { ...named, until: moment })
  const events = d.emitted.map(({ event }) => `${event.type} ${event.id}`)
  if (isRejection(done)) assert.deepEqual(events, [])
  return isRejection(done) ? done.code : events
}

test('an entry that is not named, or by too long a name, is neither snoozed nor dismissed', () => {
  for (const until of [() => null, (now: number) => fromMs(now + 1)]) {
    assert.equal(put({ attention_id: '' }, until), 'attention_not_found')
    assert.equal(put({ fingerprint: '' }, until), 'attention_not_found')
    assert.equal(put({ attention_id: long }, until), 'over_limit')
    assert.equal(put({ fingerprint: long }, until), 'over_limit')
    assert.equal(put({ fingerprint: longest }, until).length, 1)
  }
})

const moments: [what: string, until: (now: number) => string, expected: unknown][] = [
  ['no time', () => 'tomorrow', 'time_invalid'],
  ['now', (now) => fromMs(now), 'time_invalid'],
  ['the next millisecond', (now) => fromMs(now + 1), ['attention_snoozed wait_1']],
  ['as far as may be', (now) => fromMs(now + limits.wait_max.value), ['attention_snoozed wait_1']],
  ['further', (now) => fromMs(now + limits.wait_max.value + 1), 'time_too_far'],
]
for (const [what, until, expected] of moments) {
  test(`an entry is snoozed until ${what}: ${String(expected)}`, () => {
    assert.deepEqual(put({}, until), expected)
  })
}

test('a dismissed entry says which one it was and how it looked', () => {
  const w = new World()
  w.do((d) => dismiss(d, entry))
  assert.deepEqual(
    w.last.map(({ type, ...rest }) => [type, 'fingerprint' in rest && rest.fingerprint]),
    [['attention_dismissed', 'f']],
  )
})
