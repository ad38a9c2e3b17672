/** An image that came with a message, as readers get it: what it is, and the blob that has it. */
import { z } from 'zod'
import { imageHead, imageProblem, imageTypes } from '../../domain/image.ts'
import { limits } from '../../domain/limits.ts'
import { count, sha256 } from '../scalar.ts'

export const imageRecord = z
  .strictObject({
    media_type: z.enum(imageTypes),
    width: count.describe('Pixels.'),
    height: count.describe('Pixels.'),
    sha256: sha256.describe('Of its bytes, which the home keeps as long as the message.'),
    bytes: count,
  })
  .meta({ id: 'Image' })

export { imageWords, tooMuchOf, type ImageHead } from '../../domain/image.ts'

/** What one image may be. */
export const imageLimits = { image_bytes: limits.image_bytes }

/** Why bytes are no image that a model takes, as the end of a sentence; null: they are. */
export function whyNoImage(bytes: Uint8Array): string | null {
  const head = imageHead(bytes)
  return head === null ? 'is no PNG, JPEG, GIF or WebP by its first bytes' : imageProblem(head)
}
