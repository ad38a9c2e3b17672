/** Durations of a runbook: what is one, and that a text that is none costs nothing to refuse. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { durationMs } from './duration.ts'

describe('a duration is units from large to small, each once', () => {
  const table: [text: string, ms: number | null][] = [
    ['500ms', 500],
    ['2s', 2_000],
    ['1h30m', 5_400_000],
    ['1d 2h  3m 4s 5ms', 93_784_005],
    [' 2s ', 2_000],
    ['', null],
    ['h', null],
    ['30m1h', null],
    ['1m1m', null],
    ['1.5h', null],
    ['-1s', null],
    ['1234567890s', null],
    ['0s', null],
    ['400d', null],
  ]
  for (const [text, ms] of table) {
    test(`"${text}": ${ms ?? 'none'}`, () => {
      const read = durationMs(text)
      assert.equal('ms' in read ? read.ms : null, ms)
    })
  }
})

test('a number with ten thousand blanks behind it is refused in no time', () => {
  const from = process.cpuUsage()
  const read = durationMs(`1d${' '.repeat(10_000)}x`)
  const { user, system } = process.cpuUsage(from)
  assert.ok('wrong' in read)
  assert.ok(user + system < 500_000, `${user + system} µs of processor time`)
})
