/**
 * ExecCommand: a shell command as a managed task. It answers in the call when the command ends
 * within the yield window, and otherwise hands it to the background; it outlives the daemon either
 * way, so after a crash the call is joined to the same process again.
 */
import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import type { ToolResult, Warning } from '../../domain/state/call.ts'
import { openTurn, type Draft } from '../../domain/facts/facts.ts'
import type { TaskId } from '../../domain/ids.ts'
import { isRejection } from '../../domain/rejection.ts'
import { limits } from '../../domain/limits.ts'
import { isSamePlace } from '../../domain/start-place.ts'
import { isTerminal, type Task, type TaskInput } from '../../domain/state/task.ts'
import { labelOf, queueCommand } from '../../domain/agents/tasks.ts'
import { between } from '../../domain/time.ts'
import type { CommandSpec } from '../../exec/ports.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'
import {
  endedOutcome,
  notStartedOutcome,
  promotedOutcome,
  stoppedOutcome,
  unknownOutcome,
  type CommandIntent,
} from './command-outcome.ts'
import { watchNoted } from './command-watch.ts'
import { judgedByPolicy } from './command-policy.ts'
import { isFileFault } from '../tool/faults.ts'
import { isProcessFault } from '../tool/faults.ts'
import { taskRow } from './task-stopping.ts'
import { effectTool, failed, type EffectOutcome, type ToolContext } from '../tool/tool.ts'

const NAME = 'ExecCommand'
/** Characters of a command: a script that is longer belongs in a file. */
const COMMAND_CHARS = 100_000
/** Tokens of output a call may ask for. More is a file to read in parts, not a result. */
const OUTPUT_TOKENS_MAX = 50_000

const input = () =>
  z.strictObject({
    cmd: z.string().min(1).max(COMMAND_CHARS).describe('Bash where there is one, else sh.'),
    workdir: z.string().min(1).optional().describe('Default: the working folder.'),
    tty: z.boolean().optional().describe('In a terminal, stdout only.'),
    accepts_input: z.boolean().optional().describe('Keep stdin open.'),
    yield_ms: z
      .int()
      .min(0)
      .max(limits.yield_max.value)
      .optional()
      .describe(`Default ${limits.yield.value}; 0: at once.`),
    timeout_ms: z
      .int()
      .min(1)
      .max(limits.wait_max.value)
      .optional()
      .describe('Stops it, in the background too. Default: never.'),
    max_output_tokens: z
      .int()
      .min(100)
      .max(OUTPUT_TOKENS_MAX)
      .optional()
      .describe(`Of output shown; default ${limits.result_tokens.value}.`),
  })
type Input = z.infer<ReturnType<typeof input>>

export const execCommand = effectTool<Input, CommandIntent>({
  name: NAME,
  effect_class: 'reattachable',
  input,
  also_called: { command: 'cmd' },
  title: ({ cmd }) => labelOf(cmd),

  async intent(input, ctx) {
    const refusal = invalid(input) ?? (await noTerminal(input, ctx)) ?? (await notConfined(ctx))
    if (refusal) return { ok: false, result: refusal }
    const workdir = resolve(ctx.workdir, input.workdir ?? '.')
    if (!(await isFolder(ctx, workdir))) {
      const given = isAbsolute(input.workdir ?? '') ? '' : ` (relative to ${ctx.workdir})`
      const message = `workdir ${workdir} is not a folder${given}.`
      const hint = 'Name an existing folder, or leave workdir out; mkdir -p makes one.'
      return { ok: false, result: failed(NAME, 'rejected', 'workdir_not_found', message, hint) }
    }
    const task_id = ctx.mint('task')
    const stdin: TaskInput = input.tty ? 'terminal' : input.accepts_input ? 'pipe' : 'none'
    const timeout_ms = input.timeout_ms ?? null
    const wanted = { id: task_id, cmd: input.cmd, workdir, timeout_ms, input: stdin } as const
    const judged = await judgedByPolicy(ctx, wanted)
    if (!judged.ok) return judged
    const intent: CommandIntent = {
      task_id,
      cmd: input.cmd,
      workdir,
      env_names: Object.keys(ctx.environment).sort(),
      timeout_ms,
      yield_ms: input.yield_ms ?? limits.yield.value,
      max_output_tokens: input.max_output_tokens ?? limits.result_tokens.value,
      stdin,
      duplicate_of: alreadyRunning(ctx, input.cmd, workdir),
    }
    const { cmd } = intent
    const start_place = ctx.processes.place()
    const output_path = ctx.taskFolder(task_id)
    const task = { id: task_id, cmd, workdir, timeout_ms, input: stdin, start_place, output_path }
    // In the intent's commit: the task exists before anything of it runs.
    const queue = (d: Draft) => {
      const by = judged.by(d)
      if (isRejection(by)) return by
      const work_item_id = openTurn(d)?.work_item_id ?? null
      return queueCommand(d, { ...task, ...by, work_item_id }) ?? undefined
    }
    return { ok: true, intent, task_id, queue }
  },

  run: (_input, intent, ctx) => knownOrNot(ctx, intent, () => begin(ctx, intent)),
  recover: (_input, intent, ctx) => knownOrNot(ctx, intent, () => rejoin(ctx, intent)),
})

