/**
 * TaskInput: words for what runs: bytes for a command that reads them, a message for a child agent
 * (docs/spec/tools.md, docs/spec/agent.md). What a command does with its input cannot be undone or
 * asked for, so the call is never repeated: after a crash its outcome is unknown.
 */
import { z } from 'zod'
import type { TaskId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import type { Task } from '../../domain/state/task.ts'
import { overOrEnding } from '../../domain/agents/tasks.ts'
import { no, type Rejection } from '../../domain/rejection.ts'
import type { OutputSize } from '../../exec/ports.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'
import { tellTask } from './child-task.ts'
import { bytesOfTokens, outputSince, sizeOf, type Streams } from './command-output.ts'
import { watch } from './command-watch.ts'
import { isProcessFault } from '../tool/faults.ts'
import { noTask } from './task-status.ts'
import { taskRow } from './task-stopping.ts'
import {
  effectTool,
  failed,
  nothingNew,
  refused,
  succeeded,
  type EffectOutcome,
  type ToolContext,
} from '../tool/tool.ts'

const NAME = 'TaskInput'
/** Characters of one input: more is a file, which the command can be told to read. */
const INPUT_CHARS = 65_536
/** Milliseconds a call waits at most for what a command says to it; a longer wait is TaskOutput. */
const ANSWER_MS = 30_000

const input = () =>
  z.strictObject({
    task_id: z.string(),
    text: z.string().max(INPUT_CHARS),
    end: z.boolean().optional().describe('End its input behind the text.'),
    wait_ms: z.int().min(0).max(ANSWER_MS).optional().describe(`At most ${ANSWER_MS}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

/** What a call commits before anything is given. The text itself is in the call's own record. */
type InputIntent = { kind: Task['kind']; bytes: number }

export const taskInput = effectTool<Input, InputIntent>({
  name: NAME,
  effect_class: 'non_repeatable',
  input,
  ids: () => ['task_id'],
  about_task: ({ task_id }) => task_id,
  title: ({ task_id }) => task_id,

  async intent(given, ctx) {
    const task = await taskRow(ctx, given.task_id)
    const refusal = task ? refusalOf(task, given) : noTask(given.task_id, ctx)
    if (refusal !== null) return { ok: false, result: refused(NAME, refusal) }
    const intent = {
      kind: task?.kind ?? 'command',
      bytes: new TextEncoder().encode(given.text).length,
    }
    return { ok: true, intent, task_id: null }
  },

  run: (given, { kind, bytes }, ctx) =>
    kind === 'child_agent' ? inputToChild(ctx, given) : inputToCommand(ctx, given, bytes),

  recover: async (given, { kind }, ctx) =>
    kind === 'child_agent' ? inputToChild(ctx, given) : unknown(given.task_id),
})

/** Why this task takes no such input, or null. */
function refusalOf(task: Task, given: Input): Rejection | null {
  const over = overOrEnding(task)
  if (over) return over
  if (given.text === '' && !given.end) {
    return no('message_empty', 'There is nothing to give: text is empty.', 'Give it text, or end.')
  }
  switch (task.kind) {
    case 'child_agent':
      if (!given.end) return null
      return no(
        'task_takes_no_input',
        `${task.id} is a child agent, whose input has no end.`,
        'Leave end out; TaskStop stops a child.',
      )
    case 'tool_call':
      return no('task_takes_no_input', `${task.id} is a call, which takes no input.`)
    case 'command':
      if (task.input !== 'none') return null
      return no(
        'task_takes_no_input',
        `${task.id} was started without input.`,
        'Start the command with accepts_input: true, or tty: true.',
      )
  }
}

async function inputToCommand(
  ctx: ToolContext,
  { task_id, text, end, wait_ms }: Input,
  bytes: number,
): Promise<EffectOutcome> {
  const id = task_id as TaskId
  const before = wait_ms === undefined ? null : await sizeNow(ctx, id)
  try {
    await ctx.processes.input(task_id, text, { end: end ?? false })
  } catch (error) {
    if (isProcessFault(error)) return notGiven(task_id, error)
    throw error
  }
  const ended = end ? { input_ended: true } : {}
  const said = before === null ? {} : await answered(ctx, id, before, wait_ms ?? 0)
  const summary = `${bytes} bytes given to ${task_id}${end ? '; its input is ended' : ''}`
  return {
    result: succeeded(NAME, summary, { task_id, task_kind: 'command', bytes, ...ended, ...said }),
    result_hash: null,
    changed_something: true,
  }
}

/** How much it has written; null where the machine does not say, and then nothing is shown. */
async function sizeNow(ctx: ToolContext, id: TaskId): Promise<OutputSize | null> {
  try {
    return sizeOf(await ctx.processes.observe(id))
  } catch (error) {
    if (isProcessFault(error)) return null
    throw error
  }
}

/** What it wrote within `wait_ms`. The text was given, whatever becomes of the look. */
async function answered(
  ctx: ToolContext,
  id: TaskId,
  from: OutputSize,
  wait_ms: number,
): Promise<Partial<Streams>> {
  await watch(ctx, id, wait_ms)
  try {
    return await outputSince(ctx, id, from, bytesOfTokens(limits.result_tokens.value))
  } catch (error) {
    if (isProcessFault(error)) return {}
    throw error
  }
}

/** It answers the child's question, or is its next message; keyed by the call, so told once. */
async function inputToChild(ctx: ToolContext, { task_id, text }: Input): Promise<EffectOutcome> {
  const task = await taskRow(ctx, task_id)
  if (!task) return { result: refused(NAME, noTask(task_id, ctx)), ...nothingNew }
  return tellTask(NAME, task, text, ctx)
}

/** Nothing was given, or a part that the fault's sentence counts. */
function notGiven(task_id: string, fault: ProcessFault): EffectOutcome {
  const { code } = fault
  if (code === 'not_running') {
    return { result: refused(NAME, no('task_ended', `${task_id} has ended.`)), ...nothingNew }
  }
  if (code === 'input_ended') {
    const message = `The input of ${task_id} was ended before.`
    const hint = 'Start the command again to give it more.'
    return { result: refused(NAME, no('task_takes_no_input', message, hint)), ...nothingNew }
  }
  const message = `${sentence(fault)}.`
  if (code === 'input_partly_taken') {
    const hint = 'TaskOutput shows what it does; give it the rest when it reads again.'
    const result = failed(NAME, 'fault', code, message, hint)
    return { result, result_hash: null, changed_something: true }
  }
  const hint = 'Nothing was given to it. TaskOutput shows what it does.'
  const retryable = fault.retry !== 'never'
  return { result: failed(NAME, 'fault', code, message, hint, { retryable }), ...nothingNew }
}

const sentence = ({ message }: ProcessFault): string =>
  message.slice(0, 1).toUpperCase() + message.slice(1)

function unknown(task_id: string): EffectOutcome {
  const message = `Whether the text reached ${task_id} is unknown: the runtime ended meanwhile.`
  const hint = 'TaskOutput shows whether it reacted; give the text again only if it did not.'
  const result = failed(NAME, 'outcome_unknown', 'input_unknown', message, hint, {
    detail: { task_id },
  })
  return { result, ...nothingNew }
}
