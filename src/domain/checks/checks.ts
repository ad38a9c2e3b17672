/**
 * Rules of checks (docs/spec/work-item.md#completion, docs/spec/check.md#claimed-and-verified):
 * what a completion owes, which run comes next, how one begins and ends, what the operator may ask
 * again and answer, and what is told of a failure. What refuses an agent's completion is in
 * completion-claim.ts; none is ever undone.
 */
import {
  isAlive,
  isUnderWay,
  type Check,
  type CheckOutcome,
  type WorkspaceTree,
  type CheckRunEnd,
} from '../state/check.ts'
import { endLine, firstLine } from './words.ts'
import { deliverBrief } from '../facts/deliver-brief.ts'
import type { Draft, Facts } from '../facts/facts.ts'
import type { TaskId, WorkItemId } from '../ids.ts'
import { admit } from '../inbox/admit.ts'
import { limits } from '../limits.ts'
import { runtimeFollowup } from '../state/provenance.ts'
import type { StartPlace } from '../start-place.ts'
import { verificationOf } from '../facts/verification.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { WorkItem } from '../state/work-item.ts'

/**
 * In the commit that completes it: every check is now owed, before anything of it is run. What runs
 * already goes on; `judged`: the completion was decided on the runs of machine checks, so those
 * that passed stand.
 */
export function oweChecks(d: Draft, item: WorkItem, judged: boolean): void {
  for (const check of item.checks) {
    if (isAlive(check) || (judged && isPassed(check))) continue
    owe(d, item, check, 'runtime')
  }
}

export function owe(d: Draft, { id }: WorkItem, check: Check, by: 'runtime' | 'operator'): void {
  d.emit({ type: 'check_owed', id, name: check.name, n: (check.run?.n ?? 0) + 1, by })
}

const isPassed = ({ run }: Check): boolean => run?.state === 'finished' && run.outcome === 'passed'

export type AliveRun = { item: WorkItem; check: Check }

/**
 * The run that the runtime goes on with: one that has begun, else the first owed of the item whose
 * checks were asked for first; of an open item, whose completion waits for them, ahead of all. One
 * at a time, so that two checks never share a moment of the workspace.
 */
export function nextRun(facts: Facts): AliveRun | null {
  let first: AliveRun | null = null
  for (const item of facts.rows('work_items')) {
    for (const check of item.checks) {
      if (!isUnderWay(check)) continue
      if (check.run?.state === 'running') return { item, check }
      if (first === null || comesBefore(item, first.item)) first = { item, check }
    }
  }
  return first
}

function comesBefore(a: WorkItem, b: WorkItem): boolean {
  // Nothing is before what is not: an open item has no time of completion.
  if (a.completed_at === b.completed_at) return a.id < b.id
  return (a.completed_at ?? '') < (b.completed_at ?? '')
}

/** A run by item, name and number: an act meant for an earlier run meets nothing. */
export type RunName = { work_item_id: WorkItemId; name: string; n: number }

function aliveRun(facts: Facts, { work_item_id, name, n }: RunName): AliveRun | null {
  const item = facts.row('work_items', work_item_id)
  const check = item?.checks.find((one) => one.name === name)
  return item && check && isAlive(check) && check.run?.n === n ? { item, check } : null
}

export type CommandStart = {
  task_id: TaskId
  workdir: string
  start_place: StartPlace
  output_path: string
  tree: WorkspaceTree
}

/**
 * The intent of a check's command: its task is a row before anything of it runs, promoted, so that
 * the task supervisor begins it and answers for it, also after a crash. False: nothing is owed.
 */
