import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Facts } from '../../domain/facts/facts.ts'
import { itemFilters, passes } from '../../domain/facts/item-filter.ts'
import { project } from '../../domain/facts/candidates.ts'
import type { Timestamp } from '../../domain/time.ts'
import { isUnadopted } from '../../domain/state/work-item.ts'
import { situate, situations } from '../../testing/why/why-situations.ts'
import { listWorkItems } from './list-work-items.ts'
import type { ToolContext } from '../tool/tool.ts'

/** What the tool reads of its surroundings, and nothing else. */
const reading = (facts: Facts, now: Timestamp) =>
  ({
    facts: () => facts,
    now: () => now,
    readPlan: async () => ({ described: null }),
    list: async () => [...facts.rows('work_items')].filter(({ state }) => state === 'completed'),
  }) as unknown as ToolContext

describe('ListWorkItems and the API have the same views', () => {
  for (const situation of situations) {
    test(situation.name, async () => {
      const { id, w } = situate(situation)
      const p = project(w.facts, id, w.now)
      assert.ok(p)
      const ctx = reading(w.facts, w.now)
      const listed = async (filter: (typeof itemFilters)[number]) => {
        const { result } = await listWorkItems.run({ filter, limit: 100 }, null, ctx)
        if (result.status === 'error') assert.fail(result.summary)
        const { items } = result.result as { items: { id: string }[] }
        return items.some((item) => item.id === id)
      }
      const said = Object.fromEntries(
        await Promise.all(itemFilters.map(async (filter) => [filter, await listed(filter)])),
      )
      const seen = !isUnadopted(p.item)
      const owed = itemFilters.map((filter) => [filter, seen && passes(filter, p)])
      assert.deepEqual(said, Object.fromEntries(owed))
    })
  }

  test('the tool takes each of them and no other', () => {
    const schema = listWorkItems.input()
    for (const filter of itemFilters) assert.ok(schema.safeParse({ filter }).success, filter)
    assert.ok(!schema.safeParse({ filter: 'opne' }).success)
  })
})
