/**
 * One agent over a real ledger, for tests: decisions go through the domain's Draft and become
 * commits, and what was committed is kept, so that a test can say what the ledger must hold.
 */
import { createHash, randomUUIDv7 } from 'node:crypto'
import { AgentFacts } from '../domain/agent-facts.ts'
import type { Event, Rows, Table } from '../domain/event.ts'
import { Draft } from '../domain/facts.ts'
import type { AgentId, Mint } from '../domain/ids.ts'
import type { MessageEvent } from '../domain/message.ts'
import { localPrompt } from '../domain/provenance.ts'
import { fromMs } from '../domain/time.ts'
import type { RoundEvent, TurnEvent } from '../domain/turn.ts'
import type { WaitEvent } from '../domain/wait.ts'
import type { WorkItemEvent } from '../domain/work-item.ts'
import type { Change, Committed, Ledger, NewBlob } from '../ledger/port.ts'
import { plainQuestion } from '../domain/question.ts'

export const freshMint = ((prefix: string) => `${prefix}_${randomUUIDv7()}`) as Mint &
  ((prefix: string) => string)

/** The first moment of every test; each decision is a second later. */
const start = Date.parse('2026-01-02T03:04:05.000Z')

/** A blob of a text, or of bytes. */
export function newBlob(given: string | Uint8Array): NewBlob {
  const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes }
}

export class Lane {
  ledger: Ledger
  readonly agent_id: AgentId
  /** The live rows, as the host would keep them. */
  readonly facts: AgentFacts
  /** Every row ever committed, as it is now: the fold. */
  readonly rows = new Map<string, readonly [Table, Rows[Table]]>()
  #decisions = 0
  #blobs: NewBlob[] = []

  constructor(ledger: Ledger, agent_id: AgentId = 'main') {
    this.ledger = ledger
    this.agent_id = agent_id
    this.facts = new AgentFacts(agent_id)
  }

  /** The hash of a blob that comes with the next change, which has to name it. */
  blob(given: string | Uint8Array): string {
    const blob = newBlob(given)
    this.#blobs.push(blob)
    return blob.sha256
  }

