/**
 * What a host of agents takes and tells, for whoever speaks to it: the command line, the HTTP API.
 * Types only.
 */
import type { Workspace } from '../domain/state/agent.ts'
import type { Timestamp } from '../domain/time.ts'
import type { Divergence } from '../domain/turns/replay.ts'

export type AgentSettings = {
  id: string
  model?: string
  fallback_model?: string
  workspace?: Workspace
}

/** A sign of life of what is open now: `id` is the turn of an open request, or a running task. */
export type LiveSign = {
  id: string
  last_sign_of_life_at: Timestamp | null
  /** Null: it is waited for without an end. */
  gives_up_at: Timestamp | null
}

/**
 * What a model says in an open request, as far as it came. An `attempt` that failed is void, and
 * the next begins anew. `after` gives what stands behind the first `at` characters of the `length`
 * that came; where pieces do not meet, the middle was too much to be held.
 */
export type LiveText = {
  readonly agent_id: string
  readonly turn_id: string
  readonly round: number
  readonly attempt: number
  readonly length: number
  after(at: number): readonly TextPiece[]
}
export type TextPiece = { readonly at: number; readonly text: string }

/** What keeps the host from writing, for people, and when the next look is. */
export type Shortage = { code: string; message: string; retry_after_s: number }

/** What a replay found; `divergence` names the first event that comes out differently. */
export type ReplayEnd =
  | { ok: true; decisions: number; requests: number; divergence: Divergence | null }
  | { ok: false; code: 'below_retention' | 'open_turn'; message: string; hint: string }
