/**
 * What the runtime needs from outside, and what it offers: the host port that CLI and, later, HTTP
 * stand on. Types only.
 */
import type { Emitted, Facts } from '../domain/facts.ts'
import type { AgentId, TurnId } from '../domain/ids.ts'
import type { Next } from '../domain/schedule.ts'
import type { Rejection } from '../domain/verdict.ts'
import type { Workspace } from '../domain/agent.ts'
import type { Rows } from '../domain/event.ts'
import type { Ledger } from '../ledger/port.ts'
import type { Clock, Files, Ids, Processes } from '../exec/ports.ts'
import type { Model, ModelEvent, Usage } from '../models/model.ts'
import type { OperatorCommand, OperatorReply } from '../protocol/operator.ts'

/** How a `provider/model` becomes a model: a value either way, never a throw. */
export interface ModelSource {
  open(
    id: string,
  ): Promise<{ ok: true; model: Model } | { ok: false; code: string; message: string }>
  facts(id: string): { context_window: number; max_output: number | null }
  /** US dollars, or null when the price is not known. */
  price(id: string, usage: Usage): number | null
}

export type HostPorts = {
  home: string
  ledger: Ledger
  clock: Clock
  ids: Ids
  files: Files
  processes: Processes
  models: ModelSource
  /** Names and values every command gets besides the allow-list. */
  environment: Readonly<Record<string, string>>
  /** The home folder of the user, for `~` and the credential stores. */
  user_home: string
  /** Whether anything can deliver outside events to this process. */
  has_listener: boolean
  /** Called before and after each effect in crash tests; absent in the product. */
  effect_seam?: EffectSeam
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
  /** The world failed under the runtime itself; the lap is held and tried again. */
  | { kind: 'fault'; agent_id: AgentId; message: string }

export type AgentSettings = {
  id: AgentId
  model?: string
  fallback_model?: string
  workspace?: Workspace
}

/**
 * Contract: one host per home and process. `open` recovers what a dead process left and starts the
 * laps; nothing runs before it. Calls may overlap; each agent's are carried out one at a time.
 */
export interface Host {
  open(): Promise<void>
  /** Makes the agent at first use; settings given are stored and hold from the next turn. */
  ensureAgent(settings: AgentSettings): Promise<{ ok: true; agent: Rows['agents'] } | Rejection>
  act(command: OperatorCommand): Promise<OperatorReply>
  /** The live facts of an agent; null when there is no such agent. */
  facts(agent_id: AgentId): Facts | null
  /** What `next` says now. */
  next(agent_id: AgentId): Next | null
  subscribe(listener: (notice: HostNotice) => void): () => void
  /**
   * Stops the laps. `safe_point`: the open turn goes on to its next commit and stays open, to be
   * resumed by the next start; `now`: at once. Commands go on either way.
   */
  close(how: 'safe_point' | 'now'): Promise<void>
}
