/**
 * A task as readers get it: its row (docs/spec/task.md), with signs of life while it runs and what
 * may be done to it.
 */
import { z } from 'zod'
import {
  taskInputs,
  type HeldAsked,
  type HeldCall,
  type Task,
  type TaskChanges,
} from '../../domain/state/task.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, callId, count, listOf, taskId, timestamp, waitId, workItemId } from '../scalar.ts'
import { grantId, likeCommand } from './grant-record.ts'
import { choice } from './wait-record.ts'
import { fileDiff, lifeShape, type SignsOfLife } from './turn-record.ts'

export const taskStatuses = [
  'held',
  'queued',
  'running',
  'cancelling',
  'completed',
  'failed',
  'cancelled',
  'interrupted',
] as const
export { liveTaskStatuses } from '../../domain/state/task.ts'

const asking = z.strictObject({
  key: z.string(),
  wait_id: waitId.nullable(),
  work_item_id: workItemId.nullable(),
  of: z.enum(['supervisor', 'operator']),
  text: z.string(),
  choices: listOf(choice),
})

/** The action that is asked about, as it was judged: docs/concepts/policy.md. */
const policyAction = z
  .looseObject({ tool: z.string(), sha256: z.string() })
  .describe('What would be done, as a value; a yes is bound to its hash.')

const heldShape = {
  call_id: callId.describe('The call that asked for it.'),
  call: z
    .strictObject({
      tool_name: z.string(),
      input: z.unknown(),
      intent: z.unknown().describe('What its tool worked out before it was asked.'),
      shown: z.string().describe('What it would do, as a person reads it.'),
    })
    .optional()
    .describe('Of a tool; absent: it is a command.'),
  action: policyAction,
  because: z.string().describe('The rule that asks, in its words.'),
  policy_revision: z.string(),
  lapses_at: timestamp.nullable().describe('When no answer is a no; null: never.'),
  grantable: z
    .strictObject({ like: likeCommand.nullable() })
    .nullable()
    .describe('What a yes may stand for beyond once; null: nothing.'),
  changed: z.string().nullable().describe('Why it is asked anew; null: it is not.'),
}

export const heldAsked = z.strictObject(heldShape) as unknown as z.ZodType<HeldAsked>

const held = z.strictObject({
  ...heldShape,
  asked_at: timestamp,
  answer: z
    .strictObject({
      allowed: z.boolean(),
      words: z.string(),
      surface: z.string(),
      at: timestamp,
    })
    .nullable(),
}) as unknown as z.ZodType<HeldCall>

const unseen = z.string().describe('Why they are not known, or not all of them.')

/** In the feed and in the changes of its item; not with the task, which is read often. */
export const taskChanges = z.union([
  z.strictObject({ diffs: listOf(fileDiff), unseen: unseen.optional() }),
  z.strictObject({ unseen }),
]) as unknown as z.ZodType<TaskChanges>

export const taskRecord = z
  .strictObject({
    id: taskId,
    agent_id: agentId,
    work_item_id: workItemId.nullable(),
    kind: z.enum(['command', 'tool_call', 'child_agent']),
    label: z.string(),
    cmd: z.string().nullable(),
    child_agent_id: agentId.nullable(),
    workdir: z.string(),
    timeout_ms: count.nullable(),
    input: z.enum(taskInputs).describe('What reaches it from outside.'),
    asking: asking.nullable().describe('What a child wants to know: it needs input.'),
    status: z.enum(taskStatuses),
    held: held.optional().describe('Of a command or a call that waits, or waited, for a yes.'),
    grant_id: grantId.optional().describe('By which it began though a rule asks about it.'),
    reason: z.string().nullable(),
    exit_status: z.int().nullable(),
    promoted: z.boolean(),
    survivors: listOf(z.int()),
    output: z.strictObject({
      path: z.string().nullable().describe('The folder of its streams; null: a child has none.'),
      bytes: count,
    }),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    ...lifeShape,
    can: canList,
  })
  .meta({ id: 'Task' })
export type TaskRecord = z.infer<typeof taskRecord>

export const taskList = z
  .strictObject({ tasks: z.array(taskRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'TaskList' })

/** Without what only the runtime needs. */
export function taskRecordOf(task: Task, life: SignsOfLife, can: readonly Can[]): TaskRecord {
  const { start_place: _, changes: __, ...shown } = task
  return { ...shown, ...life, can }
}

export const taskStreams = ['stdout', 'stderr'] as const

export const taskOutput = z
  .strictObject({
    task_id: taskId,
    stream: z.enum(taskStreams),
    offset: count.describe('Bytes before this piece.'),
    text: z.string(),
    next_offset: count.describe('Where the next piece begins.'),
    size: count.describe('Bytes there are now.'),
    ended: z.boolean().describe('Nothing will be added.'),
  })
  .meta({ id: 'TaskOutput' })

export const newTask = z
  .strictObject({
    cmd: z.string().describe('A command line, run by the shell of the machine.'),
    workdir: z.string().optional().describe('Absolute; default: the workspace of the agent.'),
    work_item_id: z
      .string()
      .optional()
      .describe('The item it is for; its id, or the beginning or end of it.'),
  })
  .meta({ id: 'NewTask' })

export const answerHeldBody = z
  .strictObject({
    choice: z
      .string()
      .describe('Key or label of a choice that was offered: `yes`, `no`, or for longer.'),
    text: z.string().max(65_536).optional().describe('What is said with it: a no is told so.'),
    bound_hash: z.string().describe('Of the command as it was shown.'),
  })
  .meta({ id: 'AnswerHeld' })

export const taskInput = z
  .strictObject({
    text: z.string().max(65_536).describe('Exactly: end a line with \\n. Empty only with `end`.'),
    end: z.boolean().optional().describe('End the input of a command behind it.'),
  })
  .meta({ id: 'TaskInput' })
