// Where nothing is found it is said what was looked through, and how the words were read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryKinds } from '../../protocol/records/search-terms.ts'
import { unfoundLines } from './search-lines.ts'

test('everything that is searched is named, or the kinds that were asked for', () => {
  assert.deepEqual(unfoundLines('nowhere', null), [
    'looked through items, plans, briefs, reports, messages, rounds, calls, tasks, their output, ' +
      "schedules and agents' own files",
  ])
  for (const kind of memoryKinds)
    assert.match(unfoundLines('nowhere', [kind])[0] ?? '', /^looked through \S/)
  assert.deepEqual(unfoundLines('nowhere', ['plan']), ['looked through plans'])
  assert.deepEqual(unfoundLines('nowhere', ['plan', 'file']), [
    "looked through plans and agents' own files",
  ])
})

const short = (word: string, more = '') =>
  `"${word}", with less than 4 letters, is a whole word${more}`
const words: readonly (readonly [query: string, says: string[]])[] = [
  ['slo', [short('slo', '; slo* finds what begins with it')]],
  ['SLO', [short('SLO', '; SLO* finds what begins with it')]],
  ['"slo"', [short('slo', '; slo* finds what begins with it')]],
  ['ci', [short('ci')]],
  ['slow', []],
  ['slo*', []],
  ['what is slo', [short('is'), short('slo', '; slo* finds what begins with it')]],
  ['a-long-word', []],
]
for (const [query, says] of words) {
  test(`${query}: ${says.length} of its words are too short to be found inside others`, () => {
    assert.deepEqual(unfoundLines(query, ['plan']).slice(1), says)
  })
}
