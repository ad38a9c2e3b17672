/**
 * Every text of a JSON value changed by one function, keys too, at any depth: for secrets and
 * places that must not be in what leaves.
 */

/**
 * The value with `change` applied to its texts; the same reference where nothing changed. Anything
 * but text, lists and plain objects is passed through. Never changes what it is given.
 */
export function withTexts<T>(value: T, change: (text: string) => string): T {
  const walk = (one: unknown): unknown => {
    if (typeof one === 'string') return change(one)
    if (typeof one !== 'object' || one === null) return one
    if (Array.isArray(one)) {
      const made = one.map(walk)
      return made.every((entry, index) => entry === one[index]) ? one : made
    }
    const kind: unknown = Object.getPrototypeOf(one)
    if (kind !== Object.prototype && kind !== null) return one
    let same = true
    const entries: [string, unknown][] = []
    for (const [key, entry] of Object.entries(one)) {
      const made: [string, unknown] = [change(key), walk(entry)]
      same &&= made[0] === key && made[1] === entry
      entries.push(made)
    }
    // `fromEntries` defines properties: a key `__proto__` stays a key.
    return same ? one : Object.fromEntries(entries)
  }
  return walk(value) as T
}
