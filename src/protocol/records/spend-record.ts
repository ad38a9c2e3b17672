/**
 * What was used: tokens and, only where every price is known, US dollars
 * (docs/spec/screens.md#words). An unknown price leaves the sum unknown: null, never zero; what is
 * known of it stands beside it.
 */
import { z } from 'zod'
import { count } from '../scalar.ts'
import { usageShape } from './turn-record.ts'

/** What one item used, over all its turns. */
export const itemSpend = z.strictObject({ turns: count, ...usageShape }).meta({ id: 'ItemSpend' })

export const spendKeys = ['agent', 'item', 'day'] as const

const spendRow = z
  .strictObject({
    agent_id: z.string().nullable().describe('Null unless by=agent.'),
    work_item_id: z.string().nullable().describe('Null unless by=item, or for work about none.'),
    day: z.string().nullable().describe('The UTC date; null unless by=day.'),
    requests: count,
    input_tokens: count,
    output_tokens: count,
    reasoning_tokens: count,
    cached_input_tokens: count,
    cache_write_tokens: count,
    usd: z.number().nullable().describe('Null while the price of any request is not known.'),
    known_usd: z.number().nullable().describe('The sum of the known prices; null: none is.'),
    unpriced_requests: count,
  })
  .meta({ id: 'SpendRow' })
export type SpendRow = z.infer<typeof spendRow>

export const spendReport = z
  .strictObject({ by: z.array(z.enum(spendKeys)), spend: z.array(spendRow) })
  .meta({ id: 'Spend' })

/** A group of requests as the ledger sums it up. */
export type SpendGroup = Omit<SpendRow, 'known_usd' | 'unpriced_requests'> & { unpriced: number }

export function spendRowOf({ unpriced, usd, ...group }: SpendGroup): SpendRow {
  return { ...group, usd: unpriced > 0 ? null : usd, known_usd: usd, unpriced_requests: unpriced }
}
