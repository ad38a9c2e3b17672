/**
 * Spans of tool calls, and of the tasks they started. A task is a child of its call, and may
 * outlive the call, its turn and the process: found without its call, it has a trace of its own.
 */
import type { CallId, TaskId, TurnId } from '../domain/ids.ts'
import { BoundedMap } from './bounded-map.ts'
import type { EventTable } from './events.ts'
import { genai, operations } from './genai-names.ts'
import { SPANS_REMEMBERED } from './limits.ts'
import {
  childOf,
  mintedAt,
  plain,
  spanIdOf,
  traceIdOf,
  type Attributes,
  type Recorded,
  type Span,
} from './span.ts'

type Ended = (span: Span) => void

type OpenCall = { start: number; input: string | undefined; effect_class: string }
type OpenTask = { call_id: CallId; turn_id: TurnId }

/** Both as one table, because a call names its task. */
export function callSpans(ended: Ended, recorded: Recorded): EventTable<void> {
  const calls = new BoundedMap<CallId, OpenCall>(SPANS_REMEMBERED)
  const parents = new BoundedMap<TaskId, OpenTask>(SPANS_REMEMBERED)
  const tasks = new BoundedMap<TaskId, { start: number; cmd: string | undefined }>(SPANS_REMEMBERED)
  return {
    call_recorded: ({ id, input, effect_class }, { meta }) =>
      calls.set(id, { start: Date.parse(meta.at), input: recorded(() => input), effect_class }),
    call_started: ({ id, task_id }, { meta }) => {
      const call = calls.get(id)
      if (call) calls.set(id, { ...call, start: Date.parse(meta.at) })
      if (task_id !== null && meta.turn_id !== null) {
        parents.set(task_id, { call_id: id, turn_id: meta.turn_id })
      }
    },
    call_finished: ({ id, result }, { agent_id, meta }) => {
      const call = calls.take(id)
      if (meta.turn_id === null) return
      const end = Date.parse(meta.at)
      const error = result.status === 'error' ? result.error.code : null
      const attributes: Attributes = {
        [genai.operation]: operations.tool,
        [genai.tool_name]: result.tool_name,
        [genai.tool_type]: 'function',
        [genai.tool_call_id]: id,
        [genai.agent_name]: agent_id,
        [genai.error_type]: error,
        [genai.tool_arguments]: call?.input,
        [genai.tool_result]: recorded(() =>
          result.status === 'success' ? result.result : result.error,
        ),
        'holon.turn.id': meta.turn_id,
        'holon.tool.effect_class': call?.effect_class,
        'holon.tool.error_kind': result.status === 'error' ? result.error.kind : undefined,
      }
      const name = `${operations.tool} ${result.tool_name}`
      const start = call?.start ?? mintedAt(id) ?? end
      const span = { ...childOf(meta.turn_id, id), name, start, end }
      ended(plain({ ...span, kind: 'internal' }, attributes, error))
    },
    task_queued: ({ id, cmd }, { meta }) =>
      tasks.set(id, { start: Date.parse(meta.at), cmd: recorded(() => cmd) }),
    task_ended: ({ id, status, exit_status, output_bytes, ended_at }, { agent_id, meta }) => {
      const task = tasks.take(id)
      const parent = parents.take(id)
      const end = Date.parse(ended_at)
      const ids = parent
        ? { trace_id: traceIdOf(parent.turn_id), parent_id: spanIdOf(parent.call_id) }
        : { trace_id: traceIdOf(id), parent_id: null }
      const error = status === 'completed' ? null : status
      const attributes: Attributes = {
        [genai.agent_name]: agent_id,
        [genai.error_type]: error,
        'process.exit.code': exit_status,
        'process.command_line': task?.cmd,
        'holon.task.id': id,
        'holon.task.status': status,
        'holon.task.output_bytes': output_bytes,
        'holon.work_item.id': meta.work_item_id,
      }
      const start = task?.start ?? mintedAt(id) ?? end
      const span = { ...ids, span_id: spanIdOf(id), name: 'task', start, end }
      ended(plain({ ...span, kind: 'internal' }, attributes, error))
    },
  }
}
