/**
 * Secrets replaced by handles before anything is written (docs/spec/security.md#secrets): every
 * registered value, in each spelling it could be printed in, becomes `{{secret:name}}`. Pure but
 * for the registry.
 *
 * One pass over a text finds the leftmost, then longest spelling. Each spelling has at least eight
 * characters, so the search looks at every sixth character or so of ordinary text, and at none when
 * no secret is registered.
 */
import { withTexts } from './map-texts.ts'
import { spellingsOf } from './encodings.ts'

export type Secret = { name: string; value: string }
/** `why` is a sentence; the value stays as it is wherever it is written. */
export type Registered = { ok: true } | { ok: false; why: string }

export interface Redactor {
  /** The text, the same one when nothing was in it. */
  text(text: string): string
  /**
   * Plain data with the texts and keys in it redacted, at any depth; the same reference where
   * nothing was in it. Anything but text, lists and plain objects is passed through.
   */
  json<T>(value: T): T
  /**
   * For a text that comes in pieces: together they are what `text` makes of the whole, however it
   * was cut. Only the end that could become a secret is held back.
   */
  stream(): RedactedStream
  /** From now on `value` is replaced. Again under another name: the first name stays. */
  register(name: string, value: string): Registered
}

export interface RedactedStream {
  push(piece: string): string
  /** What was held back. Afterwards the stream begins anew. */
  end(): string
}

/** Characters of the shortest secret: a shorter one would hit ordinary words. */
export const shortestSecret = 8
/** Of one in small letters only: `operator`, `external` stand in every row the runtime writes. */
const shortestWord = 20
/** Characters of the longest: a key file with its certificates has about 8,000. */
export const longestSecret = 16_384

/** Refused secrets are returned beside the redactor, for a warning that names them. */
export function createRedactor(secrets: readonly Secret[] = []): {
  redactor: Redactor
  refused: { name: string; why: string }[]
} {
  const redactor = new PatternRedactor()
  const refused = secrets.flatMap(({ name, value }) => {
    const done = redactor.register(name, value)
    return done.ok ? [] : [{ name, why: done.why }]
  })
  return { redactor, refused }
}

/** Characters of the window that is looked at, and of the block at its end that is hashed. */
const windowLength = shortestSecret
const blockLength = 3
const longestShift = windowLength - blockLength + 1
const tableSize = 65_536

class PatternRedactor implements Redactor {
  /** Each spelling with its handle. */
  readonly #handles = new Map<string, string>()
  /** By the hash of the block: how far the window may move; 0 where a spelling may begin. */
  readonly #shifts = new Uint8Array(tableSize).fill(longestShift)
  /** By the hash of the last block of their first window: spellings, longest first. */
  readonly #buckets = new Map<number, string[]>()
  /** Spellings in order, for what a text may end in; null when one was added since. */
  #sorted: string[] | null = null
  #firstCodes = new Set<number>()
  #longest = 0

  register(name: string, value: string): Registered {
    if (!/^[A-Za-z0-9._:/-]{1,100}$/.test(name)) {
      return { ok: false, why: 'its name may have letters, digits and . _ : / - only' }
    }
    if (value.length < shortestSecret) {
      const why = `it has fewer than ${shortestSecret} characters: ordinary words would be replaced`
      return { ok: false, why }
    }
    if (/^[a-z_-]*$/.test(value) && value.length < shortestWord) {
      const why = 'it is made like an ordinary word: names of fields and texts would be replaced'
      return { ok: false, why }
    }
    if (value.length > longestSecret) {
      return { ok: false, why: `it has more than ${longestSecret} characters` }
    }
    for (const spelling of spellingsOf(value)) this.#add(spelling, `{{secret:${name}}}`)
    return { ok: true }
  }

  text(text: string): string {
    if (this.#longest === 0 || text.length < windowLength) return text
    let made = ''
    let done = 0
    for (let hit = this.#find(text, 0); hit !== null; hit = this.#find(text, done)) {
      made += text.slice(done, hit.at) + hit.handle
      done = hit.end
    }
    return done === 0 ? text : made + text.slice(done)
  }

  json<T>(value: T): T {
    return this.#longest === 0 ? value : withTexts(value, (text) => this.text(text))
  }

  stream(): RedactedStream {
    let held = ''
    return {
      push: (piece) => {
        if (this.#longest === 0 && held === '') return piece
        const settled = this.#settle(held + piece)
        held = settled.held
        return settled.text
      },
      end: () => {
        const rest = held
        held = ''
        return this.text(rest)
      },
    }
  }

  #add(spelling: string, handle: string): void {
    if (this.#handles.has(spelling)) return
    this.#handles.set(spelling, handle)
    this.#longest = Math.max(this.#longest, spelling.length)
    this.#firstCodes.add(spelling.charCodeAt(0))
    this.#sorted = null
    for (let end = blockLength; end <= windowLength; end++) {
      const hash = hashAt(spelling, end - blockLength)
      this.#shifts[hash] = Math.min(this.#shifts[hash] ?? 0, windowLength - end)
    }
    const hash = hashAt(spelling, windowLength - blockLength)
    const bucket = [...(this.#buckets.get(hash) ?? []), spelling]
    this.#buckets.set(
      hash,
      bucket.toSorted((a, b) => b.length - a.length),
    )
  }

  /** The leftmost spelling at or after `from`, the longest of those that begin there. */
  #find(text: string, from: number): { at: number; end: number; handle: string } | null {
    const shifts = this.#shifts
    const last = text.length - windowLength
    for (let at = from; at <= last;) {
      const hash = hashAt(text, at + windowLength - blockLength)
      const shift = shifts[hash] ?? 0
      if (shift > 0) {
        at += shift
        continue
      }
      for (const spelling of this.#buckets.get(hash) ?? []) {
        if (!text.startsWith(spelling, at)) continue
        return { at, end: at + spelling.length, handle: this.#handles.get(spelling) ?? '' }
      }
      at += 1
    }
    return null
  }

  /** What of a text is certain whatever follows it, and what is not yet. */
  #settle(text: string): { text: string; held: string } {
    let made = ''
    let done = 0
    for (;;) {
      const hit = this.#find(text, done)
      const open = this.#openFrom(text, done)
      // A spelling that is not whole yet and begins no later than the hit may still win over it.
      if (hit === null || open <= hit.at) {
        return { text: made + text.slice(done, open), held: text.slice(open) }
      }
      made += text.slice(done, hit.at) + hit.handle
      done = hit.end
    }
  }

  /** Where the longest end of the text begins that a spelling begins with and goes beyond. */
  #openFrom(text: string, from: number): number {
    this.#sorted ??= [...this.#handles.keys()].toSorted(byCode)
    for (let at = Math.max(from, text.length - this.#longest + 1); at < text.length; at++) {
      if (this.#firstCodes.has(text.charCodeAt(at)) && begins(this.#sorted, text.slice(at))) {
        return at
      }
    }
    return text.length
  }
}

/** Any two different blocks may share a hash; the bucket compares whole spellings. */
function hashAt(text: string, at: number): number {
  const [a, b, c] = [text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)]
  return ((a << 10) ^ (b << 5) ^ c) & (tableSize - 1)
}

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Whether one of the sorted texts begins with `start` and goes on. */
function begins(sorted: readonly string[], start: string): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? '') <= start) low = middle + 1
    else high = middle
  }
  return sorted[low]?.startsWith(start) ?? false
}
