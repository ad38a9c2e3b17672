/**
 * The sums that stay when rounds go.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Rows } from '../../domain/state/event.ts'
import { columnsOf } from '../sqlite/columns.ts'

/** Adds a recorded round to the sums of its agent, day and item. */
export function addSpent(database: DatabaseSync, round: Rows['rounds']): void {
  const cells = columnsOf('rounds', round)
  const day = cells['day'] ?? null
  if (day === null) return
  const usd = cells['usd'] ?? null
  database
    .prepare(
      `insert into spent (agent_id, day, work_item_id, requests, unpriced, input_tokens,
        output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens, usd)
      values (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)
      on conflict (agent_id, day, work_item_id) do update set
        requests = requests + 1,
        unpriced = unpriced + excluded.unpriced,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
        cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
        reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
        usd = iif(usd is null and excluded.usd is null, null,
          coalesce(usd, 0) + coalesce(excluded.usd, 0))`,
    )
    .run(
      round.agent_id,
      day,
      round.work_item_id ?? '',
      usd === null ? 1 : 0,
      cells['input_tokens'] ?? 0,
      cells['output_tokens'] ?? 0,
      cells['cached_input_tokens'] ?? 0,
      cells['cache_write_tokens'] ?? 0,
      cells['reasoning_tokens'] ?? 0,
      usd,
    )
}
