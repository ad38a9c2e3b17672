/**
 * Upkeep of a home: letting go of old history, and copying the home as it is. What the two routes
 * take and answer, and what `holon retention` and `holon backup` print with `--json`.
 */
import { z } from 'zod'
import { day, plus, type Timestamp } from '../domain/time.ts'
import { keepDays } from './config.ts'
import { count, timestamp } from './scalar.ts'

export const newRetention = z
  .strictObject({
    before: timestamp.optional().describe('What ended before this may go.'),
    keep_days: keepDays
      .optional()
      .describe('Instead of a time: days that are kept. Neither: as the configuration says.'),
    dry_run: z.boolean().describe('Only count what would go.'),
  })
  .meta({ id: 'NewRetention' })
export type NewRetention = z.infer<typeof newRetention>

export const retention = z
  .strictObject({
    dry_run: z.boolean(),
    before: timestamp,
    global_seq: count.describe('Events up to here are gone, or would be.'),
    events: count,
    rows: z.record(z.string(), count).describe('By table; a table without any is not there.'),
    blobs: count,
    bytes: count.describe('Of text and blobs. The database keeps its size and uses it again.'),
  })
  .meta({ id: 'Retention', description: 'What retention took, or would take.' })
export type Retention = z.infer<typeof retention>

export const newBackup = z
  .strictObject({
    to: z
      .string()
      .min(1)
      .max(4_096)
      .describe('Absolute path of a folder outside the home, which gets the folder of the backup.'),
    with_secrets: z.boolean().optional().describe('The control token and other secrets too.'),
  })
  .meta({ id: 'NewBackup' })

export const backup = z
  .strictObject({
    path: z.string().describe('The folder of the backup.'),
    made_at: timestamp,
    last_global_seq: count,
    files: count,
    bytes: count,
    not_included: z
      .array(z.strictObject({ path: z.string(), reason: z.string() }))
      .describe('What the home has and the backup has not.'),
  })
  .meta({ id: 'Backup', description: 'A copy of the home, as it was at one moment.' })
export type Backup = z.infer<typeof backup>

/** What of upkeep there is, or why there is none: `code` is one of the problems. */
export type UpkeepEnd<T> =
  | { ok: true; value: T }
  | { ok: false; code: string; message: string; hint?: string }

/**
 * Up to when history may go. `configured`: the days the configuration keeps. A horizon that is
 * ahead is a slip of the hand: it would take everything that has ended.
 */
export function horizonOf(
  { before, keep_days }: Pick<NewRetention, 'before' | 'keep_days'>,
  configured: number | null,
  now: Timestamp,
): UpkeepEnd<Timestamp> {
  const no = (message: string) => ({ ok: false as const, code: 'horizon_invalid', message })
  if (before !== undefined && keep_days !== undefined) {
    return no('Both a time and a number of days are given.')
  }
  const days = keep_days ?? configured
  if (before === undefined) {
    return days === null
      ? no('Nothing says what may go.')
      : { ok: true, value: plus(now, -days * day) }
  }
  if (Date.parse(before) > Date.parse(now)) return no(`${before} is still to come.`)
  return { ok: true, value: new Date(before).toISOString() }
}
