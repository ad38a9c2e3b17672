/** Names inside a sentence, marked, so that none is read as a word of it. Pure. */

/** `there are: "main", "runbooks"`; `none` where there is none. */
export function thereAre(names: readonly string[], none = 'there is none yet'): string {
  if (names.length === 0) return none
  return `there ${names.length === 1 ? 'is' : 'are'}: ${names.map((one) => `"${one}"`).join(', ')}`
}
