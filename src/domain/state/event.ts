/**
 * Every fact the ledger can hold, and the one fold. Each event changes exactly one row, named by
 * its table and id, so "rows equal the fold of the events" is a sentence `verify` can check.
 */
import { evolveAgent, type Agent, type AgentEvent } from './agent.ts'
import { evolveBrief, type Brief, type BriefEvent } from './brief.ts'
import { evolveCall, type Call, type CallEvent } from './call.ts'
import { evolveDecision, type Decision, type DecisionEvent } from './decision.ts'
import { evolveDelegation, type Delegation, type DelegationEvent } from './delegation.ts'
import { evolveDelivery, type Delivery, type DeliveryEvent } from './delivery.ts'
import { evolveGrant, type Grant, type GrantEvent } from './grant.ts'
import type { AgentId, TurnId, WorkItemId } from '../ids.ts'
import { evolveMessage, type Message, type MessageEvent } from './message.ts'
import { evolveMeter, type Meter, type MeterEvent } from './meter.ts'
import { evolvePacing, type Pacing, type PacingEvent } from './pace.ts'
import { evolveReceipt, type Receipt, type ReceiptEvent } from './receipt.ts'
import { evolveSnooze, type Snooze, type SnoozeEvent } from './snooze.ts'
import { evolveTask, type Task, type TaskEvent } from './task.ts'
import type { Timestamp } from '../time.ts'
import {
  evolveSchedule,
  evolveSlot,
  type Schedule,
  type ScheduleEvent,
  type Slot,
  type SlotEvent,
} from './schedule.ts'
import { evolveTrigger, type Trigger, type TriggerEvent } from './trigger.ts'
import {
  evolveRound,
  evolveTurn,
  type Round,
  type RoundEvent,
  type Turn,
  type TurnEvent,
} from './turn.ts'
import { evolveWait, type Wait, type WaitEvent } from './wait.ts'
import { evolveWorktree, type Worktree, type WorktreeEvent } from './worktree.ts'
import { evolveWorkItem, type WorkItem, type WorkItemEvent } from './work-item.ts'

/** The row type of each table. */
export type Rows = {
  agents: Agent
  work_items: WorkItem
  waits: Wait
  messages: Message
  turns: Turn
  rounds: Round
  calls: Call
  tasks: Task
  briefs: Brief
  decisions: Decision
  pacing: Pacing
  triggers: Trigger
  deliveries: Delivery
  schedules: Schedule
  slots: Slot
  receipts: Receipt
  snoozes: Snooze
  delegations: Delegation
  worktrees: Worktree
  meters: Meter
  grants: Grant
}
export type Table = keyof Rows
export const tables = [
  'agents',
  'work_items',
  'waits',
  'messages',
  'turns',
  'rounds',
  'calls',
  'tasks',
  'briefs',
  'decisions',
  'pacing',
  'triggers',
  'deliveries',
  'schedules',
  'slots',
  'receipts',
  'snoozes',
  'delegations',
  'worktrees',
  'meters',
  'grants',
] as const satisfies readonly Table[]

type EventsOf = {
  agents: AgentEvent
  work_items: WorkItemEvent
  waits: WaitEvent
  messages: MessageEvent
  turns: TurnEvent
  rounds: RoundEvent
  calls: CallEvent
  tasks: TaskEvent
  briefs: BriefEvent
  decisions: DecisionEvent
  pacing: PacingEvent
  triggers: TriggerEvent
  deliveries: DeliveryEvent
  schedules: ScheduleEvent
  slots: SlotEvent
  receipts: ReceiptEvent
  snoozes: SnoozeEvent
  delegations: DelegationEvent
  worktrees: WorktreeEvent
  meters: MeterEvent
  grants: GrantEvent
}
export type Event = EventsOf[Table]
export type EventType = Event['type']
/** The event of a type, also where several types are one variant of the union. */
export type EventOf<T extends EventType> = Event extends infer E
  ? E extends { type: infer K }
    ? T extends K
      ? E & { type: T }
      : never
    : never
  : never