export function startCommand(d: Draft, run: RunName, start: CommandStart): boolean {
  const found = aliveRun(d, run)
  if (found?.check.kind !== 'command' || found.check.run?.state !== 'owed') return false
  const { cmd, timeout_ms, name } = found.check
  const { task_id, workdir, start_place, output_path, tree } = start
  const { work_item_id: id, n } = run
  d.emit({
    type: 'task_queued',
    id: task_id,
    work_item_id: id,
    kind: 'command',
    label: firstLine(`check ${name}: ${cmd}`),
    cmd,
    child_agent_id: null,
    workdir,
    timeout_ms,
    start_place,
    output_path,
  })
  d.emit({ type: 'check_started', id, name, n, task_id, tree })
  d.emit({ type: 'task_promoted', id: task_id })
  return true
}

/** Records how a run ended, and tells of a failure once nothing of the item is still to run. */
export function finishRun(
  d: Draft,
  run: RunName,
  end: CheckRunEnd,
  by: 'runtime' | 'operator',
): void {
  const found = aliveRun(d, run)
  if (found === null) return
  const { work_item_id: id, name, n } = run
  const tail = lastOf(end.tail)
  const told = found.item.state === 'completed' && tells(found, end.outcome)
  d.emit({ type: 'check_finished', id, name, n, by, ...end, tail, told })
  if (told) tellFailure(d, id)
}

/** Whether this end is the one that the item's failure is told with: once for each item. */
function tells({ item, check }: AliveRun, outcome: CheckOutcome): boolean {
  const others = item.checks.filter((one) => one !== check)
  if (item.checks.some(({ run }) => run?.told === true)) return false
  if (others.some(isUnderWay)) return false
  return outcome !== 'passed' || others.some(hasFailed)
}

/** Why checks that still run may not be changed; null: none does. */
export function checksRunning(item: WorkItem): Rejection | null {
  const running = item.checks.filter(isUnderWay)
  if (running.length === 0) return null
  const which = running.map(({ name }) => name).join(', ')
  return no('checks_running', `${which} of ${item.id} are still to be run.`)
}

const hasFailed = ({ run }: Check): boolean => run?.state === 'finished' && run.outcome !== 'passed'

/** One brief for the operator and one message for the agent, which decides what follows. */
function tellFailure(d: Draft, id: WorkItemId): void {
  const item = d.row('work_items', id)
  if (!item) throw new Error(`no row for ${id}`)
  const failed = item.checks.filter(hasFailed)
  const head = `${verificationOf(item).says}.`
  deliverBrief(d, {
    kind: 'failure',
    text: [head, ...failed.flatMap(failureLines), `All of it: holon work check list ${id}`].join(
      '\n',
    ),
    work_item_id: id,
  })
  const says =
    `The runtime ran the checks that the operator wants of ${id}, which is completed: ${head} ` +
    'It stays completed, and is not verified. If work is left, create a work item for it.'
  admit(d, {
    id: d.mint('msg'),
    provenance: runtimeFollowup,
    priority: 'normal',
    body: [says, ...failed.map(failureLine)].join('\n'),
    work_item_id: id,
  })
}

/** Characters of an output that the message and the brief quote of each check. */
const tailMost = 600

/** The end of what a run printed. */
export const quotedTail = ({ tail }: { tail: string }): string => cutFront(tail.trim(), tailMost)

function failureLines(check: Check): string[] {
  const { run } = check
  if (run?.state !== 'finished') return []
  const tail = quotedTail(run)
  const task = run.task_id === null ? [] : [`(everything it printed: ${run.task_id})`]
  return [`- ${endLine(check)}`, ...(tail === '' ? [] : [tail]), ...task]
}

/** The same where the runtime speaks to the agent: what a program printed stands in quotes. */
function failureLine(check: Check): string {
  const { run } = check
  if (run?.state !== 'finished') return `- ${endLine(check)}`
  const tail = quotedTail(run)
  const said = tail === '' ? '' : `; it printed ${JSON.stringify(tail)}`
  const task = run.task_id === null ? '' : ` (everything: ${run.task_id})`
  return `- ${endLine(check)}${said}${task}`
}

const lastOf = (text: string): string => cutFront(text, limits.check_tail.value)

