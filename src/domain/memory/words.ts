/**
 * Words as a search sees them. A text is letters and digits between anything else, so that
 * `snake_case`, paths and ids are several words in a row. What that misses is written down beside
 * the text (`partsOf`): the parts of `camelCase`, the short form of ids, and each character of
 * scripts that put no space between words.
 *
 * A query has words, "phrases" and prefix*. A word of four letters or more also finds words that it
 * is a part of, in whatever language: `factor` finds `refactoring`. Whatever else a query contains
 * separates: there is no operator in it and nothing in it can be wrong.
 */

export type Term = {
  /** In a row, folded. */
  words: readonly string[]
  /** The same as they were written, letters and digits only, with spaces between. */
  written: string
  /** What the last word is of a word that is found; a part may be its beginning, too. */
  reach: 'whole' | 'beginning' | 'part'
  /** The same as it is written down beside the text; null: the text alone has it. */
  parts: readonly string[] | null
}

/** Terms of one query at most; the rest is not looked for. */
export const mostTerms = 16
/** Letters before a `*`: fewer would be half of all words. */
export const shortestPrefix = 3
/** Letters of a word that may be a part of one without a `*`. */
export const shortestStem = 4
/** Letters that most endings take off a word: `refactoring`, `Rechnungen`. */
export const usualEnding = 3

const word = /[\p{L}\p{N}\p{M}]+/gu
const hump = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
/** Words that a part is looked for in: of these there are few, of numbers and ids without end. */
const searchable = /^\p{L}{5,40}$/u
const unspaced = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]/u
const ids = /\b([a-z]{2,6})_[0-9a-f]{8}-[0-9a-f-]{23}([0-9a-f]{4})\b/g

/** Of a word as long as that, humps are noise: base64, hashes. */
const longestHumped = 60

export const fold = (text: string): string =>
  /^[a-z0-9]*$/i.test(text)
    ? text.toLowerCase()
    : text
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .toLowerCase()

/** Every word of a text, folded, in order, with where it stands. */
export function* wordsIn(text: string): Generator<{ word: string; from: number; to: number }> {
  for (const found of text.matchAll(word)) {
    const from = found.index
    yield { word: fold(found[0]), from, to: from + found[0].length }
  }
}

/** Words of a text of which a part may be looked for, folded, each once. */
export const wholesOf = (text: string): ReadonlySet<string> =>
  new Set([...wordsIn(text)].map(({ word: one }) => one).filter((one) => searchable.test(one)))

/** What is indexed beside a text. */
export function partsOf(text: string): string {
  const parts = new Set<string>()
  for (const [found] of text.matchAll(word)) {
    const some = humpsOf(found) ?? charactersOf(found)
    if (some !== null) parts.add(some.join(' '))
  }
  for (const [, noun, end] of text.matchAll(ids)) parts.add(`${noun} ${end}`)
  return [...parts].join('\n')
}

export function humpsOf(text: string): readonly string[] | null {
  if (text.length > longestHumped || !/\p{Lu}/u.test(text.slice(1))) return null
  const parts = text.split(hump)
  return parts.length > 1 ? parts.map(fold) : null
}

const charactersOf = (text: string): readonly string[] | null =>
  unspaced.test(text) ? Array.from(fold(text)) : null

/** The terms of a query, without those that are there twice. */
export function termsOf(query: string): readonly Term[] {
  const terms = new Map<string, Term>()
  for (const [, phrase, bare = ''] of query.matchAll(/"([^"]*)"|([^\s"]+)/g)) {
    const text = phrase ?? bare
    const said = [...text.matchAll(word)].map(([one]) => one).filter((one) => fold(one) !== '')
    const words = said.map(fold)
    const last = words.at(-1) ?? ''
    if (words.length === 0) continue
    const isMarked = /\*[^\p{L}\p{N}]*$/u.test(text)
    const goesOn = last.length >= (isMarked ? shortestPrefix : shortestStem)
    const open = isMarked || words.length > 1 ? 'beginning' : 'part'
    const reach = phrase === undefined && goesOn ? open : 'whole'
    const term: Term = { words, written: said.join(' '), reach, parts: besideOf(said) }
    terms.set(`${words.join(' ')} ${reach}`, term)
    if (terms.size === mostTerms) break
  }
  return [...terms.values()]
}

/**
 * The same with up to `ending` letters less of each word that may go on, four letters at the least:
 * `refactoring` finds `refactor` too.
 */
export const stemsOf = (terms: readonly Term[], ending: number): readonly Term[] =>
  terms.map((term) => {
    if (term.reach === 'whole') return term
    const { words, written, parts } = term
    return {
      reach: 'beginning',
      words: stemmed(words, ending),
      written: stem(written, ending),
      parts: parts && stemmed(parts, ending),
    }
  })

const stemmed = (words: readonly string[], ending: number): readonly string[] => [
  ...words.slice(0, -1),
  stem(words.at(-1) ?? '', ending),
]

/** Letters come in pairs and with marks: what is left must be one that can be written. */
function stem(text: string, ending: number): string {
  const letters = Array.from(text)
  const last = letters.length - (letters.lastIndexOf(' ') + 1)
  const kept = Math.min(last, Math.max(shortestStem, last - ending))
  return letters.slice(0, letters.length - (last - kept)).join('')
}

/** A single word that is written down in parts. */
function besideOf([first = '', ...more]: readonly string[]): readonly string[] | null {
  return more.length > 0 ? null : (humpsOf(first) ?? charactersOf(first))
}
