/**
 * Briefs and decisions as readers get them: the rows as they are (docs/spec/nouns.md#briefs,
 * docs/spec/scheduler.md). Neither ever changes, so nothing may be done to them and they carry no
 * `can`.
 */
import { z } from 'zod'
import { candidateClasses } from '../../domain/state/decision.ts'
import {
  agentId,
  briefId,
  count,
  decisionId,
  listOf,
  messageId,
  taskId,
  timestamp,
  turnId,
  waitId,
  workItemId,
} from '../scalar.ts'
import { warning } from './turn-record.ts'

export const briefKinds = ['progress', 'reply', 'question', 'result', 'failure'] as const

const briefRecord = z
  .strictObject({
    id: briefId,
    agent_id: agentId,
    kind: z.enum(briefKinds),
    text: z.string(),
    turn_id: turnId.nullable(),
    work_item_id: workItemId.nullable(),
    wait_id: waitId.nullable(),
    message_id: messageId.nullable(),
    task_id: taskId.nullable(),
    warnings: listOf(warning),
    created_at: timestamp,
  })
  .meta({ id: 'Brief' })

export const briefList = z
  .strictObject({ briefs: z.array(briefRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'BriefList' })

/** One candidate and the first rule that excluded it; or how many more there are of a class. */
export const considered = z.union([
  z.strictObject({
    work_item_id: workItemId,
    candidate_class: z.enum(candidateClasses),
    verdict: z.string(),
  }),
  z.strictObject({ candidate_class: z.enum(candidateClasses), more: count }),
])

export const decisionRecord = z
  .strictObject({
    id: decisionId,
    agent_id: agentId,
    at: timestamp,
    decision: z.string(),
    because: z.string(),
    work_item_id: workItemId.nullable(),
    message_id: messageId.nullable(),
    evidence: listOf(z.string()),
    considered: listOf(considered),
  })
  .meta({ id: 'Decision' })

export const decisionList = z
  .strictObject({ decisions: z.array(decisionRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'DecisionList' })
