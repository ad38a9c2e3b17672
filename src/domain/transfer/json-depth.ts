/**
 * How deep a JSON text lies and how many values it has, counted before anything parses it, so that
 * no parser recurses into a hostile one, and none judges a million values one by one
 * (docs/spec/http.md#who-comes-in).
 */
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/** Whether no object or array of a JSON text, or of its UTF-8 bytes, lies deeper than `limit`. */
export const isShallow = (json: string | Uint8Array, limit: number): boolean =>
  jsonExcess(json, { depth: limit, values: Infinity }) === null

/**
 * Which bound a JSON text, or its UTF-8 bytes, goes beyond first. `values` are those behind a comma
 * and those that open an object or array. One pass, no recursion. Of what is no JSON it says
 * something, and never throws.
 */
export function jsonExcess(
  json: string | Uint8Array,
  most: { depth: number; values: number },
): 'depth' | 'values' | null {
  const codeAt =
    typeof json === 'string' ? (n: number) => json.charCodeAt(n) : (n: number) => json[n]
  let [depth, values] = [0, 0]
  let inString = false
  for (let n = 0; n < json.length; n += 1) {
    const code = codeAt(n)
    if (inString) {
      if (code === backslash) n += 1
      else if (code === quote) inString = false
    } else if (code === quote) inString = true
    else if (code === comma) values += 1
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      values += 1
      if (depth > most.depth) return 'depth'
    } else if (code === 0x7d || code === 0x5d) depth -= 1
    if (values > most.values) return 'values'
  }
  return null
}
