/**
 * Runs of checks as entries, one from the moment it is owed to its outcome, below the completion
 * they judge (docs/spec/work-item.md#completion, docs/spec/check.md#claimed-and-verified). A
 * completion says `verified` only when the runs that are held come to that by the rule that every
 * reader uses; else it says how far they got. Pure.
 */
import { verificationOf, type Check } from '../../protocol/records/records.ts'
import { stateWords } from '../lines/check-lines.ts'
import type { Entry, Level } from './entry.ts'
import { entry, facts, line, lines, msBetween, type Sight } from './parts.ts'
import { gapsOf, type Feed } from '../history/history.ts'
import { kept, type KeptEntries } from './memo.ts'
import { onShelf } from '../history/chunked-map.ts'
import type { Group } from '../history/noun-fold.ts'
import { took } from '../text/span.ts'

/** Lines of an output that stand below a check that did not pass. */
const outputLines = 3

const markOf = { passed: 'done', failed: 'failed', unknown: 'unknown' } as const

const namedBy = ({ heard }: Group) =>
  (heard.check_owed ?? heard.check_started ?? heard.check_finished)?.event

export function checkEntry(group: Group, _sight: Sight, level: Level): Entry | null {
  const named = namedBy(group)
  if (named === undefined) return null
  const { check_started: started, check_finished: finished } = group.heard
  const again = named.n === 1 ? '' : `, run ${named.n}`
  const task = started?.event.task_id
  const common = {
    title: line(`check ${named.name}${again}`),
    who: line('-'),
    cli: line(`holon work check list ${named.id}`),
    ...(task === undefined ? {} : { subject: { noun: 'task', id: task } as const }),
  }
  const record = level === 3 ? recordOf(group) : []
  if (finished === undefined) {
    return entry(group, 'check', {
      ...common,
      body: record,
      mark: started === undefined ? 'next' : 'working',
      since: started?.at ?? null,
      facts: facts(started === undefined ? 'not known yet' : ''),
    })
  }
  const { outcome, exit_status, reason, tail, by, started_at } = finished.event
  const time = by === 'operator' ? 'said by you' : took(msBetween(started_at, finished.at))
  const status = exit_status === null || outcome === 'passed' ? '' : ` with ${exit_status}`
  const output = outcome === 'passed' ? [] : lines(tail).slice(-outputLines)
  return entry(group, 'check', {
    ...common,
    mark: markOf[outcome],
    facts: facts(`${outcome}${status}, ${time}`),
    body: [...(reason === null ? [] : lines(reason)), ...output, ...record],
  })
}

function recordOf(group: Group) {
  const { check_owed: owed, check_started: started, check_finished: finished } = group.heard
  const asked = owed === undefined ? '' : `  owed by ${owed.event.by}`
  const trees = finished?.event.tree
  const hash = (tree: { hash: string | null; problem: string | null }) => tree.hash ?? tree.problem
  return [
    line(`${group.id}  seq ${group.seq}${asked}`),
    ...(started === undefined ? [] : [line(`task ${started.event.task_id}`)]),
    ...(trees ? [line(`on ${hash(trees.before)}, then ${hash(trees.after)}`)] : []),
  ]
}

/** The checks of an item below its completion, which says what they come to. */
export function withChecks(top: readonly Entry[], feed: Feed, level: Level): readonly Entry[] {
  const ofItem = new Map<string, Entry[]>()
  const own: Entry[] = []
  const parents = new Set(top.flatMap(({ kind, id }) => (kind === 'completion' ? [id] : [])))
  for (const one of top) {
    const parent = one.kind === 'check' ? parentOf(one) : null
    if (parent === null) own.push(one)
    else if (parents.has(parent)) ofItem.set(parent, [...(ofItem.get(parent) ?? []), one])
    // Its completion is older than what is held: it stands by itself.
    else if (isShown(one, level)) own.push(one)
  }
  if (ofItem.size === 0) return own.length === top.length ? top : own
  return own.map((one) => {
    const checks = one.kind === 'completion' ? ofItem.get(one.id) : undefined
    return checks === undefined ? one : judged(one, checks, feed, level)
  })
}

const parentOf = ({ id }: Entry): string => `${id.slice(0, id.indexOf('/'))}/done`

/** On the first level only what is not as it should be is told beside the completion. */
const isShown = ({ mark }: Entry, level: Level): boolean => level > 1 || mark !== 'done'

const known: KeptEntries = new WeakMap()

function judged(done: Entry, checks: readonly Entry[], feed: Feed, level: Level): Entry {
  return kept(known, done, checks, level, () => {
    const groups = checks.flatMap(({ id }) => onShelf(feed.groups, id) ?? [])
    const { state } = verificationOf({ state: 'completed', checks: newestRuns(groups) })
    // While a part of the history is being fetched, a check may be owed that was not heard of.
    const isSure = state !== 'verified' || gapsOf(feed).length === 0
    return {
      ...done,
      facts: facts(stateWords[isSure ? state : 'pending']),
      children: [...done.children, ...checks.filter((one) => isShown(one, level))],
    }
  })
}

/** Of each check its newest run. What it asks is not told by events, and not looked at here. */
function newestRuns(groups: readonly Group[]): Check[] {
  const byName = new Map<string, Check>()
  for (const group of [...groups].sort((a, b) => a.seq - b.seq)) {
    const named = namedBy(group)
    if (named === undefined) continue
    const { name } = named
    byName.set(name, { kind: 'person', name, question: '', run: runOf(group, named.n) })
  }
  return [...byName.values()]
}

function runOf(group: Group, n: number): NonNullable<Check['run']> {
  const { check_started: started, check_finished: finished } = group.heard
  const of = { n, owed_at: group.at, told: finished?.event.told ?? false }
  if (finished === undefined) return { state: 'owed', ...of }
  const { outcome, exit_status, reason, tail, tree, started_at } = finished.event
  const task_id = started?.event.task_id ?? null
  const end = { outcome, exit_status, reason, tail, tree, task_id, started_at }
  return { state: 'finished', ...of, ...end, finished_at: finished.at }
}
