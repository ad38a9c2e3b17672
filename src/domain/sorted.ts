/**
 * Sorted lists that never change: a new one is made where something comes or goes. A few changes
 * in a long list cost a copy of it, and a comparison with a handful of its members each.
 */

type Order<T> = (a: T, b: T) => number

/** With more changes than one in so many members it is cheaper to sort anew. */
const fewOf = 16

/**
 * `list` without `gone` and with `come`, in the same total order. Each of `gone` is in the list, or
 * one that is equal to it by the order.
 */
export function placed<T>(
  list: readonly T[],
  gone: readonly T[],
  come: readonly T[],
  order: Order<T>,
): readonly T[] {
  const changes = gone.length + come.length
  if (changes === 0) return list
  const placeOf = (among: readonly T[], one: T) => first(among, (other) => order(other, one) >= 0)
  if (changes * fewOf > list.length) {
    const left = new Set(gone.map((one) => placeOf(list, one)))
    return list
      .filter((_, place) => !left.has(place))
      .concat(come)
      .toSorted(order)
  }
  const next = list.slice()
  for (const one of gone) next.splice(placeOf(next, one), 1)
  for (const one of come) next.splice(placeOf(next, one), 0, one)
  return next
}

/** The place of the first member of a list sorted by `at` that lies after `time`. */
export const since = <T>(list: readonly T[], time: string, at: (one: T) => string): number =>
  first(list, (one) => at(one) > time)

/** The place of the first that `holds`, when all after it do too; the length when none does. */
function first<T>(list: readonly T[], holds: (one: T) => boolean): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(list[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}
