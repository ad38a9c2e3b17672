/**
 * What the runtime needs from outside, and what it offers: the host port that CLI and, later, HTTP
 * stand on. Types only.
 */
import type { Emitted, Facts } from '../domain/facts/facts.ts'
import type { AgentId, TaskId, TurnId, WorkItemId } from '../domain/ids.ts'
import type { EffectClass } from '../domain/effect-class.ts'
import type { ActionOrigin, PolicyAction } from '../domain/policy/action.ts'
import type { PresetName } from '../domain/policy/rule.ts'
import type { PolicyDecision } from '../domain/policy/decision.ts'
import type { Redactor } from '../domain/secrets/redact.ts'
import type { MemoryAnswer, MemoryQuery, MemoryShown } from '../domain/memory/memory.ts'
import type { Next } from '../domain/scheduler/next.ts'
import type { SpendBudget } from '../domain/state/spend-budget.ts'
import type { Rejection } from '../domain/rejection.ts'
import type { Rows } from '../domain/state/event.ts'
import type { OperatorAct } from '../domain/operator/act.ts'
import type { PlanDescriptor } from '../domain/state/plan.ts'
import type { AgentSettings, LiveSign, LiveText, Shortage } from '../ports/host.ts'
import type { Ledger } from '../ledger/port.ts'
import type { Clock, Files, Ids, Processes, StopOutcome, Trees, Web } from '../exec/ports.ts'
import type { Inspect } from '../exec/inspect/inspect-port.ts'
import type { Worktrees } from '../exec/worktrees/port.ts'
import type { TokenUsage } from '../models/model.ts'
import type { Effort, Model, ModelEvent } from '../models/model.ts'
import type { OperatorReply } from '../protocol/acts/operator.ts'

/** How a `provider/model` becomes a model: a value either way, never a throw. */
export interface ModelSource {
  open(
    id: string,
  ): Promise<{ ok: true; model: Model } | { ok: false; code: string; message: string }>
  facts(id: string): {
    context_window: number
    max_output: number | null
    effort: Effort | null
    /** Minutes of one request, where it is not the usual limit. */
    request_minutes: number | null
    /** Whether it takes images. */
    vision: boolean
  }
  /** US dollars, or null when the price is not known. */
  price(id: string, usage: TokenUsage): number | null
}

/** Search over what agents did and wrote. Both reject with a `LedgerFault`, and may be repeated. */
export interface MemoryReads {
  /** Null stands for the operator. */
  search(
    viewer: string | null,
    asked: MemoryQuery,
  ): Promise<{ ok: true; answer: MemoryAnswer } | Rejection>
  /**
   * The record behind a reference, if the viewer may see it. `seed` makes the marks around text of
   * others: something its author cannot know.
   */
  get(
    viewer: string,
    source_ref: string,
    seed: string,
  ): Promise<{ ok: true; record: MemoryShown } | Rejection>
}

export type HostPorts = {
  home: string
  ledger: Ledger
  clock: Clock
  ids: Ids
  files: Files
  processes: Processes
  worktrees: Worktrees
  /** Absent: what commands do to files is not looked at. */
  trees?: Trees
  web: Web
  /** What the checks of completed items look at. */
  inspect: Inspect
  /** Ends the sessions of an agent of another maker; absent where none can be run. */
  foreign_agents?: { stop(task_id: string, grace_ms: number): Promise<StopOutcome> }
  /** Over the same ledger and files. Whoever made it closes it, behind the host. */
  memory: MemoryReads
  models: ModelSource
  /** `provider/model` that is asked for a summary at a compaction; absent: none is asked. */
  summary_model?: string
  /** What all agents together may spend; absent: no limit. */
  budget?: SpendBudget
  /** Names and values every command gets besides the allow-list. */
  environment: Readonly<Record<string, string>>
  /** The home folder of the user, for `~` and the credential stores. */
  user_home: string
  /** Whether anything can deliver outside events to this process. */
  has_listener: boolean
  /**
   * What to do when the disk is full: a daemon goes on by itself when there is room again. Absent:
   * the runtime gives up, as for every other fault of the world.
   */
  waits_for_room?: boolean
  /** Judges calls before they have an effect; absent: none is judged. */
  policy?: PolicyPort
  /** Takes secrets out of what is written and shown; without it nothing is a secret. */
  redactor?: Redactor
  /** Called before and after each effect in crash tests; absent in the product. */
  effect_seam?: EffectSeam
}

