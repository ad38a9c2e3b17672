/**
 * What the tools of the agent plane get of the runtime: making agents, and the supervision of the
 * private ones. Types only.
 */
import type { InputReceipt } from '../../domain/agents/child-input.ts'
import type { TaskId } from '../../domain/ids.ts'
import type { Spawn, Spawned, SpawnWish } from '../../domain/agents/spawn.ts'
import type { Draft } from '../../domain/facts/facts.ts'
import type { Rejection } from '../../domain/rejection.ts'
import type { StopOutcome } from '../../exec/ports.ts'

/** As the call asks for it. */
export type SpawnAsked = SpawnWish & { template: string | null; model: string | null }

/** Fixed before anything of it happens; stored as the call's intent. */
export type SpawnIntent = {
  spawn: Spawn
  /** Of a child in a worktree of its own. */
  worktree: { repository: string; path: string; branch: string } | null
}

/** What somebody reads of an agent as the owner of a context: who it is, and what it does now. */
export type AgentDescription = Readonly<Record<string, unknown>>

/**
 * Contract. What the world does wrong is thrown as a fault of its port (`FileFault`, `GitFault`,
 * `ProcessFault`). All are for the agent whose call it is.
 * - `prepare` looks and stores nothing but files nobody knows of yet.
 * - `queue` decides again on fresh facts, in the commit of the intent.
 * - `spawn` may be called again with the same intent, also by another process: one child.
 * - `tell` with the same key is told once.
 * - `stop` resolves once nothing of the child runs any more, or with what still does.
 * - `ended` resolves when the task has its end, and rejects with the signal's reason.
 */
export interface Children {
  prepare(asked: SpawnAsked): Promise<{ ok: true; intent: SpawnIntent } | Rejection>
  queue(d: Draft, asked: SpawnAsked, intent: SpawnIntent): Rejection | void
  spawn(intent: SpawnIntent): Promise<Spawned | Rejection>
  tell(task_id: TaskId, text: string, key: string): Promise<InputReceipt | Rejection>
  stop(task_id: TaskId, because: string): Promise<StopOutcome>
  ended(task_id: TaskId, signal: AbortSignal): Promise<void>
  /** The agent itself when none is named. */
  see(agent_id: string | null): Promise<{ ok: true; agent: AgentDescription } | Rejection>
  /** What a child has told so far: its briefs, oldest first. */
  words(agent_id: string): Promise<readonly { kind: string; text: string; at: string }[]>
  /** What its worktree holds now, on one line; null: it has none. */
  worktree(task_id: TaskId): Promise<string | null>
}
