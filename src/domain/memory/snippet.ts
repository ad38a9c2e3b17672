/**
 * The piece of a text that shows why it was found: one line around the first place where most of
 * the words stand together, with each of them in « ». Pure.
 */
import { fold, humpsOf, wordsIn, type Term } from './words.ts'

/** Characters of the piece, without its marks. */
export const snippetLength = 200
/** Places looked at before the best so far is good enough. */
const mostPlaces = 60

type Place = { from: number; to: number; term: number }

export function snippetOf(text: string, terms: readonly Term[]): string {
  const best = bestPlaces(text, terms)
  const first = best[0]?.from ?? 0
  const last = best.at(-1)?.to ?? 0
  const room = Math.max(0, snippetLength - (last - first))
  const from = wordStart(text, Math.max(0, first - Math.floor(room / 3)))
  const to = Math.min(text.length, Math.max(last, from + snippetLength))
  let made = from > 0 ? '…' : ''
  let at = from
  for (const place of best) {
    if (place.from < at) continue
    made += `${text.slice(at, place.from)}«${text.slice(place.from, place.to)}»`
    at = place.to
  }
  made += text.slice(at, to) + (to < text.length ? '…' : '')
  return made.replace(/\s+/g, ' ').trim().toWellFormed()
}

/** The places of the first stretch with the most different terms. */
function bestPlaces(text: string, terms: readonly Term[]): Place[] {
  const places: Place[] = []
  let best: Place[] = []
  let distinct = 0
  let seen = 0
  for (const place of placesOf(text, terms)) {
    places.push(place)
    while ((places[0]?.from ?? 0) < place.to - snippetLength) places.shift()
    const now = new Set(places.map(({ term }) => term)).size
    if (now > distinct) {
      distinct = now
      best = [...places]
    } else if (places[0] === best[0]) best = [...places]
    seen += 1
    if (seen >= mostPlaces) break
    if (distinct === terms.length && places[0] !== best[0]) break
  }
  return best
}

function* placesOf(text: string, terms: readonly Term[]): Generator<Place> {
  const longest = Math.max(1, ...terms.map(({ words }) => words.length))
  /** The last words, as many as the longest phrase has. */
  const row: { word: string; from: number; to: number }[] = []
  for (const found of wordsIn(text)) {
    row.push(found)
    if (row.length > longest) row.shift()
    const at = terms.findIndex((term) => endsWith(row, term) || isPart(text, found, term))
    if (at === -1) continue
    const length = terms[at]?.words.length ?? 1
    const from = endsWith(row, terms[at]) ? (row.at(-length)?.from ?? found.from) : found.from
    yield { from, to: found.to, term: at }
  }
}

function endsWith(row: readonly { word: string }[], term: Term | undefined): boolean {
  if (term === undefined || row.length < term.words.length) return false
  const last = term.words.length - 1
  return term.words.every((word, i) => {
    const said = row[row.length - term.words.length + i]?.word ?? ''
    return i === last ? reaches(term, said, word) : said === word
  })
}

function reaches({ reach }: Term, said: string, word: string): boolean {
  switch (reach) {
    case 'whole':
      return said === word
    case 'beginning':
      return said.startsWith(word)
    case 'part':
      return said.includes(word)
  }
}

/** Whether the word has the term as one of its parts: `config` of `parseConfig`, or a character. */
function isPart(text: string, { from, to }: Pick<Place, 'from' | 'to'>, term: Term): boolean {
  if (term.words.length > 1) return false
  const written = text.slice(from, to)
  const wanted = term.parts ?? term.words
  const parts = humpsOf(written)
  if (parts === null) return term.parts !== null && fold(written).includes(term.parts.join(''))
  return parts.some((_, i) =>
    wanted.every((word, n) => {
      const part = parts[i + n] ?? ''
      const goesOn = term.reach !== 'whole' && n === wanted.length - 1
      return goesOn ? part.startsWith(word) : part === word
    }),
  )
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0
  const space = text.slice(at, at + 30).search(/\s/)
  return space === -1 ? at : at + space + 1
}
