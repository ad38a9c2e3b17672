import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorktreeState } from './port.ts'
import { refusal } from './refusal.ts'
import { LOCKED_FOR_REMOVAL } from './status.ts'

const some = (count: number) => ({ count, sample: [] as never[] })
const clean: WorktreeState = {
  head: 'a'.repeat(40),
  branch: 'holon/child',
  staged: some(0),
  unstaged: some(0),
  untracked: some(0),
  ignored: 0,
  unmerged: some(0),
  reflog_only: some(0),
  operation: null,
  submodules: some(0),
  locked: null,
  used_by: [],
}
const told = (given: Partial<WorktreeState>, missing = false, discard?: { snapshot: string }) => {
  const request = { into: 'main', ...(discard === undefined ? {} : { discard }) }
  const found = refusal({ ...clean, ...given }, missing, request)
  if (found === null) return null
  const status = missing ? { kind: 'missing' } : { kind: 'present', ...clean, ...given }
  assert.deepEqual(found.status, status)
  return `${found.code}: ${found.message}: ${found.hint}`
}

const dirty = 'worktree_dirty: it holds what no commit has: '
const dirtyHint = ': Commit and merge it, or take a snapshot and discard it.'
const unmerged = 'worktree_unmerged: it has '
const unmergedHint = ': Merge it, or take a snapshot and discard it.'
const inUse =
  'worktree_in_use: processes 7, 9 are in it: ' +
  'End these processes, or let them leave the folder.'
const unlock = ': Unlock it: `git worktree unlock <path>`.'

test('whoever is in it, or has locked it, keeps it, discarded or not', () => {
  const discard = { snapshot: 'x' }
  for (const given of [undefined, discard]) {
    assert.equal(told({ used_by: [7, 9], locked: 'mine' }, false, given), inUse)
    assert.equal(
      told({ locked: 'mine' }, false, given),
      `worktree_locked: it is locked: mine${unlock}`,
    )
    assert.equal(
      told({ locked: '' }, true, given),
      `worktree_locked: it is locked: no reason given${unlock}`,
    )
    assert.equal(told({ locked: LOCKED_FOR_REMOVAL }, false, given), null)
    assert.equal(told({}, false, given), null)
  }
  const all = { staged: some(1), unmerged: some(1), ignored: 1 }
  assert.equal(told(all, false, discard), null)
})

test('each thing that would be lost keeps it, with its number, and is said to be of its kind', () => {
  for (const [given, says] of [
    [{ staged: some(1) }, `${dirty}1 staged${dirtyHint}`],
    [{ unstaged: some(2) }, `${dirty}2 changed and not staged${dirtyHint}`],
    [{ untracked: some(3) }, `${dirty}3 untracked${dirtyHint}`],
    [{ submodules: some(4) }, `${dirty}4 submodules checked out${dirtyHint}`],
    [{ operation: 'merge' }, `${dirty}a merge that is not finished${dirtyHint}`],
    [{ unmerged: some(5) }, `${unmerged}5 commits that are not in main${unmergedHint}`],
    [{ reflog_only: some(6) }, `${unmerged}6 commits that only its reflog knows${unmergedHint}`],
    [
      { ignored: 8 },
      'worktree_ignored: it has 8 ignored paths, which no commit has: ' +
        'Take a snapshot, which keeps them, and discard it.',
    ],
    [
      {
        staged: some(1),
        untracked: some(3),
        unmerged: some(5),
        ignored: 8,
      },
      `${dirty}1 staged, 3 untracked${dirtyHint}`,
    ],
    [
      { unmerged: some(5), reflog_only: some(6), ignored: 8 },
      `${unmerged}5 commits that are not in main, 6 commits that only its reflog knows${unmergedHint}`,
    ],
  ] as [Partial<WorktreeState>, string][]) {
    assert.equal(told(given), says)
  }
  assert.equal(
    told({ unstaged: some(2) }, true),
    'worktree_missing: it holds what no commit has: 2 changed and not staged: ' +
      'Take a snapshot of what git still knows, and discard it.',
  )
})
