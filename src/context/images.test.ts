// Which images a request shows, and what stands for the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Image } from '../domain/image.ts'
import { aCall, aRound, succeededWith } from '../testing/rows.ts'
import { renderRounds } from '../testing/whole-request.ts'
import { imageForm, imagesShown, insteadOf, type ImagesView } from './images.ts'
import { renderResult } from './result.ts'
import { recapSection } from './sections/recap.ts'
import { charTokens } from './estimate.ts'

const view: ImagesView = { vision: true, refused: false, window: 200_000, compacted: 0 }
const small: Image = {
  media_type: 'image/png',
  width: 300,
  height: 300,
  sha256: 'ab'.repeat(32),
  bytes: 1_000,
}

const suffix = (n: number) => String(n).padStart(8, '0')
const look = (n: number, image: Image = small) =>
  aCall(
    'ViewImage',
    { path: 'a.png' },
    succeededWith('ViewImage', 'image "/repo/a.png", PNG, 300x300, sha256 abababab…', {
      path: '/repo/a.png',
      image,
    }),
    { suffix: suffix(n) },
  )
/** Rounds from 1, each with a look at an image. */
const rounds = (count: number, image?: Image) =>
  Array.from({ length: count }, (_, at) => aRound(at + 1, '', [look(at + 1, image)]))
const from = (shown: ReadonlySet<string>) => [...shown].map((id) => Number(id.slice(-8)))
const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at)

test('every image stays, up to as many as a request may have; then the oldest half goes', () => {
  for (const [count, first] of [
    [1, 1],
    [20, 1],
    [21, 12],
    [30, 12],
    [31, 12],
    [32, 23],
  ] as const) {
    assert.deepEqual(from(imagesShown(rounds(count), view)), numbers(first, count), `${count}`)
  }
})

test('one more round takes out none, or half: a prefix that was sent stays for long', () => {
  let before: number[] = []
  let steps = 0
  for (let count = 1; count <= 100; count++) {
    const now = from(imagesShown(rounds(count), view))
    if (now[0] !== before[0]) steps += 1
    assert.equal(now.at(-1), count)
    before = now
  }
  assert.equal(steps, 9)
})

test('bytes and tokens have a bound too, and the newest is shown in any case', () => {
  const heavy = { ...small, bytes: 3_900_000 }
  assert.deepEqual(from(imagesShown(rounds(3, heavy), view)), [1, 2, 3])
  assert.deepEqual(from(imagesShown(rounds(4, heavy), view)), [4])
  const large = { ...small, width: 1_500, height: 1_500 }
  const narrow = { ...view, window: 32_000 }
  assert.deepEqual(from(imagesShown(rounds(3, large), narrow)), [1, 2, 3])
  assert.deepEqual(from(imagesShown(rounds(4, large), narrow)), [4])
})

test('an image says why it is not shown', () => {
  const huge = { ...small, width: 4_000, height: 4_000 }
  const form = (more: Partial<ImagesView>, image = small, count = 1) => {
    const given = { ...view, ...more }
    return imageForm('call_00000001', image, imagesShown(rounds(count, image), given), given)
  }
  assert.equal(form({}), 'shown')
  assert.equal(form({ vision: false }), 'no_vision')
  assert.equal(form({ refused: true }), 'refused')
  assert.equal(form({ window: 8_000 }, huge), 'too_large')
  assert.equal(form({}, small, 21), 'left_out')
  assert.equal(form({ compacted: 3 }, small, 2), 'left_out')
})

test('a compacted request shows the images of its newest round, which nobody saw yet', () => {
  assert.deepEqual(from(imagesShown(rounds(5), { ...view, compacted: 6 })), [5])
  // What comes behind it stays again.
  assert.deepEqual(from(imagesShown(rounds(8), { ...view, compacted: 6 })), [5, 6, 7, 8])
})

test('a model without vision gets one sentence in the place of the image', () => {
  const shown = (form: 'shown' | 'no_vision' | 'left_out') =>
    renderRounds(rounds(1), {
      model: 'scripted/one',
      full_path: () => null,
      items: new Map(),
      image: () => form,
    }).at(-1)
  const result = {
    call_id: 'call_00000001',
    provider_call_id: 'toolu_00000001',
    tool_name: 'ViewImage',
    text: 'ViewImage: image "/repo/a.png", PNG, 300x300, sha256 abababab…',
    is_error: false,
  }
  assert.deepEqual(shown('shown'), { role: 'tool', results: [{ ...result, image: small }] })
  for (const form of ['no_vision', 'left_out'] as const) {
    const text = `${result.text}\n${insteadOf[form]}`
    assert.deepEqual(shown(form), { role: 'tool', results: [{ ...result, text }] })
  }
})

test('a later turn has an image as a line, with how to see it again', () => {
  const { result } = look(1)
  assert.ok(result)
  const shown = {
    max_tokens: 1_000,
    full_path: null,
    estimate: charTokens,
    form: 'history',
  } as const
  const says = 'ViewImage: image "/repo/a.png", PNG, 300x300, sha256 abababab…'
  assert.equal(renderResult(result, shown), `${says}\nimage: ViewImage again to see it`)
})

test('a recap has an image as a line, with how to see it again', () => {
  const { text } = recapSection(rounds(1), {
    tokens: charTokens,
    max_tokens: 4_000,
    texts_tokens: 4_000,
    fence: '7f3a9c2e',
  })
  const line = 'image "/repo/a.png", PNG, 300x300, sha256 abababab…; ViewImage again to see it'
  assert.ok(text.includes(`- 1: ViewImage: ${line} [call_00000001]`), text)
})

test('images of messages count with those of results, each where it came in', () => {
  const sent = (round: number, count: number, image: Image = small) => ({
    id: `msg_${round}` as const,
    round,
    images: Array.from({ length: count }, () => image),
  })
  const keys = (of: Parameters<typeof imagesShown>) => [...imagesShown(...of)]
  const ids = rounds(3).map(({ calls }) => calls[0]?.id ?? '')
  assert.deepEqual(keys([rounds(2), view, [sent(1, 2)]]), ['msg_1 1', 'msg_1 2', ids[0], ids[1]])
  // The newest stay, whatever they came with.
  assert.deepEqual(keys([rounds(3), view, [sent(1, 10), sent(3, 10)]]).length, 12)
  assert.equal(keys([rounds(3), view, [sent(1, 10), sent(3, 10)]])[0], ids[1])
  // A message is seen in the request that carries it, a result in the next.
  const compacted = { ...view, compacted: 3 }
  assert.deepEqual(keys([rounds(3), compacted, [sent(2, 1), sent(3, 1)]]), [
    ids[1],
    'msg_3 1',
    ids[2],
  ])
  assert.deepEqual(keys([rounds(1), { ...view, vision: false }, [sent(1, 1)]]), [])
})
