/**
 * What a tool is: data plus one function. Store tools decide on facts in one commit; effect tools
 * touch the machine behind a committed intent. Neither sees the runtime, the database or HTTP.
 */
import type { z } from 'zod'
import {
  errorResult as failed,
  succeeded,
  type Call,
  type ToolResult,
} from '../../domain/state/call.ts'
import type { EffectClass } from '../../domain/effect-class.ts'
import type { JudgedAgain } from '../../domain/approvals/held-command.ts'
import type { Draft, Facts } from '../../domain/facts/facts.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { Rejection } from '../../domain/rejection.ts'
import type { Rows, Table } from '../../domain/state/event.ts'
import type { TaskChanges } from '../../domain/state/task.ts'
import type { Outcome, Turn } from '../../domain/state/turn.ts'
import type { PlanStored, WorkItem } from '../../domain/state/work-item.ts'
import type { WorkspaceTree } from '../../domain/state/check.ts'
import type { AgentId, Mint, TaskId, WorkItemId } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { Confine, Files, OpenedPath, Processes, Web } from '../../exec/ports.ts'
import type { Children } from './children-port.ts'
import type { MemoryPort } from './memory-port.ts'

/**
 * A call that ends the turn: with what outcome, whether a report is still to be asked for, and
 * the round's words where the call itself has not delivered them; a completion behind it may.
 */
export type Closing = { outcome: Outcome; reason: string; ask_report: boolean; text: string }

export type StoreOutcome = { result: ToolResult; closes: Closing | null }

/** What a call may know about its round: the promotion rule looks at the words and its siblings. */
export type CallFrame = {
  turn: Turn
  call: Call
  round_text: string
  round_calls: readonly Call[]
  /** Whether anything can deliver an outside event at all. */
  has_listener: boolean
}

export type EffectOutcome = {
  result: ToolResult
  /** Events that belong to the outcome (a task's end or promotion), in the outcome's commit. */
  settle?: (d: Draft) => void
  /** Identity of what came back, for the progress rule; null: reading is not progress. */
  result_hash: string | null
  changed_something: boolean
}

/** `ended` resolves when nothing of the item's checks is to be run any more, or `signal` aborts. */
export interface Checks {
  /** Of the agent's workspace, as it is now. */
  tree(): Promise<WorkspaceTree>
  ended(item: WorkItemId, signal: AbortSignal): Promise<void>
}

/** As `Trees`, of what the agent may touch; bytes are kept for the outcome of the call. */
export type CommandTrees = {
  before(id: TaskId, workdir: string): Promise<void>
  changes(id: TaskId): Promise<TaskChanges | null>
}

/** What of it is there after the turn, too: a call that a person said yes to has that. */
export type LaterContext = Pick<
  ToolContext,
  | 'agent_id'
  | 'signal'
  | 'closing'
  | 'processes'
  | 'web'
  | 'open'
  | 'workdir'
  | 'agent_home'
  | 'keepOutput'
>

/**
 * How a call is carried out whose turn is over, as `run` and `recover` of its tool do it, with the
 * intent that was worked out when it was asked about.
 */
export type Later<I, N> = {
  /** All that it would do, as a person reads it; null: not all of it can be shown. */
  shown(input: I, intent: N): string | null
  run(input: I, intent: N, ctx: LaterContext): Promise<EffectOutcome>
  recover(input: I, intent: N, ctx: LaterContext): Promise<EffectOutcome>
}

export interface ToolContext {
  readonly agent_id: AgentId
  readonly turn: Turn
  readonly call: Call
  facts(): Facts
  /** A row that may be too old to be among the facts. */
  load<T extends Table>(table: T, id: string): Promise<Rows[T] | null>
  list<T extends Table>(
    table: T,
    filter: { limit: number; status?: readonly string[]; kind?: readonly string[] },
  ): Promise<Rows[T][]>
  /** Commits what `decide` emits, on fresh facts, retried on conflict; returns its value. */
  commit<T>(decide: (d: Draft) => T): Promise<T>
  now(): Timestamp
  monotonic(): number
  sleep(ms: number, signal: AbortSignal): Promise<void>
  mint: Mint
  /** Aborted when the operator aborts the turn. */
  readonly signal: AbortSignal
  /** Aborted when an interjected message waits: what only waits returns early, nothing is lost. */
  readonly interjected: AbortSignal
  /** Aborted, and `interjected` with it, when Holon closes: what goes on is not awaited. */
  readonly closing: AbortSignal
  readonly files: Files
  readonly processes: Processes
  /** What the policy says of this call with an input; null: nothing. */
  judged(input: unknown): Promise<JudgedAgain | null>
  /** Pages of the public internet. */
  readonly web: Web
  /** The checks of its items, which the runtime runs. */
  readonly checks: Checks
  /** Agents it makes, and the supervision of the private ones. */
  readonly children: Children
  /** What it and the agents it made did and wrote. */
  readonly memory: MemoryPort
  /**
   * Opens an absolute path that a model named, under the policy for this agent: its workspace and
   * own folder to read and write, its own tasks' and calls' outputs to read. Throws `FileFault`
   * (`denied` with the policy's sentence). For `write` the folders above it are made.
   */
  open(path: string, mode: 'read' | 'write'): Promise<OpenedPath>
  /** Default folder of commands and relative paths, absolute. */
  readonly workdir: string
  /** The agent's own folder, absolute: its memory is there. */
  readonly agent_home: string
  readonly environment: Readonly<Record<string, string>>
  /** The working trees that its commands run in; null: nobody looks at them. */
  readonly trees: CommandTrees | null
  /** What its commands may touch, where commands are confined. */
  confine(): Promise<Confine | 'unconfined'>
  /** The item's plan file as it is now, for the reader and for the ledger. */
  readPlan(item: WorkItem): Promise<{ stored: PlanStored; described: PlanDescriptor }>
  /**
   * Writes the plan file of a new item: the given text, or nothing; the same again is harmless.
   * Refused where something of the agent's stands in its way.
   */
  makePlan(
    id: WorkItem['id'],
    text: string,
  ): Promise<{ ok: true; stored: PlanStored; described: PlanDescriptor } | Rejection>
  taskFolder(id: TaskId): string
  /** Stores a long output beside the ledger under the call's id; returns its absolute path. */
  keepOutput(text: string): Promise<string>
  /**
   * Keeps bytes as a blob; its hash, which is another than theirs where a secret was taken out. It
   * is stored with the intent of the call, or its outcome, and only if that names it.
   */
  keepBlob(bytes: Uint8Array): string
  /** Of bytes that are kept whole or not at all. */
  holdsSecret(bytes: Uint8Array): boolean
}

