/**
 * Images that a model looks at: which kinds there are, how one is told by its first bytes, and
 * what it costs. The bytes are a blob; rows name it by its hash. Pure.
 */
import { limits } from './limits.ts'
import { overLimit, type Rejection } from './rejection.ts'

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
export type ImageType = (typeof imageTypes)[number]

/** What the first bytes of an image say. Width and height in pixels. */
export type ImageHead = { media_type: ImageType; width: number; height: number }

/** An image that is kept: the blob with this hash has its `bytes` bytes. */
export type Image = ImageHead & { sha256: string; bytes: number }

/** Null: by its bytes it is none of the kinds. Its name is not asked: anybody may choose that. */
export function imageHead(bytes: Uint8Array): ImageHead | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return pngHead(view) ?? gifHead(view) ?? webpHead(view) ?? jpegHead(view)
}

/** Whether `text` stands at this place, each letter a byte. */
function says(view: DataView, at: number, text: string): boolean {
  if (view.byteLength < at + text.length) return false
  return Array.from(text).every((letter, n) => view.getUint8(at + n) === letter.charCodeAt(0))
}

function pngHead(view: DataView): ImageHead | null {
  if (!says(view, 0, '\x89PNG\r\n\x1a\n') || !says(view, 12, 'IHDR')) return null
  if (view.byteLength < 24) return null
  return { media_type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gifHead(view: DataView): ImageHead | null {
  if (!says(view, 0, 'GIF87a') && !says(view, 0, 'GIF89a')) return null
  if (view.byteLength < 10) return null
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)]
  return { media_type: 'image/gif', width, height }
}

const bits14 = 0x3fff

function webpHead(view: DataView): ImageHead | null {
  if (!says(view, 0, 'RIFF') || !says(view, 8, 'WEBP') || view.byteLength < 30) return null
  const sized = (width: number, height: number): ImageHead => ({
    media_type: 'image/webp',
    width,
    height,
  })
  const uint24 = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000
  if (says(view, 12, 'VP8X')) return sized(uint24(24) + 1, uint24(27) + 1)
  if (says(view, 12, 'VP8L') && view.getUint8(20) === 0x2f) {
    const packed = view.getUint32(21, true)
    return sized((packed & bits14) + 1, ((packed >>> 14) & bits14) + 1)
  }
  if (says(view, 12, 'VP8 ') && says(view, 23, '\x9d\x01\x2a')) {
    return sized(view.getUint16(26, true) & bits14, view.getUint16(28, true) & bits14)
  }
  return null
}

/** Segments of a JPEG that say its size: all starts of a frame, but not the tables among them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Markers that stand alone, without a length behind them. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

function jpegHead(view: DataView): ImageHead | null {
  if (!says(view, 0, '\xff\xd8\xff')) return null
  let at = 2
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null
    const marker = view.getUint8(at + 1)
    if (isFrame(marker)) {
      const [height, width] = [view.getUint16(at + 5), view.getUint16(at + 7)]
      return { media_type: 'image/jpeg', width, height }
    }
    // Fill bytes may stand in front of a marker.
    if (marker === 0xff) at += 1
    else if (isAlone(marker)) at += 2
    else at += 2 + view.getUint16(at + 2)
  }
  return null
}

/** Why no provider would take it; null: nothing is against it. */
export function imageProblem({ width, height }: ImageHead): string | null {
  const most = limits.image_side.value
  if (width === 0 || height === 0) return 'has no pixels'
  return Math.max(width, height) > most ? `is larger than ${most} pixels on a side` : null
}

/**
 * Tokens of an image in a request, as an estimate: a token for 750 pixels, up to what the largest
 * one takes that a provider does not make smaller first.
 */
export function imageTokens({ width, height }: ImageHead): number {
  const { image_tokens_least: least, image_tokens_most: most } = limits
  return Math.min(most.value, Math.max(least.value, Math.ceil((width * height) / 750)))
}

/** What may be known of the images of one message before they are kept; null: nothing is wrong. */
export function tooMuchOf(sizes: readonly number[]): Rejection | null {
  const { image_bytes, message_images, message_images_bytes } = limits
  if (sizes.length > message_images.value) return overLimit(message_images, sizes.length)
  const largest = Math.max(0, ...sizes)
  if (largest > image_bytes.value) return overLimit(image_bytes, largest)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  return all > message_images_bytes.value ? overLimit(message_images_bytes, all) : null
}

/** `image PNG 640×480`, for a person. */
export const imageWords = (image: ImageHead): string =>
  `image ${imageKind(image)} ${image.width}×${image.height}`

/** `PNG`, for a person and for a model. */
export const imageKind = ({ media_type }: ImageHead): string =>
  media_type.slice('image/'.length).toUpperCase()
