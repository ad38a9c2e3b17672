/**
 * How deep a JSON text lies, counted before anything parses it, so that no parser recurses into a
 * hostile one (docs/spec/http.md#who-comes-in).
 */
const quote = 0x22
const backslash = 0x5c

/**
 * Whether no object or array of a JSON text, or of its UTF-8 bytes, lies deeper than `limit`. One
 * pass, no recursion. Of what is no JSON it says something, and never throws.
 */
export function isShallow(json: string | Uint8Array, limit: number): boolean {
  const codeAt =
    typeof json === 'string' ? (n: number) => json.charCodeAt(n) : (n: number) => json[n]
  let depth = 0
  let inString = false
  for (let n = 0; n < json.length; n += 1) {
    const code = codeAt(n)
    if (inString) {
      if (code === backslash) n += 1
      else if (code === quote) inString = false
    } else if (code === quote) inString = true
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > limit) return false
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return true
}
