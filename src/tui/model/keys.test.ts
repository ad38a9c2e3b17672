import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actionOf, actions, keyTable } from './keys.ts'

/** What is shown, then the keys that do the same and that help does not name. */
const others: readonly (readonly [shown: string, ...same: string[]])[] = [
  ['j', 'down'],
  ['k', 'up'],
  ['g', 'home'],
  ['G', 'end'],
  ['ctrl+d', 'pagedown'],
  ['ctrl+u', 'pageup'],
  ['enter', 'right'],
  ['esc', 'h', 'left'],
  [':', 'ctrl+k'],
]

test('arrows and the keys with names do what the letters do', () => {
  assert.deepEqual(
    keyTable.filter(({ keys }) => keys.length > 1).map(({ keys }) => keys),
    others,
  )
  for (const [shown, ...same] of others) {
    for (const key of same) assert.equal(actionOf(key), actionOf(shown) ?? assert.fail(shown))
  }
})

test('every action has one line of keys, and every key one action', () => {
  assert.deepEqual(keyTable.map(({ action }) => action).toSorted(), [...actions].toSorted())
  const keys = keyTable.flatMap((one) => one.keys)
  assert.deepEqual(keys, [...new Set(keys)])
})
