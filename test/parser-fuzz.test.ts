/**
 * The fuzz of what reads foreign text at the length that every run of the tests can afford; the
 * long one is `npm run fuzz -- parsers`.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { applyDiff, parseDiff } from '../src/tools/files/patch.ts'
import { tryReader } from './support/parser-fuzz.ts'
import { readers } from './support/parser-readers.ts'

const cases = 300

describe('any text is read or refused, in bounded time, and means the same when written back', () => {
  for (const reader of readers) {
    test(reader.name, async () => {
      const { complaints, cases: tried } = await tryReader(reader, cases, 1)
      assert.deepEqual([complaints, tried], [[], cases])
    })
  }
})

describe('the judge of the parser fuzz', () => {
  const table: [what: string, read: () => string | null, complaint: RegExp][] = [
    ['an error that is thrown', () => assert.fail('not typed'), /thrower: not typed/],
    ['a complaint', () => 'it is wrong', /thrower: it is wrong/],
    ['time that is not bounded', () => spin(600), /it took \d+ ms/],
  ]
  for (const [what, read, complaint] of table) {
    test(what, async () => {
      const found = await tryReader({ name: 'thrower', pieces: ['a'], read }, 1, 1)
      assert.match(found.complaints.join(), complaint)
    })
  }
})

function spin(ms: number): null {
  const from = process.cpuUsage()
  while (process.cpuUsage(from).user < ms * 1_000) Math.sqrt(2)
  return null
}

test('what a patch of two texts says, applied to the one gives the other', () => {
  const text = fc
    .array(fc.constantFrom('one', 'two', 'three', '', '  four', '-five', '+six', '@@ -1 +1 @@'))
    .map((lines) => lines.map((line) => `${line}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      if (before === after) return
      const read = parseDiff(createTwoFilesPatch('a/x.txt', 'b/x.txt', before, after))
      assert.ok(read.ok, JSON.stringify(read))
      const applied = applyDiff(read.patch, new Map([['x.txt', before]]))
      assert.ok(applied.ok, JSON.stringify(applied))
      assert.deepEqual(
        applied.changes.map((change) => ('after' in change ? change.after : null)),
        [after],
      )
    }),
    { seed: 1, numRuns: 200 },
  )
})
