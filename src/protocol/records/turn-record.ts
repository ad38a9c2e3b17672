/**
 * Turns, their rounds and calls as readers get them: the rows of the ledger as they are (
 * docs/spec/nouns.md#who-owns-what, docs/spec/turn.md). A request names the messages it showed; an
 * open one says when it last gave a sign of life and when it is given up.
 */
import { z } from 'zod'
import {
  agentId,
  callId,
  count,
  listOf,
  messageId,
  orNull,
  sha256,
  taskId,
  timestamp,
  turnId,
  waitId,
  workItemId,
} from '../scalar.ts'

/** Tokens as the provider counts them; null: it did not say. A price not known is null. */
export const usageShape = {
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  reasoning_tokens: z.number().nullable(),
  cached_input_tokens: z.number().nullable(),
  cache_write_tokens: z.number().nullable(),
  usd: z.number().nullable(),
}
export const usage = z.strictObject(usageShape).meta({ id: 'Usage' })

const turnCause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('message'), message_id: messageId }),
  z.strictObject({ kind: z.literal('continue_current'), work_item_id: workItemId }),
  z.strictObject({
    kind: z.literal('review_triggered'),
    work_item_id: workItemId.nullable(),
    wait_ids: listOf(waitId),
  }),
  z.strictObject({ kind: z.literal('queued_available'), work_item_ids: listOf(workItemId) }),
])

const turnShape = {
  id: turnId,
  agent_id: agentId,
  work_item_id: workItemId.nullable(),
  cause: turnCause,
  because: z.string(),
  state: z.enum(['open', 'ended']),
  outcome: z.enum(['completed', 'waiting', 'aborted', 'interrupted', 'failed']).nullable(),
  reason: z.string().nullable(),
  model: z.string(),
  input_cut: count,
  started_by: z
    .enum(['itself', 'own_trigger', 'input'])
    .describe('What it is counted as: the agent, its own trigger, or anything from outside.'),
  end_revision: count.nullable(),
  end_seq: count.nullable(),
  progress: z.boolean().nullable(),
  usage,
  started_at: timestamp,
  ended_at: timestamp.nullable(),
}

/** Of an open request or a running task; both null for everything else. */
export const lifeShape = {
  /** When the last text, output or beat came; null: none was heard by this process. */
  last_sign_of_life_at: timestamp.nullable(),
  /** When it is given up by itself; null: it is not, or nobody knows. */
  gives_up_at: timestamp.nullable(),
}
export type SignsOfLife = { last_sign_of_life_at: string | null; gives_up_at: string | null }
export const noLife: SignsOfLife = { last_sign_of_life_at: null, gives_up_at: null }

const assistantPart = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    text: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
  z.strictObject({
    type: z.literal('tool_call'),
    provider_call_id: z.string(),
    tool_name: z.string(),
    input_json: z.string(),
    provider_metadata: z.unknown().optional(),
  }),
])

/** A remark that comes with a success; it may carry details. */
export const warning = z
  .looseObject({ kind: z.string(), message: z.string() })
  .meta({ id: 'Warning' })

export const fileDiffKind = z.enum(['added', 'changed', 'deleted'])
export const diffShape = {
  path: z.string(),
  name: z.string().describe('Relative to the working folder where the file is below it.'),
  added: count.describe('Lines, as `removed`: of the whole change.'),
  removed: count,
  text: z.string().describe('Hunks of the unified format, without file names.'),
  cut_lines: count.describe('Lines of the hunks that `text` lacks.'),
}

export const keptFile = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({
      kind: z.literal('file'),
      kept_sha256: sha256,
      mode: count.nullable().describe('Permission bits; null: as the system made them.'),
    }),
    z.strictObject({ kind: z.literal('link'), kept_sha256: sha256 }),
  ])
  .meta({ id: 'KeptFile' })

const keptChange = z
  .union([
    z.strictObject({ before: keptFile, after: keptFile }),
    z.strictObject({ not_kept: z.enum(['secret', 'too_large', 'too_many', 'unreadable']) }),
  ])
  .meta({ id: 'KeptChange' })

export const fileDiffShape = { kind: fileDiffKind, ...diffShape }
/** What a call did to one file. */
export const fileDiff = z
  .strictObject({ ...fileDiffShape, ends: keptChange.optional() })
  .meta({ id: 'FileDiff' })

