/**
 * Call: one tool call of a recorded round. Intent (`started`) is committed before any effect, and
 * every call of a recorded round gets exactly one result, at every crash point
 * (docs/spec/turn.md#effects).
 */
import type { EffectClass } from '../effect-class.ts'
import type { AgentId, CallId, TaskId, TurnId, WorkItemId } from '../ids.ts'
import type { Image } from '../image.ts'
import type { Timestamp } from '../time.ts'
import type { FileDiff } from './file-diff.ts'

export type ErrorKind =
  | 'invalid_input'
  | 'rejected'
  | 'fault'
  | 'timeout'
  | 'aborted'
  | 'not_executed'
  | 'outcome_unknown'

/** A remark that comes with a success: what to know, and what to do about it. */
export type Warning = { kind: string; message: string; [detail: string]: unknown }

/** What the ledger keeps of a call's result; what the model reads is rendered from it. */
export type ToolResult = {
  tool_name: string
  summary: string
  warnings?: readonly Warning[]
} & (
  | {
      status: 'success'
      result: unknown
      /**
       * What it did to files, of a command also what others did meanwhile. No model reads it: that
       * one knows what it asked for.
       */
      diffs?: readonly FileDiff[]
      /** Of a command in a git folder: why diffs are not known, or not all of them. */
      unseen?: string
    }
  | {
      status: 'error'
      error: {
        kind: ErrorKind
        code: string
        message: string
        hint: string | null
        retryable: boolean
        detail?: unknown
      }
    }
)

/** A result of a call that did what it was asked to. */
export const succeeded = (
  tool_name: string,
  summary: string,
  result: unknown,
  warnings: readonly Warning[] = [],
): ToolResult => ({
  tool_name,
  status: 'success',
  summary,
  result,
  ...(warnings.length > 0 ? { warnings } : {}),
})

/** A result of a call that did not; `hint` says what to do about it. */
export const errorResult = (
  tool_name: string,
  kind: ErrorKind,
  code: string,
  message: string,
  hint: string | null = null,
  more: { retryable?: boolean; detail?: unknown } = {},
): ToolResult => ({
  tool_name,
  status: 'error',
  summary: message,
  error: {
    kind,
    code,
    message,
    hint,
    retryable: more.retryable ?? false,
    ...(more.detail === undefined ? {} : { detail: more.detail }),
  },
})

/** The image that a result is about, kept as a blob; null where it is about none. */
export function imageOf(result: ToolResult | null): Image | null {
  if (result?.status !== 'success' || result.tool_name !== 'ViewImage') return null
  const { image = null } = (result.result ?? {}) as { image?: Image }
  return image
}

export type Call = {
  id: CallId
  turn_id: TurnId
  agent_id: AgentId
  /** The item it acted on; where it acted on none, the turn's item as it was when the call ran. */
  work_item_id: WorkItemId | null
  round: number
  /** 0, 1, 2 … within the round: the order of execution. */
  index: number
  /** The provider's id for the call, or ours where it gave none or gave one twice. */
  provider_call_id: string
  tool_name: string
  input: unknown
  effect_class: EffectClass
  state: 'recorded' | 'started' | 'finished'
  /** What the effect needs to be recognised after a crash: hashes, task id; by class. */
  intent: unknown
  task_id: TaskId | null
  result: ToolResult | null
  /** The outcome changed a file or a record, or is a command result not seen before. */
  result_hash: string | null
  changed_something: boolean
  /** Runs over again after a crash, each an event. */
  attempts: number
  started_at: Timestamp | null
  finished_at: Timestamp | null
}

export type CallEvent =
  | {
      type: 'call_recorded'
      id: CallId
      turn_id: TurnId
      work_item_id: WorkItemId | null
      round: number
      index: number
      provider_call_id: string
      tool_name: string
      input: unknown
      effect_class: EffectClass
    }
  | {
      type: 'call_started'
      id: CallId
      intent: unknown
      task_id: TaskId | null
      work_item_id: WorkItemId | null
    }
  /** It turned out to be about this item: it made it, picked it, waited on it or changed it. */
  | { type: 'call_bound'; id: CallId; work_item_id: WorkItemId }
  | {
      type: 'call_finished'
      id: CallId
      result: ToolResult
      result_hash: string | null
      changed_something: boolean
    }

export function evolveCall(
  call: Call | null,
  event: CallEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Call {
  if (event.type === 'call_recorded') {
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      state: 'recorded',
      intent: null,
      task_id: null,
      result: null,
      result_hash: null,
      changed_something: false,
      attempts: 0,
      started_at: null,
      finished_at: null,
    }
  }
  if (call === null) throw new Error(`${event.type} before call_recorded: ${event.id}`)
  switch (event.type) {
    case 'call_started':
      return {
        ...call,
        state: 'started',
        intent: event.intent,
        task_id: event.task_id,
        work_item_id: event.work_item_id,
        attempts: call.attempts + 1,
        started_at: call.started_at ?? meta.at,
      }
    case 'call_bound':
      if (call.state === 'finished') throw new Error(`${event.type} after the end of ${event.id}`)
      return { ...call, work_item_id: event.work_item_id }
    case 'call_finished':
      if (call.state === 'finished') throw new Error(`a second result for ${event.id}`)
      return {
        ...call,
        state: 'finished',
        result: event.result,
        result_hash: event.result_hash,
        changed_something: event.changed_something,
        finished_at: meta.at,
      }
  }
}
