/**
 * Turn: one activation of the model. A turn is its rounds; a round is one request, the recorded
 * answer and its tool calls. Each has a row, so a crash at any point leaves a place to go on from.
 */
import type { AgentId, MessageId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import type { Timestamp } from '../time.ts'

/** Why a turn was started: the scheduler's decision, as data. */
export type TurnCause =
  | { kind: 'message'; message_id: MessageId }
  | { kind: 'continue_current'; work_item_id: WorkItemId }
  | { kind: 'review_triggered'; work_item_id: WorkItemId | null; wait_ids: readonly WaitId[] }
  | { kind: 'queued_available'; work_item_ids: readonly WorkItemId[] }

/**
 * What a turn draws on: `itself` on the bucket, `own_trigger` on what the agent's own trigger may
 * start; a turn with any other input on nothing.
 */
export const startedBy = ['itself', 'own_trigger', 'input'] as const
export type StartedBy = (typeof startedBy)[number]

export type Outcome = 'completed' | 'waiting' | 'aborted' | 'interrupted' | 'failed'

/** Tokens as the provider counts them; null: it did not say. A price not known is null, never 0. */
export type Usage = {
  input_tokens: number | null
  output_tokens: number | null
  reasoning_tokens: number | null
  cached_input_tokens: number | null
  cache_write_tokens: number | null
  usd: number | null
}

export type Turn = {
  id: TurnId
  agent_id: AgentId
  /** What the turn is about; moved by PickWorkItem, not cleared when focus is released. */
  work_item_id: WorkItemId | null
  cause: TurnCause
  because: string
  state: 'open' | 'ended'
  outcome: Outcome | null
  reason: string | null
  model: string
  /** The last event the turn's input could know; matching events after it trigger its waits. */
  input_cut: number
  started_by: StartedBy
  end_revision: number | null
  end_seq: number | null
  progress: boolean | null
  usage: Usage
  started_at: Timestamp
  ended_at: Timestamp | null
}

export type AssistantPart =
  | { type: 'text'; text: string; provider_metadata?: unknown }
  | { type: 'reasoning'; text: string; provider_metadata?: unknown }
  | {
      type: 'tool_call'
      provider_call_id: string
      tool_name: string
      input_json: string
      provider_metadata?: unknown
    }

/**
 * What a request is for: `work` is the ordinary round; `again` asks an empty answer once more;
 * `continue` lets an answer cut by length go on; `report` asks for a missing completion report.
 */
export type RoundKind = 'work' | 'again' | 'continue' | 'report'

/** `unreadable_call`: the model made a call that its provider could not read, and sent none. */
export type Finish =
  | 'stop'
  | 'tool_calls'
  | 'length'
  | 'content_filter'
  | 'unreadable_call'
  | 'other'

export type Round = {
  id: RoundId
  turn_id: TurnId
  agent_id: AgentId
  work_item_id: WorkItemId | null
  /** 1, 2, 3 … within the turn. */
  n: number
  kind: RoundKind
  state: 'requested' | 'recorded'
  model: string
  /** The blob with the turn's opening; on the first round and on one that was compacted only. */
  opening_sha256: string | null
  /** Of a compacted request: rounds 1 to this one of the turn stand in its opening as a recap. */
  recapped?: number
  /** Of a compacted request for which a summary was asked. */
  summary?: SummaryUse
  /** What was sent, as it was measured; not there for a request without an answer. */
  sent?: RequestSize
  /** Text appended before this request: runtime notes and interjected messages. */
  notes: readonly string[]
  message_ids: readonly MessageId[]
  parts: readonly AssistantPart[]
  finish: Finish | null
  /** The provider's own word for an end that is none of the ordinary ones. */
  finish_word?: string
  usage: Usage | null
  /** Answers to this request that broke off, and what they took together. */
  cut?: CutAnswers
  requested_at: Timestamp
  recorded_at: Timestamp | null
}

/** What broke off before its end: no part of it is kept, and it is paid for. */
export type CutAnswers = { answers: number; usage: Usage }

/** What a summary at a compaction took; `usage` is null where no answer came. */
export type SummaryUse = { model: string; usage: Usage | null }

/**
 * A request as it was sent: its size, and the marks that say what a provider's cache could reuse.
 * Token counts are the runtime's own, before `factor` corrects them.
 */
export type RequestSize = {
  estimated: number
  /** What the provider counted for one estimated token the last time; 1 while it never did. */
  factor: number
  /** Context window of the model then, in tokens. */
  window: number
  /** Rounds that went along whole; `from` is above `to` where there was none. */
  rounds: { from: number; to: number; tokens: number }
  /** Notes in front of this request. */
  notes: number
  tools: { tokens: number; hash: string }
  /** Of everything up to the end of what the request before it could have sent too. */
  prefix_hash: string
  /** Of everything: equal to the next one's `prefix_hash` when that one only went on. */
  hash: string
}

export type RoundId = `${TurnId}:${number}`
export const roundId = (turn: TurnId, n: number): RoundId => `${turn}:${n}`

export type TurnEvent =
  | {
      type: 'turn_started'
      id: TurnId
      work_item_id: WorkItemId | null
      cause: TurnCause
      because: string
      model: string
      input_cut: number
      started_by: StartedBy
    }
  | { type: 'turn_bound'; id: TurnId; work_item_id: WorkItemId }
  | { type: 'model_fell_back'; id: TurnId; model: string; cause: string }
  | {
      type: 'turn_ended'
      id: TurnId
      outcome: Outcome
      reason: string | null
      end_revision: number | null
      progress: boolean
      usage: Usage
    }

export type RoundEvent =
  | {
      type: 'request_sent'
      id: RoundId
      turn_id: TurnId
      work_item_id: WorkItemId | null
      n: number
      kind: RoundKind
      model: string
      opening_sha256: string | null
      recapped?: number
      summary?: SummaryUse
      notes: readonly string[]
      message_ids: readonly MessageId[]
    }
  /** Its request had no item: it counts for the first one that its calls made or picked. */
  | { type: 'round_bound'; id: RoundId; work_item_id: WorkItemId }
  /** An answer to its request broke off; tokens that nobody reported are by estimate. */
  | {
      type: 'answer_cut'
      id: RoundId
      /** How many did by now. */
      answers: number
      usage: Usage
    }
  | {
      type: 'round_recorded'
      id: RoundId
      parts: readonly AssistantPart[]
      finish: Finish
      finish_word?: string
      usage: Usage
      model: string
      sent?: RequestSize
    }

export const noUsage: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  usd: 0,
}

