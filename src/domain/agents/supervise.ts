/**
 * What a parent is still owed by a child, and the child by its parent
 * (docs/spec/agent.md#questions-of-a-child): decided from the rows of both, level-triggered, after
 * whatever either of them committed and again after a restart. So nothing that a kill interrupted
 * is missed, and nothing is told twice.
 */
import { endWhatWaits } from './lifecycle.ts'
import type { Agent } from '../state/agent.ts'
import type { Brief } from '../state/brief.ts'
import type { Delegation } from '../state/delegation.ts'
import {
  activeWaits,
  agentOf,
  openItems,
  openTurn,
  type Draft,
  type Facts,
  agentPacing,
} from '../facts/facts.ts'
import type { TaskId } from '../ids.ts'
import { firstBytes } from '../inbox/deliveries.ts'
import { activeHold } from '../waits/hold.ts'
import { admit, endTask, utf8Length } from '../inbox/admit.ts'
import { isLate, lateResults } from '../inbox/late-results.ts'
import { holdMs, limits } from '../limits.ts'
import { isLiveMessage, type Message } from '../state/message.ts'
import { releaseHolds, tellsHold } from '../scheduler/park.ts'
import { taskStatus } from '../state/provenance.ts'
import { questionText } from '../state/question.ts'
import { next } from '../scheduler/next.ts'
import { isTerminal, type ChildQuestion, type Task, type TaskEnd } from '../state/task.ts'
import { plus, type Timestamp } from '../time.ts'
import type { Turn } from '../state/turn.ts'
import { endTurn } from '../turns/end.ts'
import { waitWords, askedOf } from '../state/wait.ts'

/** What a finished child leaves, read from the ledger when it may have finished. */
export type Legacy = {
  /** Its completion reports, oldest first. */
  reports: readonly Brief[]
  /** The newest of its other words, of each kind, newest first. */
  said: readonly Pick<Brief, 'kind' | 'text' | 'wait_id'>[]
  /** Its newest turn. */
  last_turn: Pick<Turn, 'outcome' | 'reason'> | null
  /** What its worktree was seen to hold, on one line; null: it has none. */
  worktree: string | null
}

/** The supervising task and the delegation of a child, among its parent's rows. */
export function supervisionOf(
  p: Facts,
  child: Pick<Agent, 'id' | 'supervising_task_id'>,
): { task: Task; delegation: Delegation | null } | null {
  const task = p.row('tasks', child.supervising_task_id ?? '')
  if (!task) return null
  for (const delegation of p.rows('delegations')) {
    if (delegation.task_id === task.id) return { task, delegation }
  }
  return { task, delegation: null }
}

/** Brings both sides in line. `legacy` is null unless `mayEnd` said it may be needed. */
export function relay(p: Draft, c: Draft, legacy: Legacy | null): void {
  const child = c.row('agents', c.agent_id)
  if (!child || child.state === 'deleted') return
  const found = supervisionOf(p, child)
  if (found === null || isTerminal(found.task)) {
    // Its task is over: whatever still stands of the child ends with it.
    if (openTurn(c) === null && !runsTask(c)) endChild(c)
    return
  }
  // A stop is under way: it ends the child itself, with proof.
  if (found.task.status === 'cancelling') return
  followPosture(p, c, child)
  bindFirstItem(p, c, found.delegation)
  const ending =
    legacy === null || agentOf(c).state !== 'active'
      ? null
      : (usedUp(p, c, found.delegation, legacy) ?? endingOf(c, legacy))
  if (ending === null) ask(p, c, found)
  else finishChild(p, c, found.task.id, ending, legacy?.worktree ?? null)
}

/** A stopped parent's children are stopped, and started with it again. */
function followPosture(p: Draft, c: Draft, child: Agent): void {
  const parent = agentOf(p)
  if (parent.state === 'stopped' && child.state === 'active') {
    c.emit({ type: 'agent_stopped', id: child.id, by: 'runtime' })
  }
  if (parent.state === 'active' && child.state === 'stopped') {
    releaseHolds(c)
    c.emit({ type: 'agent_started', id: child.id, by: 'runtime' })
  }
}

function bindFirstItem(p: Draft, c: Draft, delegation: Delegation | null): void {
  if (delegation === null || delegation.child_work_item_id !== null) return
  const [first] = [...c.rows('work_items')].sort((a, b) => (a.id < b.id ? -1 : 1))
  if (!first) return
  p.emit({ type: 'delegation_bound', id: delegation.id, child_work_item_id: first.id })
}

