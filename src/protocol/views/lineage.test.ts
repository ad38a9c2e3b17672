// Who an agent was made under: itself first, then up to the top.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineage } from './lineage.ts'

const made = (id: string, lineage_parent_agent_id: string | null) => ({
  id,
  lineage_parent_agent_id,
})

test('an agent is made under its maker, and under whom that was made', () => {
  const all = [made('docs', 'ci'), made('ci', 'main'), made('main', null), made('other', null)]
  const of = (id: string) => lineage(all, (one) => one, id).map((one) => one.id)
  assert.deepEqual(of('docs'), ['docs', 'ci', 'main'])
  assert.deepEqual(of('main'), ['main'])
  assert.deepEqual(of('nobody'), [])
})
