/**
 * Which seqs of an agent have been heard: sorted ranges that neither overlap nor touch. A seq is
 * taken once, in whatever order pages and events come. Values; nothing is changed in place.
 */
export type Range = { readonly from: number; readonly to: number }

export function covers(ranges: readonly Range[], seq: number): boolean {
  for (let at = ranges.length - 1; at >= 0; at -= 1) {
    const range = ranges[at]
    if (range === undefined || seq > range.to) return false
    if (seq >= range.from) return true
  }
  return false
}

/** With the range `from` to `to` in it, both ends included. */
export function joined(ranges: readonly Range[], from: number, to: number): readonly Range[] {
  const last = ranges.at(-1)
  if (last !== undefined && from >= last.from && from <= last.to + 1) {
    return to <= last.to ? ranges : [...ranges.slice(0, -1), { from: last.from, to }]
  }
  const before = ranges.filter((range) => range.to < from - 1)
  const after = ranges.filter((range) => range.from > to + 1)
  const met = ranges.slice(before.length, ranges.length - after.length)
  const whole = {
    from: Math.min(from, ...met.map((range) => range.from)),
    to: Math.max(to, ...met.map((range) => range.to)),
  }
  return [...before, whole, ...after]
}

/** What lies between the ranges. */
export const holes = (ranges: readonly Range[]): Range[] =>
  ranges.slice(1).map((range, n) => ({ from: (ranges[n]?.to ?? 0) + 1, to: range.from - 1 }))
