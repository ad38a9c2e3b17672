import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentRow, fakeHome } from '../../testing/http/http-home.ts'
import { rowNamed, type OwnedTable } from './named.ts'
import type { HomeReads } from './ports.ts'

const said = async (agent: string | null, text: string, table: OwnedTable = 'turns') => {
  const fake = fakeHome()
  fake.put('agents', agentRow('main'))
  for (const [id, agent_id] of [
    ['turn_aa01', 'main'],
    ['turn_aa02', 'main'],
    ['turn_bb01', 'other'],
  ] as const) {
    fake.put('turns', { id, agent_id } as never)
  }
  const rows = [...fake.rows.values()] as { id: string; agent_id: string }[]
  const reads: HomeReads = {
    ...fake.home.reads,
    idsLike: async (_, part, of) =>
      rows
        .filter(({ id, agent_id }) => id.startsWith(part) && (of ?? agent_id) === agent_id)
        .map(({ id, agent_id }) => ({ id, agent_id })),
  }
  const named = await rowNamed({ ...fake.home, reads }, table, agent, text)
  if (named.ok) return named.value.id
  const { code, detail } = (await named.refusal.json()) as { code: string; detail: string }
  return `${code}: ${detail}`
}

test('an id, or the beginning of one, means a row; of two rows it is refused with both', async () => {
  assert.equal(await said('main', 'turn_aa01'), 'turn_aa01')
  assert.equal(await said(null, 'turn_bb'), 'turn_bb01')
  assert.equal(
    await said(null, 'turn_'),
    'ambiguous_id: turn_ means more than one: ' +
      'turn_aa01 (main), turn_aa02 (main), turn_bb01 (other).',
  )
  assert.equal(
    await said('main', 'turn_aa'),
    'ambiguous_id: turn_aa means more than one: turn_aa01 (main), turn_aa02 (main).',
  )
  assert.equal(await said('main', 'turn_bb01'), 'not_found: There is no turn_bb01 of main.')
  assert.equal(await said(null, 'turn_cc'), 'not_found: There is no turn_cc.')
})

test('what is not there has the code of its kind', async () => {
  const codes = {
    work_items: 'work_item_not_found',
    waits: 'wait_not_found',
    tasks: 'task_not_found',
    triggers: 'trigger_not_found',
    grants: 'grant_not_found',
    schedules: 'schedule_not_found',
    deliveries: 'delivery_not_found',
    messages: 'not_found',
    turns: 'not_found',
    calls: 'not_found',
    briefs: 'not_found',
    decisions: 'not_found',
    slots: 'not_found',
    delegations: 'not_found',
    worktrees: 'worktree_not_found',
  } satisfies Record<OwnedTable, string>
  for (const [table, code] of Object.entries(codes)) {
    assert.equal(await said(null, 'x_y', table as OwnedTable), `${code}: There is no x_y.`)
  }
})
