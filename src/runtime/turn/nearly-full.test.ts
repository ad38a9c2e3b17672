import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayLose } from './nearly-full.ts'

test('that results will go is said only where some stand behind the recap and before the newest round', () => {
  const rounds = (recaps: readonly number[]) =>
    recaps.map((recapped, i) => ({ n: i + 1, ...(recapped === 0 ? {} : { recapped }) }))
  const always = () => true
  const cases: [recaps: readonly number[], looks: (n: number) => boolean, boolean][] = [
    [[], always, false],
    [[0], always, false],
    [[0, 0], always, true],
    // The recap has all but the newest round.
    [[0, 0, 2], always, false],
    [[0, 0, 2, 0], always, true],
    [[0, 0, 1, 0, 4], always, false],
    // What stands there is what the agent did itself: nothing that it does not know.
    [[0, 0, 0], () => false, false],
    [[0, 0, 2, 0], (n) => n < 3, false],
    [[0, 0, 2, 0], (n) => n === 3, true],
  ]
  for (const [recaps, looks, is] of cases) {
    assert.equal(mayLose(rounds(recaps), looks), is, recaps.join())
  }
})
