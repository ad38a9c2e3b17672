import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anItemRecord, noon } from '../testing/screens/home.ts'
import { aState } from '../testing/screens/state.ts'
import { home } from './home.ts'
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
