/**
 * What a run needs of the home it runs in: the host with its notices, and what lies beside it. A
 * home of this process and one that a daemon serves look the same. Types only.
 */
import type { Config } from '../../protocol/config.ts'
import type { AgentSettings, LiveText } from '../../ports/host.ts'
import type { OperatorCommand, OperatorReply } from '../../protocol/acts/operator.ts'
import type { Agent, Emitted, Facts, Next, StoredEvent } from '../../protocol/records/records.ts'

export type RunSettings = {
  home: string
  config: Config
}

type Refusal = { ok: false; code: string; message: string; hint: string }

/** Notices of the host that the run prints; the shapes of the runtime's own. */
export type RunNotice =
  | { kind: 'committed'; agent_id: string; events: readonly Emitted[] }
  | { kind: 'live'; agent_id: string; event: { type: string } }
  | { kind: 'retry'; agent_id: string; message: string; delay_ms: number; attempt: number }
  | { kind: 'resting'; agent_id: string; next: Next }
  | { kind: 'fault'; agent_id: string; message: string }
  | { kind: 'degraded_entered'; code: string; message: string }
  | { kind: 'degraded_left' }

/** The runtime's host, as far as a run uses it. Contract: see `runtime/ports.ts`. */
export interface RunHost {
  open(): Promise<void>
  ensureAgent(settings: AgentSettings): Promise<{ ok: true; agent: Agent } | Refusal>
  act(command: OperatorCommand): Promise<OperatorReply>
  facts(agent_id: string): Facts | null
  next(agent_id: string): Next | null
  /** What its model says in an open request. */
  liveTexts(agent_id: string): readonly LiveText[]
  subscribe(listener: (notice: RunNotice) => void): () => void
  close(how: 'safe_point' | 'now'): Promise<void>
}

/**
 * A home to run in: owned by this process, or served by a daemon. `open_model` says beforehand
 * whether a model can be used. `open_door` lets other terminals' commands in; it may be called
 * twice. `output_bytes` is what a running command has written so far. `close` gives everything
 * back, the lock last.
 */
export interface OwnedHome {
  /** Another process serves the home: the work goes on when this one leaves. */
  outlives: boolean
  host: RunHost
  agents(): Promise<Agent[]>
  events(after: number): Promise<StoredEvent[]>
  last_global_seq(): Promise<number>
  open_model(id: string): Promise<{ ok: true } | { ok: false; code: string; message: string }>
  open_door(): Promise<void>
  output_bytes(task_id: string): Promise<number | null>
  close(how: 'safe_point' | 'now'): Promise<void>
}
