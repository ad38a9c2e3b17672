/**
 * Every await is a point at which others may act: which of them were tried so, and that the rest is
 * known by name. `npm run awaits` shows the table.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { disagreements, neverNamed, tableOfAwaits, type Table } from './races/awaits-table.ts'

let table: Table
before(async () => {
  table = await tableOfAwaits()
})

test('whatever is written while an await is open, all comes to its end', () => {
  assert.deepEqual(table.violations, [])
})

test('an await at which nobody else ever acted is named, with the reason', () => {
  const hint = 'a story of test/races that passes it, or `npm run awaits -- --write` and a reason'
  assert.deepEqual(disagreements(table), [], hint)
  assert.deepEqual(
    neverNamed().filter(({ reason }) => reason === ''),
    [],
  )
})

test('the table has every kind of await there is', () => {
  const kinds = [...new Set(table.all.map(({ kind }) => kind))].toSorted()
  assert.deepEqual(kinds, ['await', 'catch', 'finally', 'for await', 'then', 'yield'])
  assert.ok(table.all.length > 1_400, `${table.all.length} awaits`)
})
