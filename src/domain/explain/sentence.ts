/**
 * The one sentence about an item, from its record's words. By itself: a screen that only repeats
 * what a record says does not load the rules that made it.
 */

type Words = { objective: string; why: string; detail: string | null }

/** One sentence; `why` may be the record's with its times and ids shortened. */
export const sentenceOf = ({ objective, why, detail }: Words): string =>
  clauseOf(`${headline(objective)} ${why}`, detail)

/** What is said of one thing that holds it. */
export const clauseOf = (why: string, detail: string | null): string =>
  detail === null ? `${why}.` : `${why}: ${quoted(detail)}`

/** The objective's first line, without the full stop that would end our sentence. */
const headline = (objective: string): string =>
  (objective.split('\n', 1)[0] ?? '').trim().replace(/\.+$/, '')

/** Foreign words at the end of our sentence: theirs ends it, or we do. */
function quoted(text: string): string {
  const words = `"${text.replaceAll(/\s+/g, ' ').trim()}"`
  return /[.?!…]"$/.test(words) ? words : `${words}.`
}