const cutFront = (text: string, most: number): string =>
  text.length <= most ? text : `…${text.slice(text.length - most + 1)}`

/** The operator's: runs checks of a completed item again; all of them without names. */
export function runAgain(
  d: Draft,
  { work_item_id, names }: { work_item_id: string; names: readonly string[] | null },
): { ok: true; names: readonly string[] } | Rejection {
  const item = itemWithChecks(d, work_item_id)
  if ('ok' in item) return item
  const missing = names?.find((name) => !item.checks.some((check) => check.name === name))
  if (missing !== undefined) return noCheck(item, missing)
  const running = checksRunning(item)
  if (running) return running
  const again = item.checks.filter(
    (check) => !isAlive(check) && (names === null || names.includes(check.name)),
  )
  if (again.length === 0) {
    return no('checks_running', `What is asked of ${item.id} waits for a person's answer already.`)
  }
  for (const check of again) owe(d, item, check, 'operator')
  return { ok: true, names: again.map(({ name }) => name) }
}

export type CheckAnswer = {
  work_item_id: string
  name: string
  /** The run it was shown with: of two answers to it, the second is refused. */
  run: number
  passed: boolean
  words: string | null
}

/** The operator's answer to a check by a person. Nobody else has a way to give one. */
export function answerCheck(d: Draft, answer: CheckAnswer): { ok: true } | Rejection {
  const item = itemWithChecks(d, answer.work_item_id)
  if ('ok' in item) return item
  const check = item.checks.find(({ name }) => name === answer.name)
  if (check === undefined) return noCheck(item, answer.name)
  if (check.kind !== 'person') {
    return no('check_no_question', `${check.name} is run by the runtime, not answered.`)
  }
  const { run } = check
  if (run?.state !== 'owed' || run.n !== answer.run) {
    const how = run?.state === 'finished' ? `${run.outcome} at ${run.finished_at}` : 'asked again'
    return no('check_answered', `${check.name} is not open under run ${answer.run}: ${how}.`)
  }
  const words = answer.words?.trim() || null
  if (words !== null && words.length > limits.reason.value) {
    return overLimit(limits.reason, words.length)
  }
  const end: CheckRunEnd = {
    outcome: answer.passed ? 'passed' : 'failed',
    exit_status: null,
    reason: words,
    tail: '',
    tree: null,
    started_at: run.owed_at,
  }
  finishRun(d, { work_item_id: item.id, name: check.name, n: run.n }, end, 'operator')
  return { ok: true }
}

function itemWithChecks(d: Draft, id: string): WorkItem | Rejection {
  const item = d.row('work_items', id)
  if (item?.agent_id !== d.agent_id) {
    return no('work_item_not_found', `${id} is not a work item of ${d.agent_id}.`)
  }
  if (item.checks.length === 0) return no('check_not_found', `${item.id} has no checks.`)
  return item.state === 'completed'
    ? item
    : no('check_not_owed', `${item.id} is not completed: its checks run when it is.`)
}

const noCheck = (item: WorkItem, name: string): Rejection =>
  no('check_not_found', `"${name.slice(0, 100)}" is no check of ${item.id}.`)

/** Of an agent that goes: what was still to be run is not known any more. */
export function giveUpChecks(d: Draft, because: string): void {
  for (const item of [...d.rows('work_items')]) {
    for (const check of item.checks) {
      const { run } = check
      if (run === null || run.state === 'finished') continue
      const tree = run.state === 'running' ? { before: run.tree, after: run.tree } : null
      const at = run.state === 'running' ? run.started_at : run.owed_at
      d.emit({
        type: 'check_finished',
        id: item.id,
        name: check.name,
        n: run.n,
        by: 'runtime',
        outcome: 'unknown',
        exit_status: null,
        reason: because,
        tail: '',
        tree,
        started_at: at,
        told: false,
      })
    }
  }
}
