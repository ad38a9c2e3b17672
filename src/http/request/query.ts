/**
 * Queries as strict schemas: a parameter that does not exist is a mistake of the caller, answered
 * with the name that is nearest; and the parameters that every list has.
 */
import { z } from 'zod'
import type { ZodRawShape } from 'zod'

/** Entries of a page: what a screen shows, and at most what one answer should hold. */
const usualLimit = 50
const mostLimit = 200

export const limit = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'is not a whole number from 1 on')
  .transform(Number)
  .pipe(z.number().max(mostLimit, `is more than ${mostLimit}`))
  .default(usualLimit)
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: mostLimit,
    default: usualLimit,
    description: 'Entries of the page, at most.',
  })

const pageShape = {
  limit,
  cursor: z
    .string()
    .min(1)
    .max(400)
    .optional()
    .meta({ description: '`next_cursor` of the page before: what is older than that page.' }),
  before: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'An id, or its beginning or end: what is older than that entry.' }),
}

/** A query with exactly these parameters. */
export const queryOf = <S extends ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknown(issue.keys, Object.keys(shape)) : undefined,
  })

/** The query of a list: `limit`, `cursor` or `before`, and its own filters. */
export const listQuery = <S extends ZodRawShape>(filters: S) =>
  queryOf({ ...pageShape, ...filters })

/** A route that takes no parameter at all. */
export const noQuery = queryOf({})

export type PageQuery = {
  limit: number
  cursor?: string | undefined
  before?: string | undefined
}

/** True or false, as words. */
export const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .default(false)
  .meta({ type: 'boolean', default: false })

/** Words of one list, separated by commas. */
export const wordsOf = <W extends string>(words: readonly [W, ...W[]]) =>
  z
    .string()
    .transform((text, ctx): W[] => {
      const known = new Set<string>(words)
      const given = text.split(',')
      for (const word of given) {
        if (known.has(word)) continue
        const near = nearest(word, words)
        const message = near === null ? '' : `; did you mean ${near}?`
        ctx.addIssue({ code: 'custom', message: `"${word}" is not one of them${message}` })
      }
      return [...new Set(given)] as W[]
    })
    .meta({
      type: 'string',
      pattern: `^(${words.join('|')})(,(${words.join('|')}))*$`,
      description: `One or more of ${words.join(', ')}, separated by commas.`,
    })

function unknown(keys: readonly string[], known: readonly string[]): string {
  const [key = ''] = keys
  const near = nearest(key, known)
  const list =
    known.length === 0
      ? 'this route takes none'
      : `there are: ${known.map((name) => `"${name}"`).join(', ')}`
  return near === null
    ? `there is no parameter "${key}"; ${list}`
    : `there is no parameter "${key}"; did you mean "${near}"?`
}

/** The known word that takes the fewest edits, unless it takes more than half of its letters. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: { name: string; edits: number } | null = null
  for (const name of known) {
    const edits = editsBetween(word.slice(0, 60).toLowerCase(), name.toLowerCase())
    if (edits <= name.length / 2 && (best === null || edits < best.edits)) best = { name, edits }
  }
  return best?.name ?? null
}

function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same)
    }
    row = next
  }
  return row[b.length] ?? 0
}