/** A call as the policy judges it: what it would do, where, for whom. */
export type CallJudged = {
  tool_name: string
  class: EffectClass
  input: unknown
  agent: AgentId
  item: WorkItemId | null
  origin: ActionOrigin
  workspace: string
  confined: boolean
  /** Set for the agent, for the one it was made by, and so on up; null: nothing is. */
  presets: readonly (PresetName | null)[]
  /** What a command finds in its environment besides the allow-list. */
  environment: Readonly<Record<string, string>>
}

/** Contract: never rejects; what cannot be judged asks. */
export interface PolicyPort {
  /** Null: no policy is in force. */
  judge(call: CallJudged): Promise<{ action: PolicyAction; decision: PolicyDecision } | null>
}

export interface EffectSeam {
  before_effect(what: string): void
  after_effect(what: string): void
}

export type HostNotice =
  /** A commit landed: its events, in order. */
  | { kind: 'committed'; agent_id: AgentId; events: readonly Emitted[] }
  /** Live signs of the open request, shown and never stored. */
  | { kind: 'live'; agent_id: AgentId; turn_id: TurnId; round: number; event: ModelEvent }
  | {
      kind: 'retry'
      agent_id: AgentId
      turn_id: TurnId
      message: string
      delay_ms: number
      attempt: number
    }
  /** A lap found nothing to start; `next` says what the agent waits for. */
  | { kind: 'resting'; agent_id: AgentId; next: Next }
  /** A bug, or a fault of the world under the runtime itself: nothing runs after it. */
  | { kind: 'fault'; agent_id: AgentId; message: string }
  /** Nothing can be written: no turn starts and nothing is accepted until it is over. */
  | { kind: 'degraded_entered'; code: string; message: string }
  | { kind: 'degraded_left' }

/** What a running command wrote, as it grows. */
export type OutputPiece = {
  kind: 'task_output'
  agent_id: AgentId
  task_id: TaskId
  stream: 'stdout' | 'stderr'
  /** Bytes of the stream before this piece. */
  offset: number
  text: string
}

/** Bytes of one stream of a task's output, from an offset. */
export type TaskRange = { stream: 'stdout' | 'stderr'; offset: number; limit: number }
export type TaskText = {
  text: string
  /** Where the next piece begins; the offset asked for while nothing is there yet. */
  next_offset: number
  /** Bytes there are now. */
  size: number
  ended: boolean
}

/**
 * Contract: one host per home and process. `open` recovers what a dead process left and starts the
 * laps; nothing runs before it. Calls may overlap; each agent's are carried out one at a time.
 */
export interface Host {
  open(): Promise<void>
  /** Makes the agent at first use; settings given are stored and hold from the next turn. */
  ensureAgent(settings: AgentSettings): Promise<{ ok: true; agent: Rows['agents'] } | Rejection>
  /** Durable when it resolves with `ok`. The refusal `degraded`: nothing can be written now. */
  act(command: OperatorAct): Promise<OperatorReply>
  /** The live facts of an agent; null when there is no such agent. */
  facts(agent_id: AgentId): Facts | null
  /** What `next` says now. */
  next(agent_id: AgentId): Next | null
  subscribe(listener: (notice: HostNotice) => void): () => void
  /** Where the owner listens, absolute and without a slash at the end; null: no more. */
  listens(base_url: string | null): void
  /** For the holder of the control token; null while nobody listens, or for another secret's. */
  triggerUrl(trigger: Rows['triggers']): string | null
  /** What ails the secret that URLs are derived from, in a sentence; null: nothing. */
  triggerProblem(): string | null
  /** Of every open request and running task of the agent. */
  liveSigns(agent_id: AgentId): readonly LiveSign[]
  /** What models say in open requests; null: of every agent. */
  liveTexts(agent_id: AgentId | null): readonly LiveText[]
  /** The plan file of an item as it is now; it stores nothing. */
  plan(item: Rows['work_items']): Promise<PlanDescriptor>
  /** Null when no command of this id ever began. */
  taskOutput(task_id: TaskId, range: TaskRange): Promise<TaskText | null>
  /** Pieces of the output of running commands as it grows; looked for while somebody follows. */
  followOutput(listener: (piece: OutputPiece) => void): () => void
  /** Whether everything a dead process left is recovered and the laps run. */
  ready(): boolean
  /** Why nothing can be written now; null while everything can. */
  degraded(): Shortage | null
  /**
   * Stops the laps. `safe_point`: the open turn goes on to its next commit and stays open, to be
   * resumed by the next start; `now`: at once. Commands go on either way.
   */
  close(how: 'safe_point' | 'now'): Promise<void>
}
