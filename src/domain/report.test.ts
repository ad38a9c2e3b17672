import assert from 'node:assert/strict'
import { test } from 'node:test'
import { announcements, isReport, type ReportVerdict } from './report.ts'

const yes: ReportVerdict = { report: true }
const no = (because: 'empty' | 'ends_in_colon' | 'announcement'): ReportVerdict => ({
  report: false,
  because,
})

const rows: [text: string, expect: ReportVerdict][] = [
  ['', no('empty')],
  [' \n\t ', no('empty')],
  ['Here is what I did:', no('ends_in_colon')],
  ['First line.\nThe changes are:  \n', no('ends_in_colon')],
  ['結果は次のとおりです：', no('ends_in_colon')],
  ['I will complete the item now.', no('announcement')],
  ["I'll complete it.", no('announcement')],
  ['I’ll complete it.', no('announcement')],
  ['Let me close this', no('announcement')],
  ['  let me close this.', no('announcement')],
  ['Now I mark it as done!', no('announcement')],
  ['Done.', yes],
  ['ok', yes],
  ['All 450 tests pass on 3f9c2e1.', yes],
  // More than one sentence, or more than one line, is a report whatever it opens with.
  ['I will not touch the cache again. The tests pass.', yes],
  ['Let me close this\nThe tests pass', yes],
  ['Now I am done! "Everything" passes.', yes],
  // An opening is a whole word.
  ['I willingly left the flag in place.', yes],
  ['Let men decide.', yes],
  ['Now Ireland is in the list.', yes],
  // A dot inside a number or a name does not end a sentence.
  ['I will release 2.4.0 from main.ts now.', no('announcement')],
  ['The announcement "I will do it" is gone.', yes],
]

test('§2 the report predicate refuses only empty text, a colon at the end and an announcement', () => {
  for (const [text, expect] of rows) assert.deepEqual(isReport(text), expect, text)
})

test('§2 the list of announcements is the one of the contract', () => {
  const straight = announcements.map((opening) => opening.replace('’', "'"))
  assert.deepEqual([...new Set(straight)], ['I will', "I'll", 'Let me', 'Now I'])
})
