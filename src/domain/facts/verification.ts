/**
 * Verification: what the checks of a completed item come to. One pure function from the results,
 * never stored, and with no way in for anybody's words: only results that the runtime itself
 * recorded, or an operator's answer to a question, count (docs/spec/check.md#claimed-and-verified).
 */
import { isAlive, type Check, type CheckOutcome } from '../state/check.ts'
import type { Claim, WorkItem } from '../state/work-item.ts'

export const verificationStates = [
  'none',
  'asked',
  'pending',
  'failed',
  'unknown',
  'changed',
  'verified',
] as const

/**
 * - `none`: no check was asked for, so a completion is claimed and no more.
 * - `asked`: the item is open; its checks run when it is completed.
 * - `failed`: at least one failed, whatever the others say.
 * - `pending`: one is owed, runs, or waits for a person.
 * - `unknown`: nobody knows how one of them ended.
 * - `changed`: all passed, but not on one and the same tree.
 * - `verified`: all passed, on one tree.
 */
export type VerificationState = (typeof verificationStates)[number]

export type Verification = {
  state: VerificationState
  /** One sentence for a person. */
  says: string
  /** The one tree all of them ran on; null: there is none, `says` has the reason. */
  tree: string | null
  passed: readonly string[]
  failed: readonly string[]
  unknown: readonly string[]
  pending: readonly string[]
}

export function verificationOf({
  checks,
  state,
  claim,
}: Pick<WorkItem, 'checks' | 'state' | 'claim'>): Verification {
  const finished = (outcome: CheckOutcome) =>
    named(checks, ({ run }) => run?.state === 'finished' && run.outcome === outcome)
  const lists = {
    passed: finished('passed'),
    failed: finished('failed'),
    unknown: finished('unknown'),
    pending: named(checks, isAlive),
  }
  const { tree, same, problem } = treeOf(checks)
  const is = (state: VerificationState, says: string): Verification => ({
    state,
    says,
    tree: same ? tree : null,
    ...lists,
  })
  const all = checks.length
  if (all === 0) return is('none', 'no checks were asked for, so nothing is verified')
  if (state === 'open') return is('asked', askedWords(all, lists.failed, claim))
  if (lists.failed.length > 0) {
    return is('failed', `${lists.failed.length} of ${counted(all)} failed: ${list(lists.failed)}`)
  }
  if (lists.pending.length > 0) {
    const { length } = lists.pending
    return is('pending', `${length} of ${counted(all)} still to be known: ${list(lists.pending)}`)
  }
  // A check that no completion ever asked for has said nothing: it counts as not known.
  if (lists.unknown.length > 0 || lists.passed.length < all) {
    return is('unknown', `nobody knows how it ended: ${list(rest(checks, lists.passed))}`)
  }
  if (!same) return is('changed', `${counted(all)} passed, but the files changed meanwhile`)
  const where = tree === null ? (problem === null ? '' : `, no tree: ${problem}`) : ` on ${tree}`
  // A later pass says nothing of the files that the completion was about.
  const moved = claim?.tree !== undefined && claim.tree !== tree
  const before = moved ? `; when it was completed they passed on ${claim.tree}` : ''
  return is('verified', `${counted(all)} passed${where}${before}`)
}

function askedWords(all: number, failed: readonly string[], claim: Claim | undefined): string {
  if (claim === undefined || failed.length === 0) {
    return `${counted(all)} will be run when it is completed`
  }
  const times = claim.refused === 1 ? 'once' : `${claim.refused} times in a row`
  return `its completion was refused ${times}: of ${counted(all)} failed ${list(failed)}`
}

/** Completed, with checks that do not verify it now: somebody or something is to look at it. */
export const isUnverified = (item: Pick<WorkItem, 'checks' | 'state' | 'claim'>): boolean =>
  item.state === 'completed' && item.checks.length > 0 && verificationOf(item).state !== 'verified'

const named = (checks: readonly Check[], is: (check: Check) => boolean): string[] =>
  checks.filter(is).map(({ name }) => name)

const rest = (checks: readonly Check[], passed: readonly string[]): string[] =>
  named(checks, ({ name }) => !passed.includes(name))

const list = (names: readonly string[]): string => names.join(', ')

const counted = (n: number): string => (n === 1 ? '1 check' : `${n} checks`)

/**
 * The tree of the runs, where it is one. Where no git says what the files were, that is the same
 * for all as long as it is so for all.
 */
export function treeOf(checks: readonly Check[]): {
  tree: string | null
  same: boolean
  problem: string | null
} {
  const trees = checks.flatMap(({ run }) =>
    run?.state === 'finished' && run.tree !== null ? [run.tree.before, run.tree.after] : [],
  )
  const [first] = trees
  if (first === undefined) return { tree: null, same: true, problem: null }
  const same = trees.every(({ hash }) => hash === first.hash)
  return { tree: first.hash, same, problem: first.problem }
}
