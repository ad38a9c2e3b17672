/**
 * Carries out a call of a tool that a person said yes to, when its turn is over: its start is a
 * commit, so after a kill it is known to have begun and what it left is looked at, as of a call
 * that was under way. It ends once, by a message, with what it did to files.
 */
import { errorResult, type ToolResult } from '../../domain/state/call.ts'
import type { TaskId } from '../../domain/ids.ts'
import { endTask } from '../../domain/inbox/admit.ts'
import { standing, type TaskEnding } from '../../domain/agents/task-end.ts'
import type { HeldCall, Task } from '../../domain/state/task.ts'
import { wholeResult } from '../../context/result.ts'
import { toolNamed } from '../../tools/registry.ts'
import type { EffectOutcome, LaterContext } from '../../tools/tool/tool.ts'
import type { AgentPorts } from '../agent-ports.ts'
import { faultResult } from '../fault-result.ts'

export async function carryOut(env: AgentPorts, id: TaskId, closing: AbortSignal): Promise<void> {
  const began = await begin(env, id)
  const task = env.facts().row('tasks', id)
  if (began === 'over' || task?.held?.call === undefined) return
  const { result } = await outcomeOf(env, task, task.held, began, closing)
  // What Holon cut off itself is met again, and looked at, by the next process.
  if (closing.aborted && result.status === 'error' && result.error.kind === 'aborted') return
  const end = endOf(result)
  const diffs = result.status === 'success' ? result.diffs : undefined
  await env.transact(id, (d) => {
    const now = d.row('tasks', id)
    if (now?.status !== 'running') return
    const ended_at = d.now
    const head = `${id} (${now.label}): ${standing({ ...now, ...end, ended_at })}`
    const body = `${head}\n${wholeResult(result)}`
    endTask(d, { task_id: id, ...end, output_bytes: 0, ended_at, body })
    if (diffs !== undefined) d.emit({ type: 'task_changes_seen', id, changes: { diffs } })
  })
}

/** `first`: nothing of it was done before; `again`: it began in a process that is gone. */
function begin(env: AgentPorts, id: TaskId): Promise<'first' | 'again' | 'over'> {
  return env.transact(id, (d) => {
    const task = d.row('tasks', id)
    if (task?.status === 'running') return 'again'
    if (task?.status !== 'queued') return 'over'
    d.emit({ type: 'task_started', id, pid: null, started_at: d.now })
    return 'first'
  })
}

async function outcomeOf(
  env: AgentPorts,
  { id }: Task,
  { call, call_id }: HeldCall,
  began: 'first' | 'again',
  closing: AbortSignal,
): Promise<Pick<EffectOutcome, 'result'>> {
  if (call === undefined) throw new Error(`${id} is no call`)
  const { tool_name, input, intent } = call
  const tool = toolNamed(tool_name)
  if (tool?.kind !== 'effect' || tool.later === undefined) {
    const message = `${tool_name} is no tool that is carried out later.`
    return { result: errorResult(tool_name, 'rejected', 'unknown_tool', message) }
  }
  const { later } = tool
  const ctx: LaterContext = {
    agent_id: env.agent_id,
    signal: closing,
    closing,
    processes: env.ports.processes,
    web: env.ports.web,
    open: (path, mode) => env.open(path, mode),
    workdir: env.workdir(),
    agent_home: env.home(),
    keepOutput: (text) => env.keepOutput(call_id, text),
  }
  return env.effect(`${tool_name} ${id}`, async () => {
    try {
      return began === 'first'
        ? await later.run(input, intent, ctx)
        : await later.recover(input, intent, ctx)
    } catch (error) {
      return { result: faultResult({ tool_name }, error) }
    }
  })
}

function endOf(result: ToolResult): TaskEnding {
  if (result.status === 'success') return { status: 'completed', reason: null, exit_status: null }
  const { kind, code } = result.error
  const status = kind === 'outcome_unknown' ? 'interrupted' : 'failed'
  return { status, reason: code, exit_status: null }
}