type Base<I> = {
  name: string
  /** Made at the first call: making all of them costs a start 10 ms. */
  input: () => z.ZodType<I>
  /** Names that models give a field of it, and the field's own. */
  also_called?: Readonly<Record<string, string>>
  /** Fields with an id of the agent's, which a model may give by a part of it. */
  ids?(input: I): readonly string[]
  /** The task that it speaks to, reads or ends: the call is about the item of that task. */
  about_task?(input: I): string
  /** One line for a person while it runs: the command, the path, the id. */
  title(input: I): string
}

export type StoreTool<I = unknown, P = unknown> = Base<I> & {
  kind: 'store'
  effect_class: 'idempotent'
  /** It may end the turn: the completions behind it are then decided with it. */
  may_close?: true
  /** Whether something ended a wait of `prepare`: where the host closes, it is prepared again. */
  is_cut?(prepared: P): boolean
  /** Reads and files needed before the decision; run before every attempt's commit. */
  prepare(input: I, ctx: ToolContext): Promise<P>
  decide(d: Draft, input: I, frame: CallFrame, prepared: P): StoreOutcome
}

export type EffectTool<I = unknown, N = unknown> = Base<I> & {
  kind: 'effect'
  effect_class: EffectClass
  /** Computed and committed before the effect; a rejection ends the call without it. */
  intent(
    input: I,
    ctx: ToolContext,
  ): Promise<
    | { ok: true; intent: N; task_id: TaskId | null; queue?: (d: Draft) => Rejection | void }
    | { ok: false; result: ToolResult; held?: (d: Draft) => Rejection | null }
  >
  /**
   * What the world does wrong is a result (kind `fault`, `aborted`, `outcome_unknown`); a rejected
   * promise is a bug. Called once per intent; the runtime commits the outcome with its `settle`.
   */
  run(input: I, intent: N, ctx: ToolContext): Promise<EffectOutcome>
  /** After a crash, with an intent and no outcome; by class (docs/spec/turn.md#effects). */
  recover(input: I, intent: N, ctx: ToolContext): Promise<EffectOutcome>
  /** Absent: where a rule asks about a call of it, that is refused. */
  later?: Later<I, N>
}

export type Tool = StoreTool | EffectTool

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

export const storeTool = <I, P>(tool: Omit<StoreTool<I, P>, 'kind' | 'effect_class'>) =>
  ({
    ...tool,
    input: once(tool.input),
    kind: 'store',
    effect_class: 'idempotent',
  }) satisfies StoreTool<I, P>

export const effectTool = <I, N>(tool: Omit<EffectTool<I, N>, 'kind'>) =>
  ({ ...tool, input: once(tool.input), kind: 'effect' }) satisfies EffectTool<I, N>

/**
 * An effect tool that only looks: nothing is fixed before it, and after a crash it looks again.
 */
export const pureTool = <I>({
  run,
  ...tool
}: Base<I> & {
  run: (input: I, ctx: ToolContext) => Promise<EffectOutcome>
  later?: Later<I, null>
}) =>
  effectTool<I, null>({
    ...tool,
    effect_class: 'pure',
    intent: async () => ({ ok: true, intent: null, task_id: null }),
    run: (input, _intent, ctx) => run(input, ctx),
    recover: (input, _intent, ctx) => run(input, ctx),
  })

/** What a call comes to that has changed nothing and found nothing new. */
export const nothingNew = { result_hash: null, changed_something: false } as const

export { failed, succeeded }

/** A rejection of the domain, as the model is told it. */
export const refused = (tool_name: string, rejection: Rejection): ToolResult =>
  failed(tool_name, 'rejected', rejection.code, rejection.message, rejection.hint)
