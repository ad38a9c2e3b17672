/**
 * The nearest valid name to a mistyped one, for a rejection's remedy. Pure.
 */

/** Null when nothing is near: more than half of the letters would have to change. */
export function nearest(name: string, known: readonly string[]): string | null {
  let best: { name: string; distance: number } | null = null
  for (const candidate of known) {
    const found = distance(name.toLowerCase(), candidate.toLowerCase())
    if (best === null || found < best.distance) best = { name: candidate, distance: found }
  }
  if (best === null) return null
  return best.distance <= Math.max(name.length, best.name.length) / 2 ? best.name : null
}

/** Letters inserted, deleted or changed to get from `a` to `b`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
