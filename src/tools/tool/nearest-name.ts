/** The names a mistyped one may have meant, nearest first, for the hint of a refusal. Pure. */

/** At most `count` names, none of which would need half of its letters changed. */
export function nearestNames(given: string, known: readonly string[], count = 1): string[] {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return known
    .map((name) => ({ name, away: editsBetween(plain(given), plain(name)) }))
    .filter(({ name, away }) => away * 2 <= Math.max(plain(name).length, 2))
    .sort((a, b) => a.away - b.away)
    .slice(0, count)
    .map(({ name }) => name)
}

/** Insertions, deletions and changes of single letters; one row of the table at a time. */
function editsBetween(from: string, to: string): number {
  let above = [...Array(to.length + 1).keys()]
  for (const [i, letter] of from.split('').entries()) {
    const row = [i + 1]
    for (const [j, other] of to.split('').entries()) {
      const kept = (above[j] ?? 0) + (letter === other ? 0 : 1)
      row.push(Math.min(kept, (above[j + 1] ?? 0) + 1, (row[j] ?? 0) + 1))
    }
    above = row
  }
  return above.at(-1) ?? 0
}