/** When the machine does not answer, nothing is known of the command, and nothing is claimed. */
async function knownOrNot(
  ctx: ToolContext,
  intent: CommandIntent,
  act: () => Promise<EffectOutcome>,
): Promise<EffectOutcome> {
  try {
    return tellDuplicate(intent, await withChanges(ctx, intent, await act()))
  } catch (error) {
    if (isProcessFault(error) || isFileFault(error)) {
      return unknownOutcome(intent, error)
    }
    throw error
  }
}

/** Where it ended in the call, what it did to the working tree stands with its result. */
async function withChanges(
  ctx: ToolContext,
  { task_id }: CommandIntent,
  outcome: EffectOutcome,
): Promise<EffectOutcome> {
  const { result } = outcome
  if (ctx.trees === null || result.status !== 'success' || isHandle(result.result)) return outcome
  const seen = await ctx.trees.changes(task_id)
  return seen === null ? outcome : { ...outcome, result: { ...result, ...seen } }
}

const isHandle = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'task_handle' in result

function invalid(input: Input): ToolResult | null {
  if (input.cmd.trim() !== '' && !input.cmd.includes('\0')) return null
  const message = 'cmd must be a command line without NUL characters.'
  return failed(NAME, 'invalid_input', 'cmd_invalid', message, 'Give the command as text.')
}

async function noTerminal(input: Input, ctx: ToolContext): Promise<ToolResult | null> {
  const problem = input.tty ? await ctx.processes.terminal_problem() : null
  if (problem === null) return null
  const message = `This machine has no terminals for commands: ${problem}.`
  const hint = 'Run it without tty; accepts_input keeps its stdin open where it needs input.'
  return failed(NAME, 'rejected', 'tty_not_supported', message, hint)
}

/** Where commands are to be confined and cannot be, none runs (docs/spec/security.md#sandbox). */
async function notConfined(ctx: ToolContext): Promise<ToolResult | null> {
  const confinement = await ctx.processes.confinement()
  if (confinement.state !== 'unavailable') return null
  const message = `Commands are to be confined here, and cannot be: ${confinement.why}.`
  const hint = 'No command runs until the operator has seen to it; file tools work.'
  return failed(NAME, 'rejected', 'sandbox_unavailable', message, hint)
}

/**
 * A running task of the same command in the same folder. It is no reason to refuse: two are often
 * meant (a client and another), but who did not mean it is told.
 */
function alreadyRunning(ctx: ToolContext, cmd: string, workdir: string): TaskId | null {
  const same = (task: Task) =>
    task.kind === 'command' && task.cmd === cmd && task.workdir === workdir && !isTerminal(task)
  return [...ctx.facts().rows('tasks')].find(same)?.id ?? null
}

