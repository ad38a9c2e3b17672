import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Check, CheckRun } from '../../domain/state/check.ts'
import type { WorkItem } from '../../domain/state/work-item.ts'
import { item, World } from '../../testing/world/agent-world.ts'
import { viewOf } from '../../testing/why/why-world.ts'
import { checkEntries } from './check-attention.ts'

const at = (minute: number) => `2026-03-02T09:${String(minute).padStart(2, '0')}:00.000Z`
const person = (name: string, run: CheckRun | null): Check => ({
  kind: 'person',
  name,
  question: `Is ${name} well?`,
  run,
})
const file = (name: string, run: CheckRun | null): Check => ({
  kind: 'file',
  name,
  path: name,
  expect: { exists: true },
  run,
})
const owed = (minute: number): CheckRun => ({
  state: 'owed',
  n: 1,
  owed_at: at(minute),
  told: false,
})
const ended = (
  outcome: 'passed' | 'failed' | 'unknown',
  minute: number,
  tree?: string,
): CheckRun => {
  const hash = { hash: tree ?? 'abc', problem: null }
  return {
    state: 'finished',
    outcome,
    exit_status: null,
    reason: null,
    tail: '',
    task_id: null,
    tree: { before: hash, after: hash },
    started_at: at(minute),
    finished_at: at(minute),
    n: 1,
    owed_at: at(0),
    told: false,
  }
}

/** What is said of an item that was completed at minute 9 and changed at minute 3. */
function told(checks: readonly Check[], given: Partial<WorkItem> = {}) {
  const w = new World()
  const id = item(w, { objective: 'ship' })
  const row = { ...w.row('work_items', id), state: 'completed', completed_at: at(9), checks }
  w.facts.include('work_items', { ...row, updated_at: at(3), ...given } as WorkItem)
  return checkEntries(viewOf(w, 'at_rest')).map(({ acts, ...entry }) => ({
    ...entry,
    can: acts().map(({ cli }) => cli),
  }))
}

const of = { id: 'work_0001', agent_id: 'main', work_item_id: 'work_0001' }
const look = 'holon work show work_0001'
const answer = (name: string) => `holon work check answer work_0001 ${name} <pass|fail>`
const run = 'holon work check run work_0001'

test('a completed item asks its first open question, once no check runs by itself', () => {
  const asked = { ...of, kind: 'check_asked' }
  assert.deepEqual(
    told([
      file('done', ended('passed', 10)),
      person('look', owed(12)),
      person('feel', owed(11)),
      person('past', ended('passed', 13)),
    ]),
    [
      {
        ...asked,
        text: 'Is look well? (of "ship")',
        since: at(12),
        can: [look, answer('look'), answer('feel')],
      },
    ],
  )
  assert.deepEqual(told([file('slow', owed(10)), person('look', owed(12))]), [])
  assert.deepEqual(told([person('look', owed(12)), file('slow', owed(10))]), [])
  assert.deepEqual(told([file('slow', owed(10))]), [])
})

test('a completed item whose checks do not verify it says so, since the last of them ended', () => {
  const failed = (says: string, minute: number, ...can: string[]) => [
    {
      ...of,
      kind: 'check_failed',
      text: `"ship" is done and not verified: ${says}`,
      since: at(minute),
      can: [look, run, ...can],
    },
  ]
  assert.deepEqual(
    told([
      file('a', ended('passed', 12)),
      file('b', ended('failed', 14)),
      file('c', ended('passed', 11)),
      person('look', owed(30)),
    ]),
    failed('1 of 4 checks failed: b', 14, answer('look')),
  )
  assert.deepEqual(
    told([file('a', ended('unknown', 12))]),
    failed('nobody knows how it ended: a', 12),
  )
  assert.deepEqual(
    told([file('a', ended('passed', 12)), file('b', ended('passed', 13, 'def'))]),
    failed('2 checks passed, but the files changed meanwhile', 13),
  )
  // One that never ran ended with the completion; of a row without its moment, with its last
  // change.
  assert.deepEqual(told([file('a', null)]), failed('nobody knows how it ended: a', 9))
  assert.deepEqual(
    told([file('a', null)], { completed_at: null }),
    failed('nobody knows how it ended: a', 3),
  )
  assert.deepEqual(told([file('a', ended('failed', 8))]), failed('1 of 1 check failed: a', 9))
})

test('nothing is to be looked at of an item that is open, verified, or has no checks', () => {
  assert.deepEqual(told([file('a', ended('failed', 10))], { state: 'open' }), [])
  assert.deepEqual(told([file('a', ended('passed', 10))]), [])
  assert.deepEqual(told([]), [])
})
