/**
 * What a model says in an open request, put together of its pieces as they are heard
 * (docs/spec/http.md#live-frames): a piece at 0 begins anew, one that was heard in part adds the
 * rest, and where the middle was not heard a line says so. Bounded. Pure.
 */
import { bounds } from './limits.ts'

export type HeardText = {
  readonly text: string
  /** Characters that were said, also those that are not held. */
  readonly length: number
}

export const nothingHeard: HeardText = { text: '', length: 0 }

export const cutLine = '\n… cut here; the record has it whole …\n'

export function withPiece(
  heard: HeardText,
  { at, text }: { readonly at: number; readonly text: string },
): HeardText {
  if (at === 0) return { text: bounded(text), length: text.length }
  const end = at + text.length
  if (end <= heard.length) return heard
  const next =
    at > heard.length ? heard.text + cutLine + text : heard.text + text.slice(heard.length - at)
  return { text: bounded(next), length: end }
}

/** Head, a line that says so, tail. */
export function bounded(text: string): string {
  if (text.length <= bounds.live_text) return text
  const half = bounds.live_text / 2 - cutLine.length
  return `${text.slice(0, half)}${cutLine}${text.slice(-half)}`
}
