/**
 * The spellings of a secret: each way its value is likely to be printed, as texts to search for.
 * Pure. All have at least as many characters as the value.
 */

const upperHex = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, '0')
const lowerHex = (byte: number): string => byte.toString(16).padStart(2, '0')

/** The value itself, as JSON, base64, hex and in a URL; without repetition. */
export function spellingsOf(value: string): Set<string> {
  const bytes = new TextEncoder().encode(value)
  return new Set([
    value,
    ...jsonSpellings(value),
    ...base64Spellings(bytes),
    [...bytes].map(lowerHex).join(''),
    [...bytes].map(upperHex).join(''),
    ...percentSpellings(bytes),
  ])
}

/** In a JSON text, and in a JSON text that stands inside another; with and without non-ASCII. */
function jsonSpellings(value: string): string[] {
  const inside = (text: string): string => JSON.stringify(text).slice(1, -1)
  const ascii = (hex: (code: number) => string) => (text: string) =>
    text.replaceAll(/[^\0-\x7e]/g, (unit) => `\\u${hex(unit.charCodeAt(0))}`)
  const lower = ascii((code) => code.toString(16).padStart(4, '0'))
  const upper = ascii((code) => code.toString(16).toUpperCase().padStart(4, '0'))
  const once = [inside(value), lower(inside(value)), upper(inside(value))]
  const slashed = once.map((text) => text.replaceAll('/', '\\/'))
  return [...once, ...slashed, ...once.map(inside)]
}

/**
 * Whatever stands before it: the three ways the bytes can fall into groups of three, each without
 * the characters that also hold bits of a neighbour; and the whole, as it is encoded alone.
 */
function base64Spellings(bytes: Uint8Array): string[] {
  const standard = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor(((before + bytes.length) * 8) / 6)
    return base64(padded).slice(from, to)
  })
  const alone = base64(bytes)
  return [...standard, alone, alone.replaceAll('=', '')].flatMap((text) => [
    text,
    text.replaceAll('+', '-').replaceAll('/', '_'),
  ])
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function base64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const group = (a << 16) | (b << 8) | c
    for (const shift of [18, 12, 6, 0]) text += alphabet.charAt((group >> shift) & 63)
  }
  const padding = (3 - (bytes.length % 3)) % 3
  return text.slice(0, text.length - padding) + '='.repeat(padding)
}

/** What encoders of URLs leave as it is: component, RFC 3986, paths, forms, whole URLs, none. */
const keptInUrls: readonly RegExp[] = [
  /[\w.!~*'()-]/,
  /[\w.~-]/,
  /[\w.~/-]/,
  /[\w.*-]/,
  /[\w.!~*'();/?:@&=+$,#-]/,
  /(?!)/,
]

function percentSpellings(bytes: Uint8Array): string[] {
  const found: string[] = []
  for (const hex of [upperHex, lowerHex]) {
    for (const kept of keptInUrls) {
      const encoded = [...bytes].map((byte) => {
        const char = String.fromCharCode(byte)
        return byte < 0x80 && kept.test(char) ? char : `%${hex(byte)}`
      })
      found.push(encoded.join(''), encoded.map((one) => (one === '%20' ? '+' : one)).join(''))
    }
  }
  return found
}