/** Tells the supervisor what the child asks, each question once; takes back what is over. */
function ask(
  p: Draft,
  c: Draft,
  { task, delegation }: { task: Task; delegation: Delegation | null },
): void {
  const asking = askingOf(c)
  if (asking?.key === task.asking?.key) return
  if (task.asking !== null) takeBack(p, task.id)
  if (asking === null) {
    p.emit({ type: 'task_answered', id: task.id })
    return
  }
  p.emit({ type: 'task_asked', id: task.id, asking })
  if (asking.of === 'operator') return
  const item = delegation?.work_item_id ?? null
  const open = item !== null && p.row('work_items', item)?.state === 'open'
  const head = `${c.agent_id} (${task.id}, ${task.label}) asks, and waits for TaskInput:`
  admit(p, {
    id: p.mint('msg'),
    provenance: taskStatus,
    priority: 'normal',
    body: `${head}\n${questionText(asking)}`,
    work_item_id: open ? item : null,
    task_id: task.id,
    correlation_id: delegation?.id ?? null,
  })
}

/** A question nobody has read yet needs no reading once it is over. */
export function takeBack(p: Draft, task: TaskId): void {
  for (const message of [...p.rows('messages')]) {
    if (message.status !== 'queued' || message.kind !== 'task_status') continue
    if (message.task_id !== task) continue
    const because = 'the question is over'
    p.emit({ type: 'message_consumed', id: message.id, turn_id: null, because })
  }
}

/** The oldest question of the child; an item that nothing can wake is one, too. */
export function askingOf(c: Facts): ChildQuestion | null {
  const agent = agentOf(c)
  const waits = [...activeWaits(c)]
    .filter((wait) => wait.wake === 'operator_input')
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const [wait] = waits
  if (wait) {
    return {
      key: wait.id,
      wait_id: wait.id,
      work_item_id: wait.work_item_id,
      of: askedOf(agent, wait) === null ? 'operator' : 'supervisor',
      text: waitWords(wait),
      choices: wait.question?.choices ?? [],
    }
  }
  if (!rests(c) || goesOn(c)) return null
  const held = new Set([...activeWaits(c)].map((one) => one.work_item_id))
  for (const item of openItems(c)) {
    if (held.has(item.id)) continue
    const text = item.blocked_by
    if (text === null) continue
    const key = `${item.id}@${item.revision}`
    const asked = `${item.objective}\n${text}`
    return { key, wait_id: null, work_item_id: item.id, of: 'supervisor', text: asked, choices: [] }
  }
  return null
}

/** Nothing runs, and nothing queued starts a turn: what it does next, somebody else decides. */
function rests(c: Facts): boolean {
  if (openTurn(c) !== null) return false
  for (const message of c.rows('messages')) {
    if (isLiveMessage(message) && !isLate(c, message)) return false
  }
  return !runsTask(c)
}

function runsTask(c: Facts): boolean {
  for (const task of c.rows('tasks')) if (!isTerminal(task)) return true
  return false
}

/** It has something else to do, now or after a back-off: nobody has to say how it goes on. */
function goesOn(c: Facts): boolean {
  const then = next(c, c.last_at, false)
  return then.do === 'start_turn' || (then.do === 'wait' && then.for === 'backoff')
}

/** Whether the child may be over, so that what it leaves has to be looked at. */
export function mayEnd(c: Facts, now: Timestamp): boolean {
  // A stopped one may be over in the very commit that starts it again.
  if ((c.row('agents', c.agent_id)?.state ?? 'deleted') === 'deleted') return false
  // Also with open items: a turn that the provider refused ends the child all the same.
  return rests(c) || heldTooLong(c, now) || activeHold(c, 'budget') !== null
}

/** No open turn, message, task, item or wait: nothing will ever happen in it again. */
function isDone(c: Facts, now: Timestamp): boolean {
  if (!rests(c)) return false
  for (const _ of openItems(c)) return false
  for (const _ of activeWaits(c)) return false
  // An end that no turn has shown yet is still to be shown.
  return next(c, now, false).do === 'sleep'
}

/**
 * When a child that is held now will be given up; null: it is not held, or a command of it runs,
 * which a rule cannot stop: it is looked at again when that has ended.
 */
export function givenUpAt(c: Facts): Timestamp | null {
  let since: Timestamp | null = null
  if (runsTask(c)) return null
  for (const wait of activeWaits(c)) {
    // A budget is a person's to raise, whenever that is.
    if (wait.runtime_cause === 'budget' || wait.runtime_cause === 'spending') continue
    if (wait.wake === 'system') since = wait.created_at
  }
  if (since === null) return null
  return plus(since, limits.child_hold.value - heldBefore(c))
}

/** How long the holds before this one lasted at least, back to the last answer. */
function heldBefore(c: Facts): number {
  let sum = 0
  for (let i = 0; i < agentPacing(c).holds - 1; i += 1) {
    sum += holdMs[Math.min(i, holdMs.length - 1)] ?? 0
  }
  return sum
}

