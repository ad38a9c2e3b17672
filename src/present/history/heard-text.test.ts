// A live text put together of its pieces: nothing twice, nothing left out without a word.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutLine, nothingHeard, withPiece } from './heard-text.ts'

type Piece = { at: number; text: string }
const heard = (...pieces: Piece[]) => pieces.reduce(withPiece, nothingHeard).text

const cases: [string, Piece[], string][] = [
  [
    'pieces in order',
    [
      { at: 0, text: 'I ' },
      { at: 2, text: 'look' },
    ],
    'I look',
  ],
  [
    'one that was heard',
    [
      { at: 0, text: 'I look' },
      { at: 2, text: 'look' },
    ],
    'I look',
  ],
  [
    'one that was heard in part',
    [
      { at: 0, text: 'I lo' },
      { at: 2, text: 'look' },
    ],
    'I look',
  ],
  [
    'the text so far again',
    [
      { at: 0, text: 'I lo' },
      { at: 0, text: 'I look' },
    ],
    'I look',
  ],
  [
    'another attempt',
    [
      { at: 0, text: 'I lo' },
      { at: 0, text: 'Look' },
    ],
    'Look',
  ],
  [
    'nothing any more',
    [
      { at: 0, text: 'I lo' },
      { at: 0, text: '' },
    ],
    '',
  ],
  [
    'a middle that was not heard',
    [
      { at: 0, text: 'I' },
      { at: 9, text: 'ok' },
    ],
    `I${cutLine}ok`,
  ],
]
for (const [name, pieces, wanted] of cases) {
  test(name, () => assert.equal(heard(...pieces), wanted))
}

test('however often a reader loses its link and comes again, it has the text once', () => {
  const cuts = fc.array(fc.nat(40), { maxLength: 12 })
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), cuts, (text, places) => {
      let now = nothingHeard
      let end = 0
      for (const place of places) {
        const at = Math.min(place, text.length)
        // Behind what was heard: the stream goes on. Before it: it begins anew with all so far.
        if (at > end) now = withPiece(now, { at: end, text: text.slice(end, at) })
        else if (end > 0) now = withPiece(now, { at: 0, text: text.slice(0, end) })
        end = Math.max(end, at)
      }
      if (end < text.length) now = withPiece(now, { at: end, text: text.slice(end) })
      assert.equal(now.text, text)
    }),
  )
})