  /** The change a decision would be, without committing it. */
  change(...events: readonly Event[]): Change {
    const now = fromMs(start + 1_000 * ++this.#decisions)
    const draft = new Draft(this.facts, { now, mint: freshMint, causation_id: 'test' })
    for (const event of events) draft.emit(event)
    const blobs = this.#blobs
    this.#blobs = []
    return {
      ...(blobs.length === 0 ? {} : { blobs }),
      agent_id: this.agent_id,
      expect_seq: this.facts.seq,
      at: draft.now,
      events: draft.emitted,
      rows: [...draft.changed()],
    }
  }

  async commit(change: Change): Promise<Committed> {
    const committed = await this.ledger.commit(change)
    if (!committed.ok) return committed
    for (const [table, row] of change.rows) this.rows.set(`${table} ${row.id}`, [table, row])
    this.facts.apply(change.rows, committed.seq, change.at)
    return committed
  }

  /** Decides and commits; a conflict is the test's mistake. */
  async emit(...events: readonly Event[]): Promise<Change> {
    const change = this.change(...events)
    const committed = await this.commit(change)
    if (!committed.ok) throw new Error(`conflict: the agent is at seq ${committed.seq}`)
    return change
  }

  row<T extends Table>(table: T, id: string): Rows[T] {
    const found = this.rows.get(`${table} ${id}`)
    if (!found) throw new Error(`no ${table} ${id}`)
    return found[1] as Rows[T]
  }

  all<T extends Table>(table: T): Rows[T][] {
    return [...this.rows.values()].flatMap(([of, row]) => (of === table ? [row as Rows[T]] : []))
  }
}

/** A lane whose agent exists. */
export async function laneOf(ledger: Ledger, agent_id: AgentId = 'main'): Promise<Lane> {
  const lane = new Lane(ledger, agent_id)
  await lane.emit(agentCreated(agent_id))
  return lane
}

// The events most tests need, with values that do not matter filled in.

export const agentCreated = (id: AgentId): Event => ({
  type: 'agent_created',
  id,
  model: null,
  workspace: { mode: 'inherit', root: '/work' },
  preset: 'public_named',
})

type Of<E extends { type: string }, T extends E['type']> = Extract<E, { type: T }>

export const itemCreated = (
  given: Partial<Of<WorkItemEvent, 'work_item_created'>> = {},
): Of<WorkItemEvent, 'work_item_created'> => ({
  type: 'work_item_created',
  id: freshMint('work'),
  by: 'agent',
  objective: 'water the garden',
  plan_status: 'draft',
  input_wanted: null,
  todo_list: [],
  plan: { path: 'plan.md', sha256: null, bytes: 0, good_sha256: null },
  budget: null,
  ...given,
})

export const itemCompleted = (
  id: Of<WorkItemEvent, 'work_item_completed'>['id'],
): Of<WorkItemEvent, 'work_item_completed'> => ({
  type: 'work_item_completed',
  id,
  by: 'agent',
  result_summary: null,
  brief_id: null,
  completed_with_unfinished_todos: false,
  unfinished_todo_count: 0,
  pending_todo_count: 0,
  in_progress_todo_count: 0,
})

export const messageAdmitted = (
  given: Partial<Of<MessageEvent, 'message_admitted'>> = {},
): Of<MessageEvent, 'message_admitted'> => ({
  type: 'message_admitted',
  id: freshMint('msg'),
  provenance: localPrompt('cli_prompt'),
  priority: 'next',
  body: 'hello',
  dedupe_key: null,
  source: null,
  resource: null,
  work_item_id: null,
  task_id: null,
  wait_id: null,
  correlation_id: null,
  causation_id: null,
  turn_count: 0,
  due_at: null,
  consumed_because: null,
  ...given,
})

export const waitRegistered = (
  given: Partial<Of<WaitEvent, 'wait_registered'>> = {},
): Of<WaitEvent, 'wait_registered'> => ({
  type: 'wait_registered',
  id: freshMint('wait'),
  work_item_id: null,
  wake: 'external',
  by: 'agent',
  runtime_cause: null,
  reason: 'rain',
  question: given.wake === 'operator_input' ? plainQuestion(given.reason ?? 'rain') : null,
  resource: null,
  source: null,
  condition: null,
  delivery_mode: 'enqueue_message',
  since_seq: 0,
  wake_at: null,
  recheck_at: null,
  released_focus: false,
  ...given,
})

export const turnStarted = (
  given: Partial<Of<TurnEvent, 'turn_started'>> = {},
): Of<TurnEvent, 'turn_started'> => ({
  type: 'turn_started',
  id: freshMint('turn'),
  work_item_id: null,
  cause: { kind: 'queued_available', work_item_ids: [] },
  because: 'a test',
  model: 'test/model',
  input_cut: 0,
  started_by: 'input',
  ...given,
})

const usage = {
  input_tokens: 1,
  output_tokens: 1,
  reasoning_tokens: null,
  cached_input_tokens: null,
  cache_write_tokens: null,
  usd: null,
}

export const turnEnded = (id: Of<TurnEvent, 'turn_ended'>['id']): Of<TurnEvent, 'turn_ended'> => ({
  type: 'turn_ended',
  id,
  outcome: 'completed',
  reason: null,
  end_revision: null,
  progress: true,
  usage,
})

export const requestSent = (
  turn_id: Of<RoundEvent, 'request_sent'>['turn_id'],
  n: number,
  given: Partial<Of<RoundEvent, 'request_sent'>> = {},
): Of<RoundEvent, 'request_sent'> => ({
  type: 'request_sent',
  id: `${turn_id}:${n}`,
  turn_id,
  work_item_id: null,
  n,
  kind: 'work',
  model: 'test/model',
  opening_sha256: null,
  notes: [],
  message_ids: [],
  ...given,
})

export const roundRecorded = (
  id: Of<RoundEvent, 'round_recorded'>['id'],
): Of<RoundEvent, 'round_recorded'> => ({
  type: 'round_recorded',
  id,
  parts: [{ type: 'text', text: 'yes' }],
  finish: 'stop',
  usage,
  model: 'test/model',
})

type CallEvents = Extract<Event, { type: 'call_recorded' | 'call_started' | 'call_finished' }>

export const callRecorded = (
  turn_id: Of<CallEvents, 'call_recorded'>['turn_id'],
  round: number,
  index: number,
): Of<CallEvents, 'call_recorded'> => ({
  type: 'call_recorded',
  id: freshMint('call'),
  turn_id,
  work_item_id: null,
  round,
  index,
  provider_call_id: `p${index}`,
  tool_name: 'ListWorkItems',
  input: {},
  effect_class: 'pure',
})

export const callFinished = (
  id: Of<CallEvents, 'call_finished'>['id'],
): Of<CallEvents, 'call_finished'> => ({
  type: 'call_finished',
  id,
  result: { tool_name: 'ListWorkItems', summary: 'none', status: 'success', result: [] },
  result_hash: null,
  changed_something: false,
})

type TaskEvents = Extract<Event, { type: 'task_queued' | 'task_ended' }>

export const taskQueued = (): Of<TaskEvents, 'task_queued'> => ({
  type: 'task_queued',
  id: freshMint('task'),
  work_item_id: null,
  kind: 'command',
  label: 'sleep',
  cmd: 'sleep 1',
  child_agent_id: null,
  workdir: '/work',
  timeout_ms: null,
  output_path: 'tasks/output',
  start_place: { boot: 'boot', tasks: 'tasks' },
})

export const taskEnded = (
  id: Of<TaskEvents, 'task_ended'>['id'],
): Of<TaskEvents, 'task_ended'> => ({
  type: 'task_ended',
  id,
  status: 'completed',
  reason: null,
  exit_status: 0,
  output_bytes: 0,
  ended_at: '2026-01-02T03:05:00.000Z',
})

export const briefDelivered = (
  given: Partial<Extract<Event, { type: 'brief_delivered' }>> = {},
): Extract<Event, { type: 'brief_delivered' }> => ({
  type: 'brief_delivered',
  id: freshMint('brief'),
  kind: 'progress',
  text: 'half way',
  turn_id: null,
  work_item_id: null,
  wait_id: null,
  message_id: null,
  task_id: null,
  warnings: [],
  ...given,
})

export const decisionMade = (): Extract<Event, { type: 'decision_made' }> => ({
  type: 'decision_made',
  id: freshMint('dec'),
  decision: 'go_idle',
  because: 'nothing to do',
  work_item_id: null,
  message_id: null,
  evidence: [],
  considered: [],
})

export const itemPaced = (
  id: Extract<Event, { type: 'item_paced' }>['id'],
): Extract<Event, { type: 'item_paced' }> => ({
  type: 'item_paced',
  id,
  pacing: {
    no_progress: 0,
    no_progress_turns: [],
    self_started: 1,
    last_turn_id: null,
    last_turn_ended_at: null,
    last_turn_progress: false,
    end_revision: 0,
    seen_results: [],
    free_turn: false,
    free_turn_at: null,
  },
})

export const agentPaced = (id: AgentId): Extract<Event, { type: 'agent_paced' }> => ({
  type: 'agent_paced',
  id,
  pacing: {
    turn_count: 1,
    bucket: 500,
    bucket_at: '2026-01-02T03:04:05.000Z',
    trigger_turns: 20,
    trigger_turns_at: '2026-01-02T03:04:05.000Z',
    queue_no_progress: 0,
    queue_turn_ended_at: null,
    queue_turn_end_seq: 0,
    queue_turn_counted: false,
    queue_wait_id: null,
    bucket_wait_id: null,
    trigger_wait_id: null,
    agent_review_at: null,
    holds: 0,
  },
})