export const toolResult = z
  .discriminatedUnion('status', [
    z.strictObject({
      status: z.literal('success'),
      tool_name: z.string(),
      summary: z.string(),
      warnings: listOf(warning).optional(),
      result: z.unknown(),
      diffs: listOf(fileDiff).optional(),
      unseen: z.string().optional().describe('Why diffs of a command are not known.'),
    }),
    z.strictObject({
      status: z.literal('error'),
      tool_name: z.string(),
      summary: z.string(),
      warnings: listOf(warning).optional(),
      error: z.strictObject({
        kind: z.enum([
          'invalid_input',
          'rejected',
          'fault',
          'timeout',
          'aborted',
          'not_executed',
          'outcome_unknown',
        ]),
        code: z.string(),
        message: z.string(),
        hint: z.string().nullable(),
        retryable: z.boolean(),
        detail: z.unknown().optional(),
      }),
    }),
  ])
  .meta({ id: 'ToolResult' })

export const callRecord = z
  .strictObject({
    id: callId,
    turn_id: turnId,
    agent_id: agentId,
    work_item_id: workItemId.nullable(),
    round: count,
    index: count,
    provider_call_id: z.string(),
    tool_name: z.string(),
    input: z.unknown(),
    effect_class: z.enum([
      'pure',
      'idempotent',
      'content_checked',
      'keyed',
      'reattachable',
      'non_repeatable',
    ]),
    state: z.enum(['recorded', 'started', 'finished']),
    intent: z.unknown(),
    task_id: taskId.nullable(),
    result: orNull(toolResult),
    result_hash: z.string().nullable(),
    changed_something: z.boolean(),
    attempts: count,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'Call' })

/** What was sent, as the runtime measured it; tokens are its own estimates. */
export const sentRecord = z
  .strictObject({
    estimated: count,
    /** What the provider counted for one estimated token the last time; 1 while it never did. */
    factor: z.number(),
    window: count,
    /** Rounds that went along whole; `from` is above `to` where there was none. */
    rounds: z.strictObject({ from: count, to: count, tokens: count }),
    notes: count,
    tools: z.strictObject({ tokens: count, hash: z.string() }),
    /** Equal to the `hash` of the request before it when this one only went on. */
    prefix_hash: z.string(),
    hash: z.string(),
  })
  .meta({ id: 'Sent' })

export const roundRecord = z
  .strictObject({
    /** `<turn>:<n>`: the request's id. */
    id: z.string(),
    turn_id: turnId,
    agent_id: agentId,
    work_item_id: workItemId.nullable(),
    n: count,
    kind: z.enum(['work', 'again', 'continue', 'report']),
    state: z.enum(['requested', 'recorded']),
    model: z.string(),
    opening_sha256: sha256.nullable(),
    /** Of a compacted request: rounds 1 to this one stand in its opening as a recap. */
    recapped: count.optional(),
    /** What a summary at the compaction took; `usage` is null where no answer came. */
    summary: z.strictObject({ model: z.string(), usage: orNull(usage) }).optional(),
    /** Answers that broke off, and what they took together. */
    cut: z.strictObject({ answers: z.number().int(), usage }).optional(),
    sent: sentRecord.optional(),
    notes: listOf(z.string()),
    /** Messages this request showed, the first request of a turn those of its opening. */
    message_ids: listOf(messageId),
    parts: listOf(assistantPart),
    finish: z
      .enum(['stop', 'tool_calls', 'length', 'content_filter', 'unreadable_call', 'other'])
      .nullable(),
    /** The provider's own word for an end that is none of the ordinary ones. */
    finish_word: z.string().optional(),
    usage: orNull(usage),
    requested_at: timestamp,
    recorded_at: timestamp.nullable(),
    ...lifeShape,
    calls: listOf(callRecord),
  })
  .meta({ id: 'Round' })
export type RoundRecord = z.infer<typeof roundRecord>

const turnRecord = z.strictObject(turnShape).meta({ id: 'Turn' })

export const turnWhole = z
  .strictObject({ ...turnShape, rounds: listOf(roundRecord) })
  .meta({ id: 'TurnWithRounds' })
export type TurnWhole = z.infer<typeof turnWhole>

export const turnList = z
  .strictObject({ turns: z.array(turnRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'TurnList' })

const processNote = z
  .strictObject({
    kind: z.enum(['decision', 'step', 'blocker', 'external', 'output', 'scope']),
    text: z.string(),
    /** The record that says more: an item, wait, task, call, brief or message. */
    handle: z.string(),
    times: count,
  })
  .meta({ id: 'ProcessNote' })

export const turnTrace = z
  .strictObject({
    work_item_id: workItemId,
    /** The way of the item, folded from its newest events, oldest first. */
    notes: listOf(processNote),
    older_notes: count,
    turns: z.array(turnWhole),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'Trace' })
export type TurnTrace = z.infer<typeof turnTrace>
/** What an item's process notes are, as the owner folds them. */
export type Notes = Pick<TurnTrace, 'notes'> & { older: number }
