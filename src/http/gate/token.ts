/**
 * The control token of a home: 256 bits in a file only its user may read, made at first start.
 * Tokens are compared as hashes in constant time, read anew on each request so that a new one holds
 * at once (docs/spec/http.md#who-comes-in).
 */
import { createHash, timingSafeEqual } from 'node:crypto'

/** Bytes of randomness in a token. */
export const tokenBytes = 32

export type TokenCheck = (given: string) => Promise<boolean>

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest()

/** `read` gives the home's token, or null when there is none: then nothing is valid. */
export function checkAgainst(read: () => Promise<string | null>): TokenCheck {
  return async (given) => {
    const token = await read()
    const wanted = digest(token ?? '')
    const equal = timingSafeEqual(digest(given), wanted)
    return token !== null && token.length >= tokenBytes && equal
  }
}
