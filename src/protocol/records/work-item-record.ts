/**
 * A work item as readers get it: the stored fields, the plan as it is now, the projection, what it
 * used, and what may be done to it (docs/spec/work-item.md#what-is-derived). `holon work list|show
 * --json` and the API print this and nothing else.
 */
import { z } from 'zod'
import { candidateClasses } from '../../domain/state/decision.ts'
import type { PlanDescriptor } from '../../domain/state/plan.ts'
import type { Projection } from '../../domain/facts/readiness.ts'
import { itemRecord } from '../../domain/work/item-record.ts'
import { canList, type Can } from '../actions/action.ts'
import type { Spend } from './item-spend.ts'
import { checkGiven, checkRecord, verificationRecord } from './check-record.ts'
import {
  agentId,
  briefId,
  count,
  listOf,
  orNull,
  sha256,
  timestamp,
  workItemId,
} from '../scalar.ts'
import { itemSpend } from './spend-record.ts'
import { waitOfItem } from './wait-record.ts'

const todoStates = ['pending', 'in_progress', 'completed'] as const
export const planStatuses = ['draft', 'ready', 'needs_input'] as const

export const todo = z
  .strictObject({ text: z.string(), state: z.enum(todoStates) })
  .meta({ id: 'Todo' })

export const planDescriptor = z
  .strictObject({
    path: z.string(),
    sha256: sha256.nullable(),
    bytes: count,
    updated_at: timestamp.nullable(),
    preview: z.string(),
    preview_complete: z.boolean(),
    problem: z
      .strictObject({
        code: z.enum(['missing', 'not_a_file', 'too_large', 'emptied', 'nul_filled', 'unreadable']),
        message: z.string(),
        last_good: z.string().nullable(),
      })
      .optional(),
  })
  .meta({ id: 'PlanDescriptor' })

/** Where many items are told at once the plan file is named and not read. */
const planName = z.strictObject({ path: z.string(), bytes: count }).meta({ id: 'PlanName' })

export const measured = z.discriminatedUnion('what', [
  z.strictObject({
    what: z.enum(['tokens', 'usd', 'rounds']),
    used: z.number(),
    limit: z.number(),
  }),
  z.strictObject({ what: z.literal('deadline'), limit: timestamp }),
])

/** A price that is not known leaves the dollars null, never zero. */
export const meter = z
  .strictObject({
    used: z.strictObject({
      tokens: z.number(),
      usd: z.number().nullable().describe('Null while the price of a round is not known.'),
      known_usd: z.number().describe('The known prices, summed.'),
      rounds: count,
    }),
    left: z
      .strictObject({
        tokens: z.number().nullable(),
        usd: z.number().nullable(),
        rounds: z.number().nullable(),
      })
      .describe('Null where there is no limit, or no meter.'),
    over: listOf(measured).describe('The limits that are reached: any of them holds the item.'),
    draws_on: workItemId
      .nullable()
      .describe('The item whose budget it is; null: its own. The use is its own.'),
  })
  .meta({ id: 'Meter' })

export const budget = z.strictObject({
  max_tokens: z.number().nullable(),
  max_usd: z.number().nullable(),
  max_rounds: z.number().nullable(),
  deadline: timestamp.nullable(),
})

const inputWanted = z
  .strictObject({
    question: z.string(),
    given: z.boolean().describe('In so many words, and not taken from the plan.'),
    held_focus: z.boolean().describe('The answer gives the focus back.'),
  })
  .meta({ id: 'InputWanted' })

const imported = z
  .strictObject({
    agent_id: z.string(),
    work_item_id: z.string(),
    exported_at: timestamp,
    file_sha256: sha256,
    adopted_at: timestamp.nullable().describe('When the operator picked it; null: not yet.'),
  })
  .meta({ id: 'Imported' })

