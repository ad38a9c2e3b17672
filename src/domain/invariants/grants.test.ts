// 47: by a grant begins what it holds for, and each is counted once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grantMade, taskQueued } from '../../testing/events.ts'
import type { Event, StoredEvent } from '../state/event.ts'
import { grantHistory } from './grants.ts'

const until = '2026-01-09T00:00:00.000Z'
const made = grantMade({ id: 'grant_1', work_item_id: 'work_1', until })
const queued = taskQueued({ id: 'task_1', work_item_id: 'work_1', grant_id: 'grant_1' })
const used = { type: 'grant_used', id: 'grant_1', task_id: 'task_1' } as const
const ended = { type: 'grant_ended', id: 'grant_1', by: 'operator', because: 'x' } as const

const found = (events: readonly Event[], at = '2026-01-02T00:00:00.000Z') =>
  grantHistory(
    events.map((event, n): StoredEvent => {
      const meta = { agent_id: 'main', work_item_id: null, turn_id: null, causation_id: null }
      return { id: `evt_${n}`, seq: n, global_seq: n, v: 1, at, ...meta, event }
    }),
  )

test('what begins by a grant that holds for its item, and is counted, is sound', () => {
  assert.deepEqual(found([made, queued, used, ended]), [])
  const all = { ...made, work_item_id: null }
  assert.deepEqual(found([all, { ...queued, work_item_id: 'work_2' }, used]), [])
})

test('a grant that has ended, that never was, or is for another item begins nothing', () => {
  const holds = '47: task_1 began by grant_1, which does not hold'
  assert.deepEqual(found([queued, used]), [holds])
  assert.deepEqual(found([made, ended, queued, used]), [holds])
  assert.deepEqual(found([made, queued, used], until), [holds])
  assert.deepEqual(found([made, { ...queued, work_item_id: 'work_2' }, used]), [
    '47: task_1 began by grant_1, which is for work_1',
  ])
})

test('each is counted once, with its command', () => {
  const lost = '47: task_1 began by grant_1 and is not counted'
  assert.deepEqual(found([made, queued]), [lost])
  assert.deepEqual(found([made, queued, ended, used])[0], lost)
  const other = '47: grant_1 counts task_1, which did not begin by it'
  assert.deepEqual(found([made, queued, used, used]), [other])
  assert.deepEqual(found([made, used]), [other])
})
