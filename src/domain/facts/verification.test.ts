import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Check, CheckOutcome, CheckRun, WorkspaceTree } from '../state/check.ts'
import { verificationOf, type VerificationState } from './verification.ts'

const at = '2026-03-02T09:00:00.000Z'
const tree = (hash: string): WorkspaceTree => ({ hash, problem: null })
const none: WorkspaceTree = { hash: null, problem: 'in no git repository' }
const base = { n: 1, owed_at: at, told: false }
const owed: CheckRun = { state: 'owed', ...base }
const running: CheckRun = {
  state: 'running',
  ...base,
  task_id: 'task_1',
  tree: tree('a'),
  started_at: at,
}

const ended = (
  outcome: CheckOutcome,
  trees: [WorkspaceTree, WorkspaceTree] | null,
  reason: string | null = null,
): CheckRun => ({
  state: 'finished',
  ...base,
  outcome,
  exit_status: null,
  reason,
  tail: '',
  task_id: null,
  tree: trees && { before: trees[0], after: trees[1] },
  started_at: at,
  finished_at: at,
})
const passed = (before: WorkspaceTree, after = before) => ended('passed', [before, after])

const checks = (...runs: (CheckRun | null)[]): Check[] =>
  runs.map((run, n) => ({ kind: 'person', name: `c${n}`, question: 'is it good?', run }))

test('what the checks come to is derived from their results, and only all on one tree verify', () => {
  const [a, b] = [tree('a'), tree('b')]
  const rows: [runs: (CheckRun | null)[], VerificationState, tree: string | null][] = [
    [[], 'none', null],
    [[owed], 'pending', null],
    [[running], 'pending', null],
    [[passed(a), owed], 'pending', 'a'],
    [[passed(a)], 'verified', 'a'],
    [[passed(a), passed(a)], 'verified', 'a'],
    [[passed(a), ended('passed', null)], 'verified', 'a'],
    [[ended('passed', null)], 'verified', null],
    [[passed(none), passed(none)], 'verified', null],
    [[passed(a, b)], 'changed', null],
    [[passed(a), passed(b)], 'changed', null],
    [[passed(a), passed(none)], 'changed', null],
    [[ended('failed', [a, a]), passed(a)], 'failed', 'a'],
    [[ended('failed', [a, b]), owed], 'failed', null],
    [[ended('failed', [a, a]), ended('unknown', [a, a])], 'failed', 'a'],
    [[ended('unknown', [a, a]), passed(a)], 'unknown', 'a'],
    [[ended('unknown', [a, a]), owed], 'pending', 'a'],
    // No completion asked for it: it has said nothing.
    [[passed(a), null], 'unknown', 'a'],
  ]
  for (const [runs, state, hash] of rows) {
    const found = verificationOf({ state: 'completed', checks: checks(...runs) })
    assert.deepEqual([found.state, found.tree], [state, hash], JSON.stringify(runs))
    assert.equal(found.tree !== null && found.state === 'changed', false)
  }
})

test('an open item is not verified, whatever stands on its checks', () => {
  const all = checks(passed(tree('a')))
  assert.equal(verificationOf({ state: 'open', checks: all }).state, 'asked')
})

const someTree = fc.constantFrom(tree('a'), tree('b'), none)
const words = fc.constantFrom('verified', 'all tests pass', 'passed', null)
const someRun: fc.Arbitrary<CheckRun | null> = fc.oneof(
  fc.constant(null),
  fc.constant(owed),
  fc.constant(running),
  fc
    .tuple(
      fc.constantFrom<CheckOutcome>('passed', 'failed', 'unknown'),
      fc.option(fc.tuple(someTree, someTree), { nil: null }),
      words,
    )
    .map(([outcome, trees, reason]) => ended(outcome, trees, reason)),
)

test('a claim reaches verified by results alone: each check passed, and all saw the same tree', () => {
  fc.assert(
    fc.property(fc.array(someRun, { maxLength: 5 }), words, (runs, report) => {
      const item = { state: 'completed', checks: checks(...runs), result_summary: report } as const
      const trees = runs.flatMap((run) =>
        run?.state === 'finished' && run.tree !== null ? [run.tree.before, run.tree.after] : [],
      )
      const allPassed =
        runs.length > 0 &&
        runs.every((run) => run?.state === 'finished' && run.outcome === 'passed')
      const oneTree = new Set(trees.map(({ hash }) => hash)).size <= 1
      assert.equal(verificationOf(item).state === 'verified', allPassed && oneTree)
    }),
    { numRuns: 2_000 },
  )
})