export const workItemRecord = z
  .strictObject({
    id: workItemId,
    agent_id: agentId,
    revision: count,
    objective: z.string(),
    state: z.enum(['open', 'completed']),
    plan_status: z.enum(planStatuses),
    input_wanted: orNull(inputWanted).describe('What it asks; null: its plan needs no input.'),
    todo_list: listOf(todo).optional().describe('Left out of lists.'),
    blocked_by: z.string().nullable(),
    result_summary: z.string().nullable(),
    result_brief_id: briefId.nullable(),
    budget: budget.nullable(),
    checks: listOf(checkRecord)
      .optional()
      .describe('What the operator wants to see of it when completed. Left out of lists.'),
    verification: orNull(verificationRecord).describe('Null: no checks were asked for.'),
    created_at: timestamp,
    updated_at: timestamp,
    completed_at: timestamp.nullable(),
    todo_counts: z.strictObject({ pending: count, in_progress: count, completed: count }),
    plan_artifact: z.union([planDescriptor, planName]),
    lifecycle: z.enum(['open', 'completed']),
    scheduling_state: z.enum([
      'completed',
      'waiting_task',
      'waiting_operator',
      'waiting_timer',
      'waiting_external',
      'blocked',
      'runnable',
    ]),
    readiness: z.enum(['runnable', 'waiting_for_operator', 'blocked', 'completed']),
    candidate_class: z.enum(candidateClasses),
    focus: z.enum(['current', 'queued', 'none']),
    has_active_waits: z.boolean(),
    has_triggered_waits: z.boolean(),
    current_todo: orNull(todo),
    blocker: z.string().nullable(),
    wait: orNull(waitOfItem),
    meter: orNull(meter).describe('With the use of children; null: it has no budget.'),
    spend: orNull(itemSpend).describe('Null: no turn was about it.'),
    late: listOf(z.string()).describe(
      'Of a completed one: how tasks of it ended that no turn has shown yet.',
    ),
    imported: imported.optional().describe('Where it came from; absent: it was made here.'),
    can: canList,
  })
  .meta({ id: 'WorkItem' })
export type WorkItemRecord = z.infer<typeof workItemRecord>

export const workItemList = z
  .strictObject({ work_items: z.array(workItemRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'WorkItemList' })

export type ItemParts = {
  plan: PlanDescriptor | null
  spend: Spend | null
  late: readonly string[]
  can: readonly Can[]
  /** Whether the todo list comes along: in single reads. */
  whole: boolean
}

export function workItemRecordOf(p: Projection, parts: ItemParts): WorkItemRecord {
  const { plan, spend, can, late, whole } = parts
  return {
    ...(itemRecord(p, plan, { include_todo_list: whole }) as Omit<
      WorkItemRecord,
      'spend' | 'late' | 'can'
    >),
    meter: p.budget,
    spend: spend === null ? null : { turns: spend.turns, ...spend.usage },
    late: [...late],
    can,
  }
}

export const budgetChange = z
  .strictObject({
    max_tokens: z.number().nullable().optional(),
    max_usd: z.number().nullable().optional(),
    max_rounds: z.number().nullable().optional(),
    deadline: z.string().nullable().optional(),
  })
  .meta({ id: 'BudgetChange' })

export const newWorkItem = z
  .strictObject({
    objective: z.string(),
    plan: z.string().optional().describe('The whole text of the plan file.'),
    plan_status: z.enum(planStatuses).optional(),
    question: z.string().optional().describe('What its plan needs to know: with needs_input.'),
    todo_list: z.array(todo).optional(),
    blocked_by: z.string().optional(),
    budget: orNull(budgetChange).optional(),
    checks: z.array(checkGiven).optional(),
  })
  .meta({ id: 'NewWorkItem' })

export const changeWorkItem = z
  .strictObject({
    expected_revision: count.optional().describe('Or `If-Match`: 409 when it moved meanwhile.'),
    objective: z.string().optional(),
    plan_status: z.enum(planStatuses).optional(),
    question: z.string().optional().describe('What its plan needs to know: with needs_input.'),
    todo_list: z.array(todo).optional(),
    blocked_by: z
      .string()
      .nullable()
      .optional()
      .describe('Null says that the item may go on: it also cancels its wait.'),
    budget: orNull(budgetChange)
      .optional()
      .describe('Limits not given stay; null takes all of them away.'),
    checks: z.array(checkGiven).optional().describe('In the place of all there were.'),
  })
  .meta({ id: 'ChangeWorkItem' })

export const pickBody = z.strictObject({ reason: z.string().optional() }).meta({ id: 'Pick' })

export const completeBody = z
  .strictObject({ report: z.string().optional() })
  .meta({ id: 'Complete' })

export const planView = z
  .strictObject({
    work_item_id: workItemId,
    plan_artifact: planDescriptor,
    text: z.string().nullable().describe('The whole plan; null when it cannot be read.'),
  })
  .meta({ id: 'Plan' })
