/**
 * Images as they come in with words, read before the words are admitted: their kind by their first
 * bytes, their size by what the bytes say. One that cannot be taken refuses the message, whole.
 */
import {
  imageHead,
  imageProblem,
  tooMuchOf,
  type Image,
  type ImageHead,
} from '../../domain/image.ts'
import type { ImageGiven } from '../../domain/operator/act.ts'
import { no, type Rejection } from '../../domain/rejection.ts'

/** `keep` stores bytes with the commit to come; it gives their hash. */
type Keeps = { keep: (bytes: Uint8Array) => string; holdsSecret: (bytes: Uint8Array) => boolean }

export function readImages(
  given: readonly ImageGiven[],
  { keep, holdsSecret }: Keeps,
): { ok: true; images: Image[] } | Rejection {
  const wrong = tooMuchOf(given.map(({ base64 }) => decodedBytes(base64)))
  if (wrong) return wrong
  const found: { bytes: Uint8Array; head: ImageHead }[] = []
  for (const [at, { base64 }] of given.entries()) {
    const name = given.length === 1 ? 'The image' : `Image ${at + 1}`
    const read = readImage(base64, name)
    if (!read.ok) return read
    if (holdsSecret(read.bytes)) {
      return no('image_secret', `${name} holds a value that is never kept or sent.`)
    }
    found.push(read)
  }
  const images = found.map(({ bytes, head }) => ({
    ...head,
    sha256: keep(bytes),
    bytes: bytes.length,
  }))
  return { ok: true, images }
}

/** How many bytes a text in base64 stands for, before it is decoded. */
const decodedBytes = (base64: string): number =>
  Math.floor((base64.length * 3) / 4) - (/=*$/.exec(base64.slice(-2))?.[0].length ?? 0)

function readImage(
  base64: string,
  name: string,
): { ok: true; bytes: Uint8Array; head: ImageHead } | Rejection {
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    return no('image_unreadable', `${name} is not in base64.`)
  }
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'))
  const head = imageHead(bytes)
  if (head === null) {
    return no('image_unknown', `${name} is no PNG, JPEG, GIF or WebP by its first bytes.`)
  }
  const problem = imageProblem(head)
  return problem === null ? { ok: true, bytes, head } : no('image_size', `${name} ${problem}.`)
}
