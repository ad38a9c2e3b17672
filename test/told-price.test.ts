/** What a provider says it took for an answer is what the answer cost, on every meter of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls, says, scriptedModel } from '../src/testing/scripted-model.ts'
import { inOrder, runs } from './support/scripts.ts'
import { openStage } from './support/stage.ts'

test('a told price goes before the known one, and stands where none is known', async (t) => {
  for (const known of [0.02, null]) {
    const model = scriptedModel(
      inOrder(
        { ...calls(runs('true')), told_usd: 0.005 },
        { ...calls(runs('true')), told_usd: 0 },
        says('Counted.'),
      ),
    )
    const s = await openStage(t, { model, price: () => known })
    await s.say('Count.')
    const rounds = await s.rows('rounds')
    assert.deepEqual(
      rounds.map(({ usage }) => usage?.usd),
      [0.005, 0, known],
      `${known}`,
    )
    for (const { usage } of rounds) assert.ok(usage !== null && !('told_usd' in usage))
    await s.sound()
  }
})
