// What the first bytes of an image say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { gifOf, jpegOf, pngOf, webpOf } from '../testing/images.ts'
import { imageHead, imageProblem, imageTokens, imageTypes } from './image.ts'

const bytes = (...hex: string[]) => Uint8Array.from(Buffer.from(hex.join(''), 'hex'))

test('kind and size are told by the first bytes', () => {
  const table: readonly (readonly [Uint8Array, string, number, number])[] = [
    [pngOf(800, 600), 'image/png', 800, 600],
    [gifOf(320, 200), 'image/gif', 320, 200],
    [jpegOf(4_000, 3_000), 'image/jpeg', 4_000, 3_000],
    [webpOf(1_024, 70_000), 'image/webp', 1_024, 70_000],
    // Lossless: 14 bits each, less one, packed behind the signature.
    [
      bytes('524946461c0000005745425056', '50384c', '100000002f', '9fc15500', '0000000000'),
      'image/webp',
      416,
      344,
    ],
    // Lossy: the size stands behind the start code of the frame.
    [
      bytes('524946461e0000005745425056', '503820', '12000000', '300100', '9d012a', '20030a00'),
      'image/webp',
      800,
      10,
    ],
    // A fill byte, and a marker without a length, stand in front of the frame.
    [bytes('ffd8ff', 'ffd0', 'ffc2', '0011080102', '0304', '03'), 'image/jpeg', 0x304, 0x102],
  ]
  for (const [given, media_type, width, height] of table) {
    assert.deepEqual(imageHead(given), { media_type, width, height }, media_type)
  }
})

test('what only begins like one, or is cut before its size, is no image', () => {
  const table = [
    '',
    '89504e470d0a1a0a',
    '474946383961',
    '474946383761ff',
    'ffd8ff',
    'ffd8ffe00010',
    'ffd8ffc40004aabb00000000000000',
    '52494646160000005745425056503858',
    '25504446',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>').toString('hex'),
    Buffer.from('data:image/png;base64,iVBORw0KGgo=').toString('hex'),
  ]
  for (const hex of table) assert.equal(imageHead(bytes(hex)), null, hex)
})

test('no bytes make it fail, wherever they are cut', () => {
  const whole = fc.constantFrom(pngOf(8, 8), gifOf(8, 8), jpegOf(8, 8), webpOf(8, 8))
  const changed = fc
    .tuple(whole, fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 6 }), fc.nat(60))
    .map(([start, edits, cut]) => {
      const made = Uint8Array.from(start)
      for (const [at, value] of edits) if (at < made.length) made[at] = value
      return made.subarray(0, cut)
    })
  fc.assert(
    fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 64 })), (given) => {
      const head = imageHead(given)
      assert.ok(head === null || imageTypes.includes(head.media_type))
    }),
    { numRuns: 2_000 },
  )
})

test('an image without pixels, or with more than providers take, is none to show', () => {
  const of = (width: number, height: number) =>
    imageProblem({ media_type: 'image/png', width, height })
  assert.equal(of(8_000, 8_000), null)
  assert.equal(of(8_001, 1), 'is larger than 8000 pixels on a side')
  assert.equal(of(1, 8_001), 'is larger than 8000 pixels on a side')
  assert.equal(of(0, 5), 'has no pixels')
})

test('an image costs a token for 750 pixels, and never less or more than providers count', () => {
  const of = (width: number, height: number) =>
    imageTokens({ media_type: 'image/png', width, height })
  assert.deepEqual([of(1, 1), of(800, 600), of(8_000, 8_000)], [258, 640, 4_784])
})
