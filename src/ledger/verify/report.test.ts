import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostProblems, Report } from './report.ts'

const reported = (count: number) => {
  const report = new Report()
  report.events = 7
  report.rows = 9
  for (let n = 1; n <= count; n += 1) report.add(`problem ${n}`)
  return report.finish()
}

test('a report keeps the first hundred problems, and counts the others', () => {
  const all = Array.from({ length: mostProblems }, (_, n) => `problem ${n + 1}`)
  assert.equal(mostProblems, 100)
  assert.deepEqual(reported(0), { ok: true, events: 7, rows: 9, problems: [] })
  assert.deepEqual(reported(1), { ok: false, events: 7, rows: 9, problems: ['problem 1'] })
  assert.deepEqual(reported(100).problems, all)
  assert.deepEqual(reported(101).problems, [...all, 'and 1 more'])
  assert.deepEqual(reported(103).problems, [...all, 'and 3 more'])
})