function tellDuplicate(intent: CommandIntent, outcome: EffectOutcome): EffectOutcome {
  const { duplicate_of } = intent
  if (duplicate_of === null) return outcome
  const warning: Warning = {
    kind: 'already_running',
    message: `${duplicate_of} ran the same command in the same folder when this one began.`,
    duplicate_of,
  }
  const { result } = outcome
  return { ...outcome, result: { ...result, warnings: [...(result.warnings ?? []), warning] } }
}

async function isFolder(ctx: ToolContext, path: string): Promise<boolean> {
  try {
    const { kind } = await ctx.files.stat(path)
    if (kind === 'link') await ctx.files.list(path)
    return kind === 'folder' || kind === 'link'
  } catch {
    // Whatever the reason is, a command could not be started there.
    return false
  }
}

async function begin(ctx: ToolContext, intent: CommandIntent): Promise<EffectOutcome> {
  if (ctx.signal.aborted) {
    return notStartedOutcome(ctx, intent, { status: 'cancelled', reason: 'aborted' })
  }
  const spec: CommandSpec = {
    task_id: intent.task_id,
    cmd: intent.cmd,
    workdir: intent.workdir,
    env: { ...ctx.environment },
    timeout_ms: intent.timeout_ms,
    stdin: intent.stdin,
    confine: await ctx.confine(),
  }
  try {
    await ctx.processes.prepare(spec)
    await ctx.trees?.before(intent.task_id, intent.workdir)
    await ctx.processes.start(intent.task_id)
  } catch (error) {
    if (!isProcessFault(error)) throw error
    const outcome = await startFailed(ctx, intent, error)
    if (outcome) return outcome
  }
  return follow(ctx, intent, intent.yield_ms, false)
}

/** A failed hand-over may have been claimed all the same (null); if not, a stop makes it final. */
async function startFailed(
  ctx: ToolContext,
  intent: CommandIntent,
  fault: ProcessFault,
): Promise<EffectOutcome | null> {
  if ((await ctx.processes.observe(intent.task_id)).state !== 'absent') return null
  await ctx.processes.stop(intent.task_id, limits.stop_grace.value)
  return notStartedOutcome(ctx, intent, { status: 'failed', reason: fault.message })
}

/** After a crash: whatever the process is now, the call goes on from there. */
async function rejoin(ctx: ToolContext, intent: CommandIntent): Promise<EffectOutcome> {
  const task = await taskRow(ctx, intent.task_id)
  if (task?.status === 'cancelling') return stoppedOutcome(ctx, intent, task.reason ?? 'stopped')
  const process = await ctx.processes.observe(intent.task_id)
  switch (process.state) {
    case 'absent': {
      // Nobody claimed it, and the claim is exclusive: this start cannot be a second one. Where
      // the claim itself may have been lost, nobody knows.
      const isKnown = isSamePlace(task?.start_place ?? null, ctx.processes.place())
      return isKnown ? begin(ctx, intent) : endedOutcome(ctx, intent, process)
    }
    case 'running': {
      const spent = between(ctx.call.started_at ?? ctx.now(), ctx.now())
      return follow(ctx, intent, Math.max(0, intent.yield_ms - spent), true)
    }
    case 'ended':
    case 'lost':
      return endedOutcome(ctx, intent, process)
  }
}

async function follow(
  ctx: ToolContext,
  intent: CommandIntent,
  window_ms: number,
  readopted: boolean,
): Promise<EffectOutcome> {
  const seen = await watchNoted(ctx, intent.task_id, window_ms)
  switch (seen.how) {
    case 'ended':
      return endedOutcome(ctx, intent, seen.process)
    case 'aborted':
      return stoppedOutcome(ctx, intent, 'aborted')
    case 'interjected':
      return promotedOutcome(ctx, intent, { because: 'a message came in', readopted, pushed: true })
    case 'closing':
      return promotedOutcome(ctx, intent, { because: 'Holon closes', readopted, pushed: true })
    case 'window_over':
      return promotedOutcome(ctx, intent, {
        because: 'it did not end in time',
        readopted,
        pushed: false,
      })
    case 'unwatchable':
      return unknownOutcome(intent, seen.fault)
  }
}
