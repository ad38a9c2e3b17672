/**
 * A text by graphemes, as `Intl.Segmenter` cuts it, without its tables where they are not needed:
 * making one reads megabytes and takes 13 ms, and most texts of a screen never need it.
 */

/** Characters of which each is a grapheme of one cell, beside any other of them. */
const single =
  '\\u0020-\\u007e\\u00a1-\\u00ac\\u00ae-\\u02ff\\u2010-\\u2027\\u2030-\\u205e\\u2190-\\u21ff' +
  '\\u2500-\\u257f\\u25a0-\\u25fc\\u2713\\u2717\\u2800-\\u28ff'

/** A text whose cells are as many as its characters. */
export const oneCellEach = new RegExp(`^[${single}]*$`)

/** These, and what a terminal reads: each one alone as well. */
const oneGraphemeEach = new RegExp(`^[\\u001b\\n${single}]*$`)

export type Grapheme = { segment: string; index: number }
export type Graphemes = Iterable<Grapheme> & { containing(at: number): Grapheme | undefined }

class SingleCharacters implements Graphemes {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  *[Symbol.iterator](): Generator<Grapheme> {
    const text = this.#text
    for (let index = 0; index < text.length; index += 1)
      yield { segment: text.charAt(index), index }
  }

  containing(at: number): Grapheme | undefined {
    const segment = this.#text[at]
    return segment === undefined ? undefined : { segment, index: at }
  }
}

let segmenter: Intl.Segmenter | null = null

/** Stands where a library makes an `Intl.Segmenter` of graphemes: scripts/library-changes.mjs. */
export const graphemes = {
  segment(text: string): Graphemes {
    if (oneGraphemeEach.test(text)) return new SingleCharacters(text)
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
    return segmenter.segment(text)
  },
}
