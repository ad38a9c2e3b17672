/**
 * The rounds of a run: begin a step, follow its command, judge how it ended, go on, finish. One
 * round both ticks a step off and begins the next, so a step costs one round. A command is begun
 * again only when the operator cleared the blocker its end had set. Pure.
 */
import type { Wait } from '../../domain/state/wait.ts'
import type { Todo, WorkItem } from '../../domain/state/work-item.ts'
import type { JsonObject } from '../../ports/json.ts'
import { lastLine } from './command-result.ts'
import type { Attempt, RunbookMemo, Recalled, StepResult } from './memo.ts'
import type { Program, RunbookStep } from './parse.ts'
import { sameTodos, withState } from './position.ts'
import type { RunbookItem, RunbookSituation } from './situation.ts'
import * as words from './words.ts'

export type ToolUse = { tool_name: string; input: JsonObject }

/** A round without calls ends the turn with its text. */
export type RunbookReply = { text: string; calls: readonly ToolUse[]; memo: RunbookMemo }

export type RunbookRun = {
  s: RunbookSituation
  view: RunbookItem
  program: Program
  /** The todo list as it should be now, one for each step. */
  todos: readonly Todo[]
  recalled: Recalled
  memo: RunbookMemo
  /** The item's callback arrived: its wait is cleared by the update that goes on. */
  unblock: boolean
}

export const conditionOf = (at: number): string => `runbook step ${at + 1}`

/** The next round of an item that may go on; `at` is the current step, null when none is left. */
export function advance(run: RunbookRun, at: number | null): RunbookReply {
  const step = at === null ? undefined : run.program.steps[at]
  if (at === null || !step) return finish(run)
  return step.action.kind === 'sh' ? command(run, at, step) : waiting(run, at, step)
}

function command(run: RunbookRun, at: number, step: RunbookStep): RunbookReply {
  const attempt = attemptAt(run, at)
  switch (attempt?.kind) {
    case undefined:
      return begin(run, at)
    case 'begun':
      throw new Error('the attempt was not read back from its round')
    case 'running':
      return attempt.waited ? readOutput(run, at, attempt) : waitForTask(run, at, attempt)
    case 'ended': {
      const { exit_status, output } = attempt
      const ended = `exit ${exit_status}`
      const note = words.commandNote(ended, lastLine(output))
      if (exit_status === 0) return goOn(run, at, { step: at + 1, done: true, note })
      return fail(run, at, step, { why: `ended with ${ended}`, output, note })
    }
    case 'failed': {
      const { output } = attempt
      const why = words.phrase(attempt.why)
      const note = words.commandNote(why, lastLine(output))
      return fail(run, at, step, { why: `failed: ${why}`, output, note })
    }
    case 'unknown': {
      // Also for an optional step: whether it may be repeated is a person's to say.
      const why = words.phrase(attempt.why)
      const advice = 'Look at what it changed before you let it run again'
      const text = `has an unknown outcome: ${why}. ${advice}`
      return block(run, at, words.blocker(step, at, text, ''))
    }
  }
}

/** What is known about the command of step `at`, from the memo or, without one, from the rows. */
function attemptAt(
  { memo, recalled, todos, view, program }: RunbookRun,
  at: number,
): Attempt | null {
  const step = at + 1
  if (memo.attempt?.step === step) return memo.attempt
  if (recalled.found || todos[at]?.state !== 'in_progress') return null
  const wait = newest(
    view.waits.filter((one) => one.wake === 'task_result' && one.condition === conditionOf(at)),
  )
  const action = program.steps[at]?.action
  const task = newest(view.tasks.filter((one) => action?.kind === 'sh' && one.cmd === action.cmd))
  const task_id: string | null = wait?.resource ?? task?.id ?? null
  if (task_id !== null) return { step, kind: 'running', task_id, waited: true }
  return { step, kind: 'unknown', why: 'it was begun, and no record says how it ended' }
}

const newest = <T extends { id: string; created_at: string }>(rows: readonly T[]): T | undefined =>
  rows.toSorted((a, b) => (`${a.created_at} ${a.id}` < `${b.created_at} ${b.id}` ? -1 : 1)).at(-1)

/** A step that waits: for time, a person, or an event. The rows say whether it is over. */
function waiting(run: RunbookRun, at: number, step: RunbookStep): RunbookReply {
  const { memo, view } = run
  const { attempt } = memo
  if (attempt?.step === at + 1 && attempt.kind === 'failed') {
    return block(run, at, words.blocker(step, at, `failed: ${words.phrase(attempt.why)}`, ''))
  }
  const wait = newest(
    view.waits.filter(
      (one) =>
        one.condition === conditionOf(at) &&
        one.wake === wakeOf(step) &&
        !memo.spent.includes(one.id),
    ),
  )
  if (wait === undefined || run.todos[at]?.state !== 'in_progress') return begin(run, at)
  const answer = memo.answers[wait.id]
  if (answer !== undefined && isNo(answer)) {
    const spent = { ...run, memo: { ...memo, spent: [...memo.spent, wait.id] } }
    const note = words.answered(answer)
    return fail(spent, at, step, { why: words.answeredNo, output: '', note })
  }
  return goOn(run, at, { step: at + 1, done: true, note: waitNote(step, wait, answer) })
}

function wakeOf({ action }: RunbookStep): Wait['wake'] | null {
  switch (action.kind) {
    case 'sh':
      return null
    case 'wait':
      return 'timer'
    case 'ask':
      return 'operator_input'
    case 'callback':
      return 'external'
  }
}

/** A question of a runbook stands before what follows: no means not yet. */
const isNo = (answer: string): boolean => /^(no|n)[.!]?$/i.test(answer)

