import assert from 'node:assert/strict'
import { test } from 'node:test'
import { World } from '../../testing/world/agent-world.ts'
import { canOfWorktree } from '../operator/can.ts'
import type { WorktreeEvent } from '../state/worktree.ts'
import { leavable, restorable, standing } from './worktrees.ts'
import { taskQueued } from '../../testing/events.ts'

const id = 'task_t009'
const snapshot = { ref: 'refs/holon/snapshots/task_t009/1', commit: 'c1' }
const tree = { repository: '/w/.git', path: '/trees/t009', branch: 'holon/main.1' }
const planned: WorktreeEvent = { type: 'worktree_planned', id, child_agent_id: 'main.1', ...tree }
const made: WorktreeEvent = { type: 'worktree_made', id, base_commit: 'b0', unfiltered: null }
const kept: WorktreeEvent = { type: 'worktree_kept', id, reason: '1 untracked' }
const taken: WorktreeEvent = { type: 'worktree_snapshotted', id, snapshot }
const by = 'operator'
const removed: WorktreeEvent = { type: 'worktree_removed', id, by, reason: 'merged' }
const back: WorktreeEvent = { type: 'worktree_restore_planned', id }
const discarded: WorktreeEvent = { type: 'worktree_discarded', id, by, reason: 'not wanted' }

/** A running task that owns it. */
const running = (w: World) =>
  w.do((d) => {
    const child = { kind: 'child_agent', cmd: null, child_agent_id: 'main.1' } as const
    d.emit(taskQueued({ id, ...child, workdir: tree.path, start_place: null }))
    d.emit({ type: 'task_started', id, pid: null, started_at: d.now })
  })

type Answers = [standing: string, leavable: string, restorable: string]
const rows: [what: string, events: WorktreeEvent[], runs: boolean, answers: Answers][] = [
  [
    'none of this id',
    [],
    false,
    ['worktree_not_found', 'worktree_not_found', 'worktree_not_found'],
  ],
  ['planned, and never used', [planned], false, ['worktree_leased', 'ok', 'worktree_stands']],
  ['a child works in it', [planned, made], true, ['ok', 'worktree_leased', 'worktree_stands']],
  ['its child is over', [planned, made], false, ['ok', 'ok', 'worktree_stands']],
  ['kept', [planned, made, kept], false, ['ok', 'ok', 'worktree_stands']],
  [
    'removed',
    [planned, made, removed],
    false,
    ['worktree_over', 'worktree_over', 'worktree_no_snapshot'],
  ],
  [
    'removed after a snapshot',
    [planned, made, taken, removed],
    false,
    ['worktree_over', 'worktree_over', 'ok'],
  ],
  [
    'discarded',
    [planned, made, kept, taken, discarded],
    false,
    ['worktree_over', 'worktree_over', 'ok'],
  ],
  [
    'on its way back',
    [planned, made, kept, taken, discarded, back],
    false,
    ['worktree_leased', 'worktree_leased', 'ok'],
  ],
]
for (const [what, events, runs, answers] of rows) {
  test(`what may be done to a worktree: ${what}`, () => {
    const w = new World()
    if (runs) running(w)
    w.do((d) => {
      for (const event of events) d.emit(event)
    })
    const row = w.all('worktrees').find((one) => one.id === id)
    // One that is gone is no live row: whoever carries an act out has it read.
    if (row) w.facts.include('worktrees', row)
    const told = [standing, leavable, restorable].map((rule) => {
      const said = rule(w.facts, id)
      return said.ok ? 'ok' : said.code
    })
    assert.deepEqual(told, answers)
    if (row === undefined) return
    const can = canOfWorktree({ facts: w.facts, now: w.now }, row).map(({ allowed }) => allowed)
    const [stands, leaves, restores] = answers.map((one) => one === 'ok')
    assert.deepEqual(can, [stands, leaves, leaves, restores])
  })
}