/** Sums two usages; a part that is not known leaves the sum not known. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y)
  return {
    input_tokens: sum(a.input_tokens, b.input_tokens),
    output_tokens: sum(a.output_tokens, b.output_tokens),
    reasoning_tokens: sum(a.reasoning_tokens, b.reasoning_tokens),
    cached_input_tokens: sum(a.cached_input_tokens, b.cached_input_tokens),
    cache_write_tokens: sum(a.cache_write_tokens, b.cache_write_tokens),
    usd: sum(a.usd, b.usd),
  }
}

/** Its answer, those that broke off, and the summary of its compaction: what there is of them. */
export const paymentsOf = ({ usage, cut, summary }: Pick<Round, 'usage' | 'cut' | 'summary'>) =>
  [usage, cut?.usage, summary?.usage].filter((one) => one !== null && one !== undefined)

/** All that a round took. */
export const roundUsage = (round: Pick<Round, 'usage' | 'cut' | 'summary'>): Usage =>
  paymentsOf(round).reduce(addUsage, noUsage)

export function evolveTurn(
  turn: Turn | null,
  event: TurnEvent,
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Turn {
  if (event.type === 'turn_started') {
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      state: 'open',
      outcome: null,
      reason: null,
      end_revision: null,
      end_seq: null,
      progress: null,
      usage: noUsage,
      started_at: meta.at,
      ended_at: null,
    }
  }
  if (turn === null) throw new Error(`${event.type} before turn_started: ${event.id}`)
  switch (event.type) {
    case 'turn_bound':
      return { ...turn, work_item_id: event.work_item_id }
    case 'model_fell_back':
      return { ...turn, model: event.model }
    case 'turn_ended':
      return {
        ...turn,
        state: 'ended',
        outcome: event.outcome,
        reason: event.reason,
        end_revision: event.end_revision,
        end_seq: meta.seq,
        progress: event.progress,
        usage: event.usage,
        ended_at: meta.at,
      }
  }
}

/** The request of a round as it would be recorded again: with other notes, or another opening. */
export function requestAgain({
  id,
  turn_id,
  work_item_id,
  n,
  kind,
  model,
  opening_sha256,
  recapped,
  summary,
  notes,
  message_ids,
}: Round): RoundEvent & { type: 'request_sent' } {
  const again = { id, turn_id, work_item_id, n, kind, model, opening_sha256, notes, message_ids }
  return {
    type: 'request_sent',
    ...again,
    ...(recapped === undefined ? {} : { recapped }),
    ...(summary === undefined ? {} : { summary }),
  }
}

export function evolveRound(
  round: Round | null,
  event: RoundEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Round {
  if (event.type === 'request_sent') {
    const { type: _, ...given } = event
    return {
      ...given,
      agent_id: meta.agent_id,
      state: 'requested',
      parts: [],
      finish: null,
      usage: null,
      ...(round?.cut === undefined ? {} : { cut: round.cut }),
      requested_at: round?.requested_at ?? meta.at,
      recorded_at: null,
    }
  }
  if (round === null) throw new Error(`${event.type} before request_sent: ${event.id}`)
  switch (event.type) {
    case 'round_bound':
      if (round.work_item_id !== null) throw new Error(`${event.id} has an item already`)
      return { ...round, work_item_id: event.work_item_id }
    case 'answer_cut': {
      const usage = addUsage(round.cut?.usage ?? noUsage, event.usage)
      return { ...round, cut: { answers: event.answers, usage } }
    }
    case 'round_recorded':
      return {
        ...round,
        state: 'recorded',
        parts: event.parts,
        finish: event.finish,
        ...(event.finish_word === undefined ? {} : { finish_word: event.finish_word }),
        usage: event.usage,
        model: event.model,
        ...(event.sent === undefined ? {} : { sent: event.sent }),
        recorded_at: meta.at,
      }
  }
}

/** The assistant's words of a round, its text parts joined. */
export function roundText(round: Pick<Round, 'parts'>): string {
  return wordsOf(round).trim()
}

/** Its words of an answer: where it was cut by length and went on, both parts as one. */
export function answerText(rounds: readonly Round[], last: Round): string {
  const before = rounds.find(({ n }) => n === last.n - 1)
  const head = last.kind === 'continue' && before ? wordsOf(before) : ''
  return `${head}${wordsOf(last)}`.trim()
}

/** As they came, with the space at the seam. */
const wordsOf = (round: Pick<Round, 'parts'>): string =>
  round.parts
    .flatMap((part) => (part.type === 'text' && part.text !== '' ? [part.text] : []))
    .join('\n\n')
