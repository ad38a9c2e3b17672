/** WaitFor: stops until something happens, and says what may wake the item. */
import { z } from 'zod'
import type { Call } from '../../domain/state/call.ts'
import { completedByRound, isReported } from '../../domain/work/complete.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import { taskResultId, type WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import { choicesOf, questionOf, type Question } from '../../domain/state/question.ts'
import { waitRecord } from '../../domain/work/item-record.ts'
import { isTerminal, type Task } from '../../domain/state/task.ts'
import { fromMs, isTimestamp, plus, toMs, type Timestamp } from '../../domain/time.ts'
import { isRejection, no, type Rejection } from '../../domain/rejection.ts'
import { deliverWords } from '../../domain/turns/end.ts'
import type { Turn } from '../../domain/state/turn.ts'
import { waitFor as decideWait, type WaitResult } from '../../domain/waits/wait-for.ts'
import { deliveryModes, wakes } from '../../domain/state/wait.ts'
import { broughtByChild } from '../commands/child-task.ts'
import { bytesOfTokens, readOutput, streamsOf } from '../commands/command-output.ts'
import { isProcessFault } from '../tool/faults.ts'
import { asWorkItemId, workItemId } from '../tool/schemas.ts'
import {
  refused,
  storeTool,
  succeeded,
  type CallFrame,
  type StoreOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const input = () =>
  z.strictObject({
    wake: z.enum(wakes),
    reason: z.string(),
    question: z.string().optional(),
    choices: z
      .array(z.strictObject({ label: z.string(), key: z.string().optional() }))
      .optional()
      .describe('At most 9.'),
    work_item_id: workItemId().optional(),
    resource: z.string().min(1).optional(),
    source: z.string().min(1).optional(),
    condition: z.string().min(1).optional().describe('What must be true to go on.'),
    wait_ms: z.number().int().min(0).optional(),
    wake_at: z.string().optional().describe('RFC 3339.'),
    recheck_after_ms: z.number().int().min(1).optional(),
    delivery_mode: z.enum(deliveryModes).optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

const name = 'WaitFor'

/** The task, and what came of it where it has ended. */
type Found = { task: Task; brought: Readonly<Record<string, unknown>> }

async function find(id: string, ctx: ToolContext): Promise<Found | null> {
  const task = await ctx.load('tasks', id)
  if (task === null) return null
  return { task, brought: isTerminal(task) ? await broughtBy(task, ctx) : {} }
}

/** One that ended since it was looked at brings what its message says. */
function broughtTo(d: Draft, task: Task, found: Found | null): Found['brought'] {
  if (!isTerminal(task)) return {}
  if (found !== null && isTerminal(found.task)) return found.brought
  const message = d.row('messages', taskResultId(task.id))
  return message === undefined ? {} : { result: message.body }
}

/** Its output, bounded as TaskOutput shows it; of a child its words. */
async function broughtBy(task: Task, ctx: ToolContext): Promise<Found['brought']> {
  if (task.kind === 'child_agent') return broughtByChild(task, ctx)
  try {
    const process = await ctx.processes.observe(task.id)
    const bytes = bytesOfTokens(limits.result_tokens.value)
    return streamsOf(await readOutput(ctx, task.id, process, bytes))
  } catch (error) {
    if (isProcessFault(error)) return { output: task.output }
    throw error
  }
}

export const waitFor = storeTool<Input, Found | null>({
  may_close: true,
  name,
  input,
  ids: ({ wake }) => ['work_item_id', ...(wake === 'task_result' ? ['resource'] : [])],
  title: (given) => `${given.wake}: ${given.reason}`,
  async prepare(given, ctx) {
    if (given.wake !== 'task_result' || given.resource === undefined) return null
    return find(given.resource, ctx)
  },
  decide(d, given, frame, found) {
    // The task may have ended since it was looked up: the facts of this decision are the truth.
    const task =
      (given.resource ? d.row('tasks', given.resource) : undefined) ?? found?.task ?? null
    const ended = task === null ? null : { ...taskEnd(task), ...broughtTo(d, task, found) }
    const time = timeOf(given, d.now)
    if (isRejection(time)) return { result: refused(name, time), closes: null }
    const turn = openTurn(d) ?? frame.turn
    const item = given.work_item_id ? asWorkItemId(given.work_item_id) : turn.work_item_id
    const ends = item === null || item === turn.work_item_id
    const words = wordsOf(d, frame)
    const asked = questionGiven(given, words)
    if (isRejection(asked)) return { result: refused(name, asked), closes: null }
    const waiting = decideWait(d, {
      by: 'agent',
      runtime_cause: null,
      wake: given.wake,
      reason: given.reason,
      work_item_id: item,
      resource: given.resource ?? null,
      source: given.source ?? null,
      condition: given.condition ?? null,
      wake_at: time.wake_at,
      recheck_at: given.recheck_after_ms ? plus(d.now, given.recheck_after_ms) : null,
      delivery_mode: given.delivery_mode ?? 'enqueue_message',
      task,
      has_listener: frame.has_listener,
      question: asked.question,
    })
    if (isRejection(waiting)) return { result: refused(name, waiting), closes: null }
    return outcome(d, { given, turn, item, ends, words }, waiting, ended)
  },
})

/** What is asked: the question that was given, else the words beside the call, else the reason. */
function questionGiven(
  given: Input,
  words: Words,
): { ok: true; question: Question | null } | Rejection {
  const { question, choices = [] } = given
  if (given.wake !== 'operator_input') {
    return question === undefined && choices.length === 0
      ? { ok: true, question: null }
      : no('argument_not_for_wake', 'question and choices are for wake operator_input only.')
  }
  if (question !== undefined) return questionOf(question, choices)
  const offered = choicesOf(choices)
  if (!offered.ok) return offered
  const text = (words.are_claimed ? '' : words.text) || given.reason.trim()
  return { ok: true, question: { text, choices: offered.choices, settles: null } }
}

/**
 * The words beside the calls of the round that nothing has told: neither as a report nor beside an
 * earlier question. `are_claimed`: a completion behind this call may yet make them its report.
 */
function wordsOf(d: Draft, { call, round_text, round_calls }: CallFrame): Words {
  const isAsked = round_calls.some(
    (other) => other.index < call.index && other.tool_name === name && isOwnQuestion(other),
  )
  const text = isAsked || isReported(d, round_calls, round_text) ? '' : round_text.trim()
  const open = round_calls.filter(({ index, result }) => index > call.index && result === null)
  return { text, are_claimed: completedByRound(open).length > 0 }
}

const isOwnQuestion = ({ input, result }: Call): boolean =>
  result?.status === 'success' && (input as Input).question !== undefined

/** A timer wants exactly one of its two arguments; the other wakes want neither. */
function timeOf(given: Input, now: Timestamp): { ok: true; wake_at: Timestamp | null } | Rejection {
  const { wait_ms, wake_at } = given
  const times = (wait_ms === undefined ? 0 : 1) + (wake_at === undefined ? 0 : 1)
  if (given.wake !== 'timer') {
    return times === 0
      ? { ok: true, wake_at: null }
      : no('argument_not_for_wake', 'wait_ms and wake_at are for wake timer only.')
  }
  if (times !== 1) {
    return no('timer_wants_one_time', `A timer got ${times} of wait_ms and wake_at.`)
  }
  if (wake_at !== undefined) {
    return isTimestamp(wake_at)
      ? { ok: true, wake_at: fromMs(toMs(wake_at)) }
      : no('time_invalid', `wake_at is "${wake_at}", which is no time with a zone.`)
  }
  if (wait_ms !== undefined && wait_ms > 1000 * 366 * 86_400_000) {
    return no('time_too_far', `wait_ms is ${wait_ms}.`)
  }
  return { ok: true, wake_at: plus(now, wait_ms ?? 0) }
}

type Words = { text: string; are_claimed: boolean }

type Asked = {
  given: Input
  turn: Turn
  item: WorkItemId | null
  /** Whether the wait is of what the turn is about, so that the turn ends with it. */
  ends: boolean
  words: Words
}

function outcome(
  d: Draft,
  { given, turn, item, ends, words }: Asked,
  waiting: WaitResult,
  ended: Readonly<Record<string, unknown>> | null,
): StoreOutcome {
  const wait = d.row('waits', waiting.wait.id) ?? waiting.wait
  const result = {
    wait: waitRecord(wait),
    status: wait.status,
    ...(waiting.rearmed ? { rearmed: true } : {}),
    ...(waiting.replaced === null ? {} : { replaced_wait_id: waiting.replaced }),
    ...(waiting.answered === 'task_ended' && ended ? { task: ended } : {}),
  }
  const summary = summaryOf(d, waiting, item)
  const closes = waiting.answered === null && ends
  const isAsked = given.wake === 'operator_input'
  const isWords = isAsked && !given.question && !words.are_claimed
  const text = isWords ? '' : words.text
  // Words beside a question about another item are not left for a turn that goes on to forget.
  if (isAsked && !closes && !words.are_claimed && text !== '') deliverWords(d, turn, text)
  return {
    result: succeeded(name, summary, result, waiting.warnings),
    closes: closes ? { outcome: 'waiting', reason: given.wake, ask_report: false, text } : null,
  }
}

const taskEnd = (task: Task) => ({
  task_id: task.id,
  status: task.status,
  exit_status: task.exit_status,
  reason: task.reason,
})

function summaryOf(d: Draft, waiting: WaitResult, item: WorkItemId | null): string {
  const { wait } = waiting
  const who = item ?? 'The agent'
  switch (waiting.answered) {
    case 'task_ended':
      return `${wait.resource} has ended already; nothing is waited for.`
    case 'time_passed':
      return 'That time has come already; nothing is waited for.'
    case null:
      return waiting.rearmed
        ? `${wait.id} was re-armed; ${who} waits on.`
        : `${who} waits for ${wait.wake} as ${wait.id}.${replacedWords(d, waiting)}`
  }
}

/** One that waits for the same again says nothing new. */
function replacedWords(d: Draft, { wait, replaced }: WaitResult): string {
  const before = replaced === null ? undefined : d.row('waits', replaced)
  if (before === undefined || before.wake === wait.wake) return ''
  const { recheck_at: at } = wait
  const again = at === null ? '' : `; unless it is answered before, you are woken at ${at}`
  return ` ${before.id} (${before.wake}) is over and wakes nobody${again}.`
}
