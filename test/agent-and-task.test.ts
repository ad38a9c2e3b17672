/**
 * An agent and the task that supervises it are two things: what each is, its own tool says, and
 * what it says is so at that moment.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calls } from '../src/testing/scripted-model.ts'
import { call, happens, idsIn, openFamily, spawn, steps, tell } from './support/parent-and-child.ts'

type Fields = Record<string, unknown>

test('an agent in its own turn runs, one that waits sleeps, and a task tells only of its execution', async (t) => {
  const parent = steps(
    () => calls(spawn('Sleep.'), spawn('Sleep too.')),
    async (text) => {
      const [first = '', second = ''] = idsIn(text, 'task')
      await Promise.all(['main.1', 'main.2'].map((id) => happens(box, id, 'turn_ended')))
      return calls(
        call('AgentGet', {}),
        call('AgentGet', { agent_id: 'main.1' }),
        call('AgentGet', { agent_id: 'main.2' }),
        call('TaskStatus', { task_id: first }),
        call('TaskStatus', { task_id: second }),
      )
    },
  )
  const sleeps = () =>
    calls(call('WaitFor', { wake: 'timer', wait_ms: 3_600_000, reason: 'a nap' }))
  const child = steps(sleeps, sleeps)
  const box = await openFamily(t, { parent, child })
  await tell(box, 'Begin.')
  await happens(box, 'main', 'turn_ended')
  const { entries } = await box.ledger.page('calls', {
    order: 'oldest',
    limit: 50,
    agent_id: 'main',
  })
  const told = (tool: string): Fields[] =>
    entries.flatMap(({ row: { tool_name, result } }) =>
      tool_name === tool && result?.status === 'success' ? [result.result as Fields] : [],
    )
  assert.deepEqual(
    told('AgentGet').map(({ agent_id, posture }) => [agent_id, posture]),
    [
      ['main', 'noop'],
      ['main.1', 'sleep'],
      ['main.2', 'sleep'],
    ],
  )
  assert.equal(told('AgentGet')[0]?.['because'], 'a turn is running')
  const statuses = told('TaskStatus')
  assert.deepEqual(
    statuses.map(({ agent_id, status, task_kind }) => [agent_id, status, task_kind]),
    [
      ['main.1', 'running', 'child_agent'],
      ['main.2', 'running', 'child_agent'],
    ],
  )
  for (const status of statuses) {
    for (const field of ['agent', 'posture', 'open_work_items', 'waits', 'current_work_item_id']) {
      assert.equal(field in status, false, field)
    }
  }
})
