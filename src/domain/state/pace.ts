/**
 * Pacing: the counters that keep an agent from working in circles, one row per item and one for
 * the agent's queue and bucket (docs/spec/scheduler.md#self-started-turns). The rules that move and
 * read them are in waits/pacing.ts.
 */
import type { AgentId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import type { Timestamp } from '../time.ts'

export type ItemPacing = {
  kind: 'item'
  id: WorkItemId
  agent_id: AgentId
  /** Self-started turns without progress in a row. */
  no_progress: number
  /** The turns that made no progress, for the question that parks the item; at most three. */
  no_progress_turns: readonly TurnId[]
  /** Self-started turns since the last outside input. */
  self_started: number
  last_turn_id: TurnId | null
  last_turn_ended_at: Timestamp | null
  last_turn_progress: boolean
  /** The item's revision when its last turn ended. */
  end_revision: number
  /** Hashes of command results seen since the item last changed; bounded. */
  seen_results: readonly string[]
  /** The next self-started turn draws nothing from the bucket. */
  free_turn: boolean
  free_turn_at: Timestamp | null
}

export type AgentPacing = {
  kind: 'agent'
  id: AgentId
  agent_id: AgentId
  /** Turns ever started: what "passed over by ten turns" counts. */
  turn_count: number
  /** Self-started turns left, as of `bucket_at`; refill is computed. */
  bucket: number
  bucket_at: Timestamp
  /** Turns that its own trigger may start, as of `trigger_turns_at`; refill is computed. */
  trigger_turns: number
  trigger_turns_at: Timestamp
  /** Counted `queued_available` turns in a row. */
  queue_no_progress: number
  queue_turn_ended_at: Timestamp | null
  queue_turn_end_seq: number
  queue_turn_counted: boolean
  /** The operator was asked once about the queue, the bucket, its trigger; the wait that asks. */
  queue_wait_id: WaitId | null
  bucket_wait_id: WaitId | null
  trigger_wait_id: WaitId | null
  /** Last agent-level review, at most one a minute. */
  agent_review_at: Timestamp | null
  /** Holds in a row by the provider: which step of the back-off comes next. */
  holds: number
}

export type Pacing = ItemPacing | AgentPacing

/** Of an item that never had a turn. */
export const newItemPacing = (agent_id: AgentId, id: WorkItemId): ItemPacing => ({
  kind: 'item',
  id,
  agent_id,
  no_progress: 0,
  no_progress_turns: [],
  self_started: 0,
  last_turn_id: null,
  last_turn_ended_at: null,
  last_turn_progress: false,
  end_revision: 0,
  seen_results: [],
  free_turn: false,
  free_turn_at: null,
})

/** Of an agent that never had a turn: its bucket is full. */
export const newAgentPacing = (id: AgentId): AgentPacing => ({
  kind: 'agent',
  id,
  agent_id: id,
  turn_count: 0,
  bucket: limits.bucket.value,
  bucket_at: '1970-01-01T00:00:00.000Z',
  trigger_turns: limits.trigger_turns.value,
  trigger_turns_at: '1970-01-01T00:00:00.000Z',
  queue_no_progress: 0,
  queue_turn_ended_at: null,
  queue_turn_end_seq: 0,
  queue_turn_counted: false,
  queue_wait_id: null,
  bucket_wait_id: null,
  trigger_wait_id: null,
  agent_review_at: null,
  holds: 0,
})

export type PacingEvent =
  | { type: 'item_paced'; id: WorkItemId; pacing: Omit<ItemPacing, 'kind' | 'id' | 'agent_id'> }
  | { type: 'agent_paced'; id: AgentId; pacing: Omit<AgentPacing, 'kind' | 'id' | 'agent_id'> }

export function evolvePacing(
  _: Pacing | null,
  event: PacingEvent,
  meta: { agent_id: AgentId },
): Pacing {
  switch (event.type) {
    case 'item_paced':
      return { kind: 'item', id: event.id, agent_id: meta.agent_id, ...event.pacing }
    case 'agent_paced':
      return { kind: 'agent', id: event.id, agent_id: meta.agent_id, ...event.pacing }
  }
}