function waitNote({ action }: RunbookStep, wait: Wait, answer: string | undefined): string {
  if (wait.trigger_count === 1) return 'the callback came'
  if (wait.trigger_count > 1) return `the callback came ${wait.trigger_count} times`
  if (wait.status === 'cancelled') return 'passed over: the wait was taken away'
  if (action.kind === 'wait') return `waited ${action.written}`
  return answer === undefined ? 'answered' : words.answered(answer)
}

function fail(
  run: RunbookRun,
  at: number,
  step: RunbookStep,
  failure: { why: string; output: string; note: string },
): RunbookReply {
  if (step.optional) return goOn(run, at, { step: at + 1, done: false, note: failure.note })
  return block(run, at, words.blocker(step, at, failure.why, failure.output))
}

/** Ticks the step off, or leaves it, and begins the next one in the same round. */
function goOn(run: RunbookRun, at: number, result: StepResult): RunbookReply {
  const todos = withState(run.todos, at, result.done ? 'completed' : 'pending')
  const results = [...run.memo.results.filter((one) => one.step !== result.step), result]
  const memo = { ...run.memo, results, attempt: null }
  const following = todos.findIndex((todo, index) => index > at && todo.state !== 'completed')
  const next = { ...run, todos, memo }
  return following < 0 ? finish(next) : begin(next, following)
}

function begin(run: RunbookRun, at: number): RunbookReply {
  const todos = withState(run.todos, at, 'in_progress')
  const step = run.program.steps[at]
  if (!step) throw new Error(`there is no step ${at + 1}`)
  const { text, call } = actionOf(run, at, step)
  const memo: RunbookMemo = { ...run.memo, attempt: { step: at + 1, kind: 'begun' } }
  const calls = [...update({ ...run, todos }), ...pick(run), call]
  return { text, calls, memo }
}

/** What a step does, and the words beside it. */
function actionOf(run: RunbookRun, at: number, step: RunbookStep): { text: string; call: ToolUse } {
  const headline = words.headline(run.program, at)
  const { action } = step
  const condition = conditionOf(at)
  switch (action.kind) {
    case 'sh':
      return { text: headline, call: { tool_name: 'ExecCommand', input: { cmd: action.cmd } } }
    case 'wait': {
      const reason = `${headline}, waits ${action.written}`
      const input = { wake: 'timer', wait_ms: action.ms, reason, condition }
      return { text: '', call: { tool_name: 'WaitFor', input } }
    }
    case 'ask': {
      const detail = step.description === '' ? [] : [step.description, '']
      const question = [...detail, action.question].join('\n')
      const input = { wake: 'operator_input', reason: headline, question, condition }
      return { text: '', call: { tool_name: 'WaitFor', input } }
    }
    case 'callback': {
      const { name } = action
      const reason = `${headline}, waits for the callback ${name}`
      const input = {
        wake: 'external',
        resource: name,
        reason,
        condition,
        delivery_mode: 'enqueue_message',
      }
      const text = `${headline}\n\n${words.address(name, run.s.trigger_url)}`
      return { text, call: { tool_name: 'WaitFor', input } }
    }
  }
}

type Running = Extract<Attempt, { kind: 'running' }>

function waitForTask(run: RunbookRun, at: number, attempt: Running): RunbookReply {
  const reason = `${words.headline(run.program, at)}, waits for its command`
  const input = {
    wake: 'task_result',
    resource: attempt.task_id,
    reason,
    condition: conditionOf(at),
  }
  const memo: RunbookMemo = { ...run.memo, attempt: { ...attempt, waited: true } }
  const calls = [...update(run), ...pick(run), { tool_name: 'WaitFor', input }]
  return { text: '', calls, memo }
}

function readOutput(run: RunbookRun, at: number, attempt: Running): RunbookReply {
  const memo: RunbookMemo = { ...run.memo, attempt }
  const calls = [{ tool_name: 'TaskOutput', input: { task_id: attempt.task_id } }]
  return { text: words.headline(run.program, at), calls, memo }
}

/** Sets the blocker; the round after says so and ends the turn. The todo stays in progress. */
export function block(
  run: Pick<RunbookRun, 'view' | 'memo'>,
  at: number | null,
  why: string,
): RunbookReply {
  const { item } = run.view.projection
  const input = { work_item_id: item.id, blocked_by: why }
  const memo: RunbookMemo = { ...run.memo, attempt: null }
  const text = at === null ? '' : `Step ${at + 1} stops the run.`
  return { text, calls: [{ tool_name: 'UpdateWorkItem', input }], memo }
}

function finish(run: RunbookRun): RunbookReply {
  const { item } = run.view.projection
  // A step may have left a command running on purpose; the warning says so.
  const input = { work_item_id: item.id, leave_running: true }
  const calls = [...update(run), { tool_name: 'CompleteWorkItem', input }]
  const memo: RunbookMemo = { ...run.memo, attempt: null }
  return { text: words.report(item, run.program, memo), calls, memo }
}

/** The one update of the round, if it changes anything. */
function update({ view, todos, unblock }: RunbookRun): ToolUse[] {
  const item: WorkItem = view.projection.item
  const same = sameTodos(item.todo_list, todos)
  if (same && !unblock) return []
  const input = {
    work_item_id: item.id,
    ...(same ? {} : { todo_list: todos.map(({ text, state }) => ({ text, state })) }),
    ...(unblock ? { blocked_by: null } : {}),
  }
  return [{ tool_name: 'UpdateWorkItem', input }]
}

/** Takes free focus, so that it comes back by itself after the waits of this run. */
function pick({ s, view }: RunbookRun): ToolUse[] {
  if (s.agent.current_work_item_id !== null) return []
  return [{ tool_name: 'PickWorkItem', input: { work_item_id: view.projection.item.id } }]
}
