/**
 * A fuzz of what reads foreign text, by a seed: documents made of right pieces, of pieces that are
 * cut, doubled, repeated thousands of times or swapped, and of any letters. Each reader must answer
 * with a value or its one typed error, within a bound of processor time, and what it reads it must
 * read again as it is written back.
 */
import fc from 'fast-check'

/** What of a reader is tried. A complaint says what should not be; null: all is well. */
export type Reader = {
  name: string
  /** Right documents, or pieces of them: the material that is broken. */
  pieces: readonly string[]
  /** May be asked for any text; what it throws is a finding. */
  read(text: string): Complaint | Promise<Complaint>
}
export type Complaint = string | null

export type Tried = {
  reader: string
  cases: number
  /** The slowest case, in milliseconds of processor time, and how many letters it had. */
  slowest_ms: number
  slowest_length: number
  complaints: string[]
}

/**
 * Milliseconds of processor time that a text of at most `longest` letters may take: a reader that
 * is linear needs a few, one that is not needs seconds.
 */
export const bound_ms = 400
const longest = 60_000

/** Texts of these pieces: whole, in a row, spoilt, or one of them very often. */
export function textsOf(pieces: readonly string[]): fc.Arbitrary<string> {
  const piece = fc.constantFrom(...pieces)
  const letters = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.string({ unit: 'binary', maxLength: 30 }),
  )
  const soup = fc
    .array(fc.oneof({ weight: 4, arbitrary: piece }, { weight: 1, arbitrary: letters }), {
      maxLength: 12,
    })
    .map((parts) => parts.join(''))
  const spoilt = fc
    .tuple(fc.oneof(piece, soup), fc.nat(), fc.nat(), fc.oneof(letters, piece))
    .map(([text, from, cut, put]) => {
      const at = from % (text.length + 1)
      return text.slice(0, at) + put + text.slice(at + (cut % 20))
    })
  // One letter or piece many times is what a search with more than one way through dies of.
  const often = fc
    .tuple(
      fc.oneof(soup, fc.constant('')),
      fc.oneof(piece, fc.constantFrom(' ', '\n', '\t', '`', '-', '{', '~', '*', '0', 'a', '"')),
      fc.integer({ min: 100, max: 20_000 }),
      fc.oneof(letters, piece, fc.constant('')),
    )
    .map(([before, one, times, after]) => {
      const many = one.repeat(Math.min(times, Math.floor(longest / Math.max(1, one.length))))
      return before + many + after
    })
  return fc
    .oneof(
      { weight: 3, arbitrary: soup },
      { weight: 5, arbitrary: spoilt },
      { weight: 1, arbitrary: often },
      { weight: 1, arbitrary: letters },
    )
    .map((text) => text.slice(0, longest))
}

export async function tryReader(reader: Reader, cases: number, seed: number): Promise<Tried> {
  const tried: Tried = {
    reader: reader.name,
    cases: 0,
    slowest_ms: 0,
    slowest_length: 0,
    complaints: [],
  }
  const property = fc.asyncProperty(textsOf(reader.pieces), async (text) => {
    const from = process.cpuUsage()
    const complaint = await reader.read(text)
    const { user, system } = process.cpuUsage(from)
    const ms = (user + system) / 1_000
    tried.cases += 1
    if (ms > tried.slowest_ms) {
      tried.slowest_ms = Math.round(ms)
      tried.slowest_length = text.length
    }
    if (complaint !== null) throw new Error(complaint)
    if (ms > bound_ms) throw new Error(`it took ${Math.round(ms)} ms for ${text.length} letters`)
  })
  const found = await fc.check(property, { seed, numRuns: cases, endOnFailure: false })
  if (found.failed) {
    const text = JSON.stringify(found.counterexample?.[0] ?? '')
    const why = found.errorInstance instanceof Error ? found.errorInstance.message : 'it threw'
    const shown = text.length > 400 ? `${text.slice(0, 400)}… (${text.length})` : text
    tried.complaints.push(`${reader.name}: ${why}, for ${shown}`)
  }
  return tried
}
