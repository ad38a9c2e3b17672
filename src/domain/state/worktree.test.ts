import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  evolveWorktree,
  isGone,
  worktreeLine,
  type Worktree,
  type WorktreeEvent,
  type WorktreeFacts,
} from './worktree.ts'

const id = 'task_1'
const snapshot = { ref: 'refs/holon/snapshots/task_1/1', commit: 'c1' }
const events = {
  planned: {
    type: 'worktree_planned',
    id,
    child_agent_id: 'child',
    repository: '/work/project/.git',
    path: '/state/worktrees/task_1',
    branch: 'holon/child',
  },
  made: { type: 'worktree_made', id, base_commit: 'b0', unfiltered: null },
  kept: { type: 'worktree_kept', id, reason: 'it has 2 commits that are not in main' },
  snapshotted: { type: 'worktree_snapshotted', id, snapshot },
  removed: { type: 'worktree_removed', id, by: 'runtime', reason: 'merged' },
  discarded: { type: 'worktree_discarded', id, by: 'operator', reason: 'not wanted' },
  planned_back: { type: 'worktree_restore_planned', id },
  restored: { type: 'worktree_restored', id, path: '/w', branch: 'holon/child', reason: 'wanted' },
} as const satisfies Record<string, WorktreeEvent>
type Name = keyof typeof events

const at = (step: number) => `2026-01-01T00:00:0${step}.000Z`
const after = (names: readonly Name[]): Worktree | null =>
  names.reduce<Worktree | null>(
    (row, name, step) => evolveWorktree(row, events[name], { at: at(step), agent_id: 'main' }),
    null,
  )

const planned: Worktree = {
  id,
  agent_id: 'main',
  child_agent_id: 'child',
  repository: '/work/project/.git',
  path: '/state/worktrees/task_1',
  branch: 'holon/child',
  base_commit: null,
  unfiltered: null,
  state: 'planned',
  reason: null,
  snapshot: null,
  created_at: at(0),
  ended_at: null,
}
const ready: Worktree = { ...planned, state: 'ready', base_commit: 'b0' }
const kept: Worktree = { ...ready, state: 'kept', reason: events.kept.reason }
const discarded: Worktree = {
  ...ready,
  state: 'discarded',
  reason: 'not wanted',
  snapshot,
  ended_at: at(3),
}

const histories: [string, readonly Name[], Worktree][] = [
  ['planned before git runs', ['planned'], planned],
  ['ready when git made it', ['planned', 'made'], ready],
  ['kept when its task is over', ['planned', 'made', 'kept'], kept],
  ['kept for another reason', ['planned', 'made', 'kept', 'kept'], kept],
  ['kept with a snapshot', ['planned', 'made', 'kept', 'snapshotted'], { ...kept, snapshot }],
  [
    'removed when it is merged',
    ['planned', 'made', 'removed'],
    { ...ready, state: 'removed', reason: 'merged', ended_at: at(2) },
  ],
  [
    'removed when git never made it',
    ['planned', 'removed'],
    { ...planned, state: 'removed', reason: 'merged', ended_at: at(1) },
  ],
  [
    'discarded with a snapshot',
    ['planned', 'made', 'snapshotted', 'discarded'],
    { ...discarded, ended_at: at(3) },
  ],
  [
    'planned again before git restores it',
    ['planned', 'made', 'snapshotted', 'discarded', 'planned_back'],
    { ...discarded, state: 'planned', reason: null, ended_at: null },
  ],
  [
    'discarded again when it could not be restored',
    ['planned', 'made', 'snapshotted', 'removed', 'planned_back', 'discarded'],
    { ...discarded, ended_at: at(5) },
  ],
  [
    'kept again when it was restored',
    ['planned', 'made', 'snapshotted', 'discarded', 'planned_back', 'restored'],
    { ...discarded, state: 'kept', path: '/w', reason: 'wanted', ended_at: null },
  ],
  [
    'kept again in a log from before restorations were planned',
    ['planned', 'made', 'snapshotted', 'discarded', 'restored'],
    { ...discarded, state: 'kept', path: '/w', reason: 'wanted', ended_at: null },
  ],
]
for (const [says, names, row] of histories) {
  test(`a worktree is ${says}`, () => {
    assert.deepEqual(after(names), row)
    assert.equal(isGone(row), row.ended_at !== null)
  })
}

const bugs: [readonly Name[], RegExp][] = [
  [['made'], /worktree_made before worktree_planned: task_1/],
  [['planned', 'planned'], /worktree_planned twice: task_1/],
  [['planned', 'kept'], /worktree_kept of task_1, which is planned/],
  [['planned', 'snapshotted'], /worktree_snapshotted of task_1, which is planned/],
  [['planned', 'discarded'], /task_1 discarded without a snapshot/],
  [['planned', 'made', 'made'], /worktree_made of task_1, which is ready/],
  [['planned', 'made', 'discarded'], /task_1 discarded without a snapshot/],
  [['planned', 'made', 'restored'], /worktree_restored of task_1, which is ready/],
  [['planned', 'made', 'removed', 'removed'], /worktree_removed of task_1, which is removed/],
  [['planned', 'made', 'planned_back'], /worktree_restore_planned of task_1, which is ready/],
  [['planned', 'made', 'removed', 'planned_back'], /task_1 restored without a snapshot/],
  [['planned', 'made', 'removed', 'restored'], /task_1 restored without a snapshot/],
  [['planned', 'made', 'removed', 'snapshotted'], /which is removed/],
]
for (const [names, says] of bugs) {
  test(`the order ${names.join(', ')} of a worktree is a bug`, () => {
    assert.throws(() => after(names), says)
  })
}

const seen = { branch: 'holon/child', head: '77c0245abc', ahead: 1, uncommitted: 0, ignored: 0 }
const lines: readonly (readonly [string, WorktreeFacts | null, string])[] = [
  [
    'one commit that merges',
    { ...seen, merges: true },
    'branch holon/child, 1 commit ahead of main (77c0245), clean, merges without conflict.',
  ],
  [
    'commits in conflict, changes and ignored files',
    { ...seen, ahead: 3, uncommitted: 2, ignored: 4, merges: false },
    'branch holon/child, 3 commits ahead of main (77c0245), 2 paths not committed, ' +
      '4 ignored paths, does not merge without conflict.',
  ],
  [
    'a git that cannot try',
    { ...seen, branch: null, merges: null },
    'detached, 1 commit ahead of main (77c0245), clean, whether it merges was not tried.',
  ],
  [
    'nothing to merge',
    { ...seen, ahead: 0, merges: true },
    'branch holon/child, 0 commits ahead of main (77c0245), clean.',
  ],
  ['a late look', null, 'branch holon/child; what is in it is unknown: it was not seen in time.'],
]
for (const [name, facts, line] of lines) {
  test(`what a parent is told of a worktree: ${name}`, () => {
    assert.equal(worktreeLine(ready, 'main', facts), `Worktree ${ready.path}, ${line}`)
  })
}

test('of a worktree that is gone a parent is told how it went', () => {
  const path = `Worktree ${ready.path}`
  assert.equal(worktreeLine(discarded, null, null), `${path}: discarded, not wanted.`)
})
