/**
 * Situation: the facts a request is projected from, as data. The text of the prompt is rendered
 * from it; the deterministic models (runbook, scripted) read it directly.
 */
import type { Agent } from '../../domain/state/agent.ts'
import type { Brief } from '../../domain/state/brief.ts'
import type { Call } from '../../domain/state/call.ts'
import type { MessageId, WaitId, WorkItemId } from '../../domain/ids.ts'
import type { Message } from '../../domain/state/message.ts'
import type { Allowance } from '../../domain/facts/payer.ts'
import type { Candidates } from '../../domain/facts/ranking.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import type { Task } from '../../domain/state/task.ts'
import type { Timestamp } from '../../domain/time.ts'
import type { Round, Turn } from '../../domain/state/turn.ts'
import type { Wait } from '../../domain/state/wait.ts'
import type { RevertRecord } from '../../domain/work/revert.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { Instruction } from './instructions.ts'
import type { NoteEvent } from '../process-notes.ts'
import type { Skills } from '../skill.ts'

/** A round with its calls; of a recorded round each call has its result at a safe point. */
export type RoundView = { round: Round; calls: readonly Call[] }

/**
 * A round of an earlier turn. `messages` are those its request showed first (`message_ids`): the
 * operator's words would otherwise be gone from the item's later turns.
 */
export type EarlierRound = RoundView & { messages: readonly Message[] }

export type ItemView = {
  projection: Projection
  /** Read from the file when the projection was made. */
  plan: PlanDescriptor
  /** The newest waits of the item, also ended ones, oldest first (at most 5). */
  waits: readonly Wait[]
  /** Tasks of the item that run, and those that ended since its last turn. */
  tasks: readonly Task[]
}

/** What the operator did to files of an item: it says as much as words. */
export type FileAct = {
  id: string
  created_at: Timestamp
  work_item_id: WorkItemId
  record: RevertRecord
}

/** Words of the operator or parent, an act of the operator, or a text that the agent delivered. */
export type Utterance =
  | { by: 'them'; message: Message }
  | { by: 'operator_act'; act: FileAct }
  | { by: 'agent'; brief: Brief }

/** The item that stands in full: the turn's own, or the only one that it is offered. */
export const itemInFull = ({ item, offered }: Pick<Situation, 'item' | 'offered'>) =>
  item ?? offered

export type Situation = {
  now: Timestamp
  agent: Agent
  turn: Turn
  /** The turn's item; null when it has none. */
  item: ItemView | null
  /** Of a turn for the queue that has one ready item: that item, which the turn may take up. */
  offered: ItemView | null
  candidates: Candidates
  /** The plan of each candidate shown: where its line cuts it, it says so. */
  plan_texts: Readonly<Record<string, string>>
  /** Messages the turn claimed (and was interjected with), oldest first. */
  messages: readonly Message[]
  /** Path of the file with the coalesced events, and how many it has. */
  coalesced: { path: string; count: number } | null
  /** Waits whose end or trigger this turn shows: the continuation anchor names them. */
  woken_by: readonly Wait[]
  /** Of those the results that came too late for their item. */
  late?: readonly MessageId[]
  /** Results of tasks that woke the turn and that another turn has claimed, or will. */
  brought?: readonly Message[]
  /** Hints that came for waits which leave open what they are about, oldest first. */
  hints?: readonly (Pick<Message, 'source' | 'resource'> & { wait_id: WaitId; count: number })[]
  /** The questions that its messages answer: each stands before its answer. */
  answered?: readonly Wait[]
  /** The newest waits of the items of those: one may have given way to the question. */
  given_up?: readonly Wait[]
  agent_waits: readonly Wait[]
  /** The last rounds about the turn's item from earlier turns, oldest first. */
  earlier: readonly EarlierRound[]
  /**
   * What the operator or a parent said about the turn's item and this request does not show as
   * input or note: the first and the newest, oldest first.
   */
  words?: readonly Message[]
  /** Of a private child: what its parent asked of it, and the file that has it where it is long. */
  handoff?: { message: Message; path: string | null } | null
  /** The newest words between the agent and whom it works for, oldest first. */
  said?: readonly Utterance[]
  /** The newest events of the item, in order: what its process notes are folded from. */
  events?: readonly NoteEvent[]
  /** The rounds of this turn so far; grows with each request. */
  rounds: readonly RoundView[]
  /** The turn before this one, where the operator aborted it, with the calls it made. */
  aborted?: { turn: Turn; calls: readonly Call[] } | null
  running_tasks: readonly Task[]
  /** Of a child that works for an item with a budget. */
  allowance?: Allowance | null
  /** Whole current text of the item's plan file; null without an item or when unreadable. */
  plan_text: string | null
  /**
   * Farthest first: where two disagree, the later (nearer) one wins. Only where a system text is
   * made: it stays for the turn.
   */
  instructions?: readonly Instruction[]
  /** What the agent can look up; only where a system text is made. */
  skills?: Skills
  trigger_url: string | null
  /** What commands may connect to where they are confined; absent: they are not. */
  confined?: 'open' | 'none' | { allow: readonly string[] }
  /** Where the agent works, in a line; as the turn began, and kept from then on. */
  place?: string | null
  agent_home: string
  /** What the agent inherited when it was forked: the stored text of `deriveFork`, unchanged. */
  inherited?: string | null
  context_window: number
}