/** Which table's row an event changes. */
export const tableOf: { readonly [T in EventType]: Table } = {
  agent_created: 'agents',
  agent_configured: 'agents',
  agent_started: 'agents',
  agent_stopped: 'agents',
  agent_deleted: 'agents',
  work_item_picked: 'agents',
  focus_released: 'agents',
  work_item_created: 'work_items',
  work_item_adopted: 'work_items',
  work_item_updated: 'work_items',
  plan_changed: 'work_items',
  work_item_completed: 'work_items',
  work_item_report_drafted: 'work_items',
  work_item_reported: 'work_items',
  work_item_claimed: 'work_items',
  files_reverted: 'work_items',
  work_item_claim_refused: 'work_items',
  check_owed: 'work_items',
  check_started: 'work_items',
  check_finished: 'work_items',
  wait_registered: 'waits',
  wait_rearmed: 'waits',
  wait_triggered: 'waits',
  wait_recheck_due: 'waits',
  wait_reviewed: 'waits',
  wait_review_undone: 'waits',
  wait_resolved: 'waits',
  wait_focus_settled: 'waits',
  wait_cancelled: 'waits',
  message_admitted: 'messages',
  message_counted: 'messages',
  message_bound: 'messages',
  message_claimed: 'messages',
  message_shown: 'messages',
  message_interjected: 'messages',
  message_requeued: 'messages',
  message_coalesced: 'messages',
  message_consumed: 'messages',
  message_aborted: 'messages',
  message_failed: 'messages',
  message_dropped: 'messages',
  message_dead: 'messages',
  message_taken_back: 'messages',
  turn_started: 'turns',
  turn_bound: 'turns',
  model_fell_back: 'turns',
  turn_ended: 'turns',
  request_sent: 'rounds',
  round_bound: 'rounds',
  answer_cut: 'rounds',
  round_recorded: 'rounds',
  call_recorded: 'calls',
  call_started: 'calls',
  call_bound: 'calls',
  call_finished: 'calls',
  task_queued: 'tasks',
  task_held_again: 'tasks',
  task_decided: 'tasks',
  task_started: 'tasks',
  task_promoted: 'tasks',
  task_readopted: 'tasks',
  task_asked: 'tasks',
  task_answered: 'tasks',
  task_cancelling: 'tasks',
  task_ended: 'tasks',
  task_changes_seen: 'tasks',
  brief_delivered: 'briefs',
  decision_made: 'decisions',
  item_paced: 'pacing',
  agent_paced: 'pacing',
  trigger_created: 'triggers',
  trigger_reset: 'triggers',
  trigger_revoked: 'triggers',
  trigger_delivered: 'triggers',
  delivery_accepted: 'deliveries',
  delivery_dead: 'deliveries',
  delivery_redelivered: 'deliveries',
  schedule_created: 'schedules',
  schedule_changed: 'schedules',
  schedule_paused: 'schedules',
  schedule_resumed: 'schedules',
  schedule_removed: 'schedules',
  schedule_advanced: 'schedules',
  slot_settled: 'slots',
  receipt_kept: 'receipts',
  attention_snoozed: 'snoozes',
  attention_dismissed: 'snoozes',
  delegation_made: 'delegations',
  delegation_bound: 'delegations',
  delegation_ended: 'delegations',
  worktree_planned: 'worktrees',
  worktree_made: 'worktrees',
  worktree_kept: 'worktrees',
  worktree_snapshotted: 'worktrees',
  worktree_removed: 'worktrees',
  worktree_discarded: 'worktrees',
  worktree_restore_planned: 'worktrees',
  worktree_restored: 'worktrees',
  meter_opened: 'meters',
  meter_over: 'meters',
  meter_shared: 'meters',
  meter_paid_on: 'meters',
  meter_allowed: 'meters',
  meter_reserved: 'meters',
  meter_settled: 'meters',
  meter_released: 'meters',
  meter_drawn: 'meters',
  meter_taken: 'meters',
  meter_asked: 'meters',
  grant_made: 'grants',
  grant_used: 'grants',
  grant_ended: 'grants',
}

/** What the ledger adds to an event when it is committed. */
export type EventMeta = {
  agent_id: AgentId
  /** Dense from 1 within the agent, in commit order. */
  seq: number
  at: Timestamp
  /** The item and turn it happened for, where there is one. */
  work_item_id: WorkItemId | null
  turn_id: TurnId | null
  /** The message, turn, call, timer or operator act that asked for it. */
  causation_id: string | null
}
export type StoredEvent = EventMeta & { id: string; global_seq: number; v: 1; event: Event }

/** The rows of one agent, as they are when they are read. */
export interface RowReader {
  readonly agent_id: AgentId
  row<T extends Table>(table: T, id: string): Rows[T] | undefined
  rows<T extends Table>(table: T): Iterable<Rows[T]>
}

/** Folds one event into its row. Pure; throws only on an order of events that is a bug. */
export function evolve(
  row: Rows[Table] | null,
  event: Event,
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Rows[Table] {
  const table = tableOf[event.type]
  switch (table) {
    case 'agents':
      return evolveAgent(row as Agent | null, event as AgentEvent, meta)
    case 'work_items':
      return evolveWorkItem(row as WorkItem | null, event as WorkItemEvent, meta)
    case 'waits':
      return evolveWait(row as Wait | null, event as WaitEvent, meta)
    case 'messages':
      return evolveMessage(row as Message | null, event as MessageEvent, meta)
    case 'turns':
      return evolveTurn(row as Turn | null, event as TurnEvent, meta)
    case 'rounds':
      return evolveRound(row as Round | null, event as RoundEvent, meta)
    case 'calls':
      return evolveCall(row as Call | null, event as CallEvent, meta)
    case 'tasks':
      return evolveTask(row as Task | null, event as TaskEvent, meta)
    case 'briefs':
      return evolveBrief(row as Brief | null, event as BriefEvent, meta)
    case 'decisions':
      return evolveDecision(row as Decision | null, event as DecisionEvent, meta)
    case 'pacing':
      return evolvePacing(row as Pacing | null, event as PacingEvent, meta)
    case 'triggers':
      return evolveTrigger(row as Trigger | null, event as TriggerEvent, meta)
    case 'deliveries':
      return evolveDelivery(row as Delivery | null, event as DeliveryEvent, meta)
    case 'schedules':
      return evolveSchedule(row as Schedule | null, event as ScheduleEvent, meta)
    case 'slots':
      return evolveSlot(row as Slot | null, event as SlotEvent, meta)
    case 'receipts':
      return evolveReceipt(row as Receipt | null, event as ReceiptEvent, meta)
    case 'snoozes':
      return evolveSnooze(row as Snooze | null, event as SnoozeEvent, meta)
    case 'delegations':
      return evolveDelegation(row as Delegation | null, event as DelegationEvent, meta)
    case 'worktrees':
      return evolveWorktree(row as Worktree | null, event as WorktreeEvent, meta)
    case 'meters':
      return evolveMeter(row as Meter | null, event as MeterEvent, meta)
    case 'grants':
      return evolveGrant(row as Grant | null, event as GrantEvent, meta)
  }
}
