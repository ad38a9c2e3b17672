/** WaitFor: stops until something happens, and says what may wake the item. */
import { z } from 'zod'
import { openTurn, type Draft } from '../domain/facts.ts'
import type { WorkItemId } from '../domain/ids.ts'
import { waitRecord } from '../domain/record.ts'
import type { Task } from '../domain/task.ts'
import { fromMs, isTimestamp, plus, toMs, type Timestamp } from '../domain/time.ts'
import { isRejection, no, type Rejection } from '../domain/verdict.ts'
import { waitFor as decideWait, type Waiting } from '../domain/waiting.ts'
import { deliveryModes, wakes } from '../domain/wait.ts'
import { asWorkItemId, workItemId } from './schemas.ts'
import { refused, storeTool, succeeded, type CallFrame, type StoreOutcome } from './tool.ts'

const input = () =>
  z.strictObject({
    wake: z.enum(wakes),
    reason: z.string().describe('What is waited for and why; for operator_input, the question.'),
    work_item_id: workItemId().optional(),
    resource: z
      .string()
      .min(1)
      .optional()
      .describe('The task id, or a stable name of the external thing.'),
    source: z.string().min(1).optional().describe('Who will send the external event.'),
    condition: z.string().min(1).optional().describe('What has to be true to go on.'),
    wait_ms: z.number().int().min(0).optional(),
    wake_at: z.string().optional().describe('RFC 3339, for a timer.'),
    recheck_after_ms: z.number().int().min(1).optional(),
    delivery_mode: z.enum(deliveryModes).optional(),
  })
type Input = z.infer<ReturnType<typeof input>>

const name = 'WaitFor'

export const waitFor = storeTool<Input, Task | null>({
  name,
  input,
  title: (given) => `${given.wake}: ${given.reason}`,
  async prepare(given, ctx) {
    if (given.wake !== 'task_result' || given.resource === undefined) return null
    return ctx.load('tasks', given.resource)
  },
  decide(d, given, frame, found) {
    // The task may have ended since it was looked up: the facts of this decision are the truth.
    const task = (given.resource ? d.row('tasks', given.resource) : undefined) ?? found
    const time = timeOf(given, d.now)
    if (isRejection(time)) return { result: refused(name, time), closes: null }
    const turn = openTurn(d) ?? frame.turn
    const item = given.work_item_id ? asWorkItemId(given.work_item_id) : turn.work_item_id
    const question = given.wake === 'operator_input' ? frame.round_text || given.reason : null
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
      question,
    })
    if (isRejection(waiting)) return { result: refused(name, waiting), closes: null }
    return outcome(d, given, frame, waiting, task, item, turn.work_item_id)
  },
})

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

function outcome(
  d: Draft,
  given: Input,
  frame: CallFrame,
  waiting: Waiting,
  task: Task | null,
  item: WorkItemId | null,
  turnItem: WorkItemId | null,
): StoreOutcome {
  const wait = d.row('waits', waiting.wait.id) ?? waiting.wait
  const result = {
    wait: waitRecord(wait),
    status: wait.status,
    ...(waiting.rearmed ? { rearmed: true } : {}),
    ...(waiting.replaced === null ? {} : { replaced_wait_id: waiting.replaced }),
    ...(waiting.answered === 'task_ended' && task ? { task: taskEnd(task) } : {}),
  }
  const summary = summaryOf(waiting, item)
  const closes = waiting.answered === null && (item === null || item === turnItem)
  return {
    result: succeeded(name, summary, result, waiting.warnings),
    closes: closes
      ? {
          outcome: 'waiting',
          reason: given.wake,
          ask_report: false,
          text: given.wake === 'operator_input' ? '' : frame.round_text,
        }
      : null,
  }
}

const taskEnd = (task: Task) => ({
  task_id: task.id,
  status: task.status,
  exit_status: task.exit_status,
  reason: task.reason,
  output: task.output,
})

function summaryOf(waiting: Waiting, item: WorkItemId | null): string {
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
        : `${who} waits for ${wait.wake} as ${wait.id}.`
  }
}