function heldTooLong(c: Facts, now: Timestamp): boolean {
  const at = givenUpAt(c)
  return at !== null && at <= now
}

/** Held for the budget of an item that is over: nobody will raise it any more. */
function usedUp(p: Draft, c: Draft, delegation: Delegation | null, legacy: Legacy): Ending | null {
  const item = delegation?.work_item_id ?? null
  if (item === null || activeHold(c, 'budget') === null || runsTask(c)) return null
  if (p.row('work_items', item)?.state === 'open') return null
  return { status: 'failed', reason: 'the budget of its work is used up', text: wordsOf(legacy) }
}

type Ending = { status: TaskEnd; reason: string | null; text: string }

function endingOf(c: Draft, legacy: Legacy): Ending | null {
  const said = wordsOf(legacy)
  const { last_turn } = legacy
  if (heldTooLong(c, c.now)) {
    const cause = activeHold(c)?.reason.replace(/\.$/, '') ?? ''
    const why = cause === '' ? '' : `: ${cause}`
    return { status: 'failed', reason: `it was held for 24 hours${why}`, text: said }
  }
  if (openTurn(c) === null && last_turn?.outcome === 'failed') {
    const why = last_turn.reason === null ? '' : `: ${last_turn.reason}`
    return { status: 'failed', reason: `its turn failed${why}`, text: said }
  }
  if (!isDone(c, c.now)) return null
  const isWhole = last_turn?.outcome === 'completed' || last_turn?.outcome === 'waiting'
  if (legacy.reports.length > 0 || isWhole) {
    return { status: 'completed', reason: null, text: said }
  }
  const reason = last_turn === null ? 'it never began' : `its last turn was ${last_turn.outcome}`
  return { status: 'failed', reason, text: said }
}

/** Its reports in order, else its last words; that it is held and will go on is over with it. */
function wordsOf({ reports, said }: Legacy): string {
  if (reports.length === 0) return said.find((brief) => !tellsHold(brief))?.text ?? ''
  return reports.map((report) => report.text).join('\n\n')
}

/** The end of a child by itself, or by a stop that was proved: one commit of both. */
export function finishChild(
  p: Draft,
  c: Draft,
  task_id: TaskId,
  ending: Ending,
  worktree: string | null,
): void {
  const child = c.row('agents', c.agent_id)
  const delegation = child ? (supervisionOf(p, child)?.delegation ?? null) : null
  const unread = lateResults(c).map(lateLine)
  if (child && child.state !== 'deleted') {
    // Held in the middle of a turn: nobody will go on with it.
    if (openTurn(c) !== null) {
      endTurn(c, { outcome: 'failed', reason: ending.reason, text: '', plan: null })
    }
    endChild(c)
  }
  const task = p.row('tasks', task_id)
  if (!task || isTerminal(task)) return
  takeBack(p, task_id)
  if (delegation?.state === 'active') {
    bindFirstItem(p, c, delegation)
    p.emit({
      type: 'delegation_ended',
      id: delegation.id,
      state: ending.status,
      result_summary: ending.text === '' ? null : cut(ending.text),
    })
  }
  const why = ending.reason === null ? '' : ` (${ending.reason})`
  const said = `${task.child_agent_id} (${task.id}, ${task.label}): ${ending.status}${why}`
  // One line: what follows it is the child's, and stands as evidence.
  const head = [said, ...(worktree === null ? [] : [worktree]), ...unread]
  if (ending.text === '') head.push('It left no words.')
  const frame = head.reduce((all, one) => `${all.replace(/\.$/, '')}. ${one}`).replaceAll('\n', ' ')
  endTask(p, {
    task_id,
    status: ending.status,
    reason: ending.reason,
    exit_status: null,
    output_bytes: utf8Length(ending.text),
    ended_at: p.now,
    body: ending.text === '' ? frame : `${frame}\n${readable(ending.text)}`,
  })
}

/** What came of the child's own tasks after it had completed their item: it has no next turn. */
const lateLine = ({ body }: Message): string =>
  `It has not seen this end, which came late: ${body.split('\n', 1)[0] ?? ''}`

/** What a child left, as far as a message may be long. */
function readable(text: string): string {
  const most = limits.delivery_text.value
  if (utf8Length(text) <= most) return text
  return `${firstBytes(text, most)}\n(Cut here; TaskOutput has more.)`
}

function cut(text: string): string {
  const most = limits.result_summary.value
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** A private child that is over keeps its rows and nothing else. */
function endChild(c: Draft): void {
  endWhatWaits(c, 'runtime', 'its task is over')
  c.emit({ type: 'agent_deleted', id: c.agent_id, by: 'runtime' })
}
