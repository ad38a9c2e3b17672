/**
 * Images of messages and results of a turn: which a request shows, and what stands for others. An
 * image that was shown stays until a compaction, since taking it out costs the provider's prompt
 * cache from there on; past the bounds of a request the oldest go, half of the room at a time. Of
 * rows alone, so that a rebuilt request shows the same ones.
 */
import { imageTokens, type Image } from '../domain/image.ts'
import { imageOf, type Call } from '../domain/state/call.ts'
import type { Round } from '../domain/state/turn.ts'
import type { SentImages } from '../domain/turns/shown.ts'
import { contextLimits } from './limits.ts'

/** How an image stands in a request: as itself, or why not. */
export type ImageForm = 'shown' | 'no_vision' | 'too_large' | 'left_out' | 'refused'

/** The sentence that stands for an image. */
export const insteadOf: Readonly<Record<Exclude<ImageForm, 'shown'>, string>> = {
  no_vision: 'The image itself is not shown, because this model takes no images.',
  too_large: 'The image itself is not shown: it takes too much of the window; make a smaller copy.',
  left_out: 'The image itself is not shown any more; ViewImage again to see it.',
  refused: 'The image itself is not shown, because the provider refused a request with it.',
}

export type ImagesView = {
  vision: boolean
  /** Whether the provider refused the images of this turn. */
  refused: boolean
  /** Tokens of the model's window. */
  window: number
  /** The round whose request was compacted last; 0: none was. */
  compacted: number
}

type Rounds = readonly { round: Pick<Round, 'n'>; calls: readonly Call[] }[]
type Kept = { key: string; image: Image }

/** An image of a message, among those of calls, which have the call's id. */
export const sentKey = ({ id }: Pick<SentImages, 'id'>, at: number): string => `${id} ${at + 1}`

/** The keys of the images that the next request shows. */
export function imagesShown(
  rounds: Rounds,
  view: ImagesView,
  sent: readonly SentImages[] = [],
): ReadonlySet<string> {
  if (!view.vision || view.refused) return new Set()
  let kept: Kept[] = []
  for (const one of inOrder(rounds, sent, view)) {
    if (imageTokens(one.image) > roomOf(view)) continue
    kept.push(one)
    if (isOver(kept, view, 1)) kept = newest(kept, view)
  }
  return new Set(kept.map(({ key }) => key))
}

/**
 * What may be shown: of each round the images of the messages that its request carries, then those
 * of its results. A compacted request shows those that the model has not seen yet.
 */
function* inOrder(
  rounds: Rounds,
  sent: readonly SentImages[],
  { compacted }: ImagesView,
): Iterable<Kept> {
  for (const { round, calls } of rounds) {
    for (const message of sent) {
      if (message.round !== round.n || round.n < compacted) continue
      for (const [at, image] of message.images.entries()) yield { key: sentKey(message, at), image }
    }
    if (round.n < compacted - 1) continue
    for (const { id, result } of calls.toSorted((a, b) => a.index - b.index)) {
      const image = imageOf(result)
      if (image !== null) yield { key: id, image }
    }
  }
}

/** How the image of this key stands in a request that shows these. */
export function imageForm(
  key: string,
  image: Image,
  shown: ReadonlySet<string>,
  view: ImagesView,
): ImageForm {
  if (shown.has(key)) return 'shown'
  if (!view.vision) return 'no_vision'
  if (view.refused) return 'refused'
  return imageTokens(image) > roomOf(view) ? 'too_large' : 'left_out'
}

const roomOf = ({ window }: ImagesView): number =>
  Math.floor(window * contextLimits.images_share.value)

function newest(kept: readonly Kept[], view: ImagesView): Kept[] {
  let from = 0
  while (from < kept.length - 1 && isOver(kept.slice(from), view, 2)) from += 1
  return kept.slice(from)
}

/** Whether they take more than this part of the room: 1 is all of it, 2 is half. */
function isOver(kept: readonly Kept[], view: ImagesView, part: 1 | 2): boolean {
  const sum = (of: (image: Image) => number) => kept.reduce((all, { image }) => all + of(image), 0)
  return (
    kept.length > contextLimits.images.value / part ||
    sum(({ bytes }) => bytes) > contextLimits.images_bytes.value / part ||
    sum(imageTokens) > roomOf(view) / part
  )
}
