/**
 * What work items have used: the one sum that every list, screen, report and record shows, over the
 * requests that were about each (docs/spec/screens.md#words). A price that is not known leaves the
 * sum not known: null, never zero. Pure.
 */
import { noUsage, type Turn, type Usage } from '../../domain/state/turn.ts'
import type { SpendGroup } from './spend-record.ts'

export type Spend = { turns: number; usage: Usage }

/**
 * Per work item, of what the ledger sums up by item, also while a turn runs; and how many of these
 * turns were about it: one is, where only some of its requests were.
 */
export function spendByItem(
  sums: Iterable<SpendGroup>,
  turns: Iterable<Pick<Turn, 'work_item_id'>>,
): Map<string, Spend> {
  const found = new Map<string, Spend>()
  for (const sum of sums) {
    if (sum.work_item_id === null) continue
    const before = found.get(sum.work_item_id)?.usage ?? noUsage
    found.set(sum.work_item_id, { turns: 0, usage: plusSum(before, sum) })
  }
  for (const { work_item_id } of turns) {
    if (work_item_id === null) continue
    const { turns: before, usage } = found.get(work_item_id) ?? { turns: 0, usage: noUsage }
    found.set(work_item_id, { turns: before + 1, usage })
  }
  for (const [id, { turns: n, usage }] of found) found.set(id, { turns: Math.max(1, n), usage })
  return found
}

function plusSum(before: Usage, sum: SpendGroup): Usage {
  const usd = sum.unpriced > 0 || before.usd === null ? null : before.usd + (sum.usd ?? 0)
  return {
    input_tokens: (before.input_tokens ?? 0) + sum.input_tokens,
    output_tokens: (before.output_tokens ?? 0) + sum.output_tokens,
    reasoning_tokens: (before.reasoning_tokens ?? 0) + sum.reasoning_tokens,
    cached_input_tokens: (before.cached_input_tokens ?? 0) + sum.cached_input_tokens,
    cache_write_tokens: (before.cache_write_tokens ?? 0) + sum.cache_write_tokens,
    usd,
  }
}
