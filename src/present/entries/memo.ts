/**
 * Entries that are made of an entry and others below it, kept as long as these are the same
 * objects: what nothing touched is the same object as before. Pure but for what it keeps.
 */
import type { Entry, Level } from './entry.ts'

type Kept = { below: readonly Entry[]; level: Level; whole: Entry }
export type KeptEntries = WeakMap<Entry, Kept>

/** The kept one, else what `make` makes, which is told what was kept before. */
export function kept(
  known: KeptEntries,
  entry: Entry,
  below: readonly Entry[],
  level: Level,
  make: (before: Entry | undefined) => Entry,
): Entry {
  const before = known.get(entry)
  const isSame =
    before?.level === level &&
    before.below.length === below.length &&
    before.below.every((one, n) => one === below[n])
  if (isSame) return before.whole
  const whole = make(before?.whole)
  known.set(entry, { below, level, whole })
  return whole
}
