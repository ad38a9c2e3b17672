import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anItemRecord, designedState, noon } from '../testing/screens/home.ts'
import { aState } from '../testing/screens/state.ts'
import { home, itemRow } from './home.ts'
import { open } from './presentation.ts'

test('what came late stands below its item under done: the newest, and how many more', () => {
  const done = (id: `work_${string}`, late: string[]) =>
    anItemRecord(id, 'main', 'Count.', {
      state: 'completed',
      scheduling_state: 'completed',
      completed_at: noon,
      late,
    })
  const work_items = [
    done('work_1', []),
    done('work_2', ['task_1 (make): completed, exit status 3']),
    done('work_3', ['task_2 (a): completed', 'task_3 (b): \u001b[31minterrupted']),
  ]
  const seen = home(open(aState({ work_items })), { now: noon, utc: true, runs: true })
  const section = seen.sections.find(({ name }) => name === 'done')
  assert.deepEqual(
    section?.rows.map(({ below }) => below?.left ?? null),
    [
      null,
      'came late: task_1 (make): completed, exit status 3',
      'came late: task_3 (b): \\x1b[31minterrupted; 1 more',
    ],
  )
})

test('a row of an item that is worked on says so wherever it stands, and one that is held why', () => {
  const started_at = new Date(Date.parse(noon) - 180_000).toISOString()
  const [turn] = designedState().turns
  assert.ok(turn)
  const turns = [{ ...turn, work_item_id: 'work_1', number: 4, started_at } as const]
  const item = anItemRecord('work_1', 'main', 'Upgrade.', { scheduling_state: 'runnable' })
  const times = { now: noon, utc: true, runs: true }
  const row = (of: typeof item, state: Parameters<typeof aState>[0]) => {
    const { mark, right } = itemRow(open(aState(state)), of, times)
    return `${mark} ${right}`
  }
  assert.equal(row(item, { turns }), 'working turn 4, 3:00')
  assert.equal(row(item, {}), 'next ready')
  const blocked = { ...item, blocked_by: 'no key', scheduling_state: 'blocked' } as const
  assert.equal(row(blocked, { turns }), 'blocked blocked: no key')
})

test('what was done last comes first, whoever did it', () => {
  const done = (id: `work_${string}`, agent: string, minute: number) =>
    anItemRecord(id, agent, id, {
      state: 'completed',
      completed_at: `2026-11-21T13:0${minute}:00.000Z`,
    })
  const work_items = [done('work_1', 'a', 3), done('work_2', 'a', 1), done('work_3', 'b', 2)]
  const seen = home(open(aState({ work_items })), { now: noon, utc: true, runs: true })
  const section = seen.sections.find(({ name }) => name === 'done')
  assert.deepEqual(
    section?.rows.map(({ id }) => id),
    ['work_1', 'work_3', 'work_2'],
  )
})
