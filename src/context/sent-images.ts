/**
 * Images that were sent with words: how they stand behind a message of a request, what stands for
 * those that do not, and what is said of them where the words are quoted again. Pure.
 */
import { imageKind, type Image, type ImageHead } from '../domain/image.ts'
import type { Message } from '../domain/state/message.ts'
import type { Short } from '../domain/state/short-id.ts'
import type { AttachedImage, ModelMessage } from '../ports/model-message.ts'
import type { SentImages } from '../domain/turns/shown.ts'
import { sentKey, type ImageForm } from './images.ts'
import { counted } from './phrase.ts'

/** The file that has the nth image of a message, from 1. */
export type ImagePath = (message: Pick<Message, 'id'>, n: number, image: ImageHead) => string

/** Of images where words are quoted: where one is, and whether the model would see it. */
export type QuotedImages = { image_path?: ImagePath; sees_images?: boolean }

/** `PNG, 640x480, file /…/outputs/msg_….1.png` */
function described(message: Message, at: number, image: Image, path: ImagePath | undefined) {
  const file = path === undefined ? '' : `, file ${path(message, at + 1, image)}`
  return `${imageKind(image)}, ${image.width}x${image.height}${file}`
}

/** Where a message stands as input: a line for each of its images. */
export const imageLines = (message: Message, path: ImagePath | undefined): string[] =>
  (message.images ?? []).map((image, at) => {
    return `With it: image ${at + 1}, ${described(message, at, image, path)}`
  })

/**
 * The words where they are quoted again: their images are named and not shown there. `sees_images`:
 * whether the model would see one, whatever it said of them when it was another.
 */
export function wordsWithImages(message: Message, path?: ImagePath, sees_images = false): string {
  const look = sees_images ? 'ViewImage shows it to you' : 'not shown here'
  const lines = (message.images ?? []).map((image, at) => {
    return `[image ${at + 1}, ${look}: ${described(message, at, image, path)}]`
  })
  return [message.body, ...lines].join('\n')
}

/** Why images of a message are not in the request, as the end of a sentence. */
const whyNot: Readonly<Record<Exclude<ImageForm, 'shown'>, string>> = {
  no_vision: 'not seen: this model takes no images',
  too_large: 'not seen: so large an image takes too much of the window; ViewImage a smaller copy',
  left_out: 'not shown any more; ViewImage the file to see it again',
  refused: 'not seen: the provider refused a request with it',
}

/** The message with the images that came with what it says, or a sentence for those that do not. */
export function withSentImages(
  message: ModelMessage & { role: 'user' },
  sent: readonly SentImages[],
  formOf: (key: string, image: Image) => ImageForm,
  short: Short = (id) => id,
): ModelMessage & { role: 'user' } {
  const images: AttachedImage[] = []
  const texts: string[] = []
  for (const one of sent) {
    const not = new Map<Exclude<ImageForm, 'shown'>, number>()
    for (const [at, image] of one.images.entries()) {
      const form = formOf(sentKey(one, at), image)
      if (form === 'shown') images.push({ label: `Image ${at + 1} of ${short(one.id)}:`, image })
      else not.set(form, (not.get(form) ?? 0) + 1)
    }
    for (const [form, count] of not)
      texts.push(`${notShown(short(one.id), count)} ${whyNot[form]}.`)
  }
  const content = [message.content, ...texts].join('\n\n')
  return images.length === 0 ? { ...message, content } : { ...message, content, images }
}

const notShown = (id: string, count: number): string =>
  count === 1
    ? `An image was sent with ${id} and is`
    : `${counted(count, 'image')} were sent with ${id} and are`
