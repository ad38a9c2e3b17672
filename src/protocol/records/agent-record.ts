/**
 * An agent as readers get it: its row, and what it does now by asking the scheduler
 * (docs/spec/nouns.md#who-owns-what, 5 and 9). `holon agents --json` and the API print this and
 * nothing else.
 */
import { z } from 'zod'
import { budgetLine } from '../../domain/facts/budget.ts'
import { allowanceNow } from '../../domain/facts/payer.ts'
import { postureOf, postures } from '../../domain/explain/state-name.ts'
import { presetNames } from '../../domain/policy/rule.ts'
import { agentUnread } from '../../domain/explain/unread.ts'
import { canList, type Can } from '../actions/action.ts'
import type { AgentView } from '../agent-view.ts'
import { delegationRecord, delegationRecordOf } from './delegation-record.ts'
import { budget, budgetChange, meter } from './work-item-record.ts'
import {
  agentId,
  count,
  listOf,
  orNull,
  sha256,
  taskId,
  timestamp,
  turnId,
  workItemId,
} from '../scalar.ts'

export const workspace = z.strictObject({
  mode: z.enum(['inherit', 'worktree', 'explicit_root']),
  root: z.string(),
})

const spendLimits = orNull(budget.omit({ deadline: true }).meta({ id: 'SpendLimits' }))
export const spendBudget = z
  .strictObject({
    day: spendLimits.describe('Of each UTC day.'),
    all: spendLimits.describe('Of everything that ever was.'),
  })
  .meta({ id: 'SpendBudget' })

const limitsChange = orNull(budgetChange.omit({ deadline: true }).meta({ id: 'SpendLimitsChange' }))
export const spendChange = z
  .strictObject({ day: limitsChange.optional(), all: limitsChange.optional() })
  .meta({ id: 'SpendChange' })

const unread = z
  .strictObject({
    because: z.string(),
    detail: z.string().nullable(),
    once: z.string().describe('What must be so before they are read.'),
    cli: z.string().nullable().describe('The command that makes it so.'),
  })
  .meta({ id: 'Unread' })

export const policyPreset = z
  .enum(presetNames)
  .describe('What its calls may do without being asked about: docs/concepts/policy.md.')

export const agentRecord = z
  .strictObject({
    id: agentId,
    preset: z.enum(['public_named', 'private_child']),
    visibility: z.enum(['public', 'private']),
    ownership: z.enum(['self_owned', 'parent_supervised']),
    lineage_parent_agent_id: agentId.nullable(),
    supervisor_agent_id: agentId.nullable(),
    supervising_task_id: taskId.nullable(),
    state: z.enum(['active', 'stopped', 'deleted']),
    current_work_item_id: workItemId.nullable(),
    model: z.string().nullable(),
    fallback_model: z.string().nullable(),
    workspace,
    template: z.string().nullable(),
    inherited_sha256: sha256.nullable().describe('The context a fork came with.'),
    draws_on: workItemId
      .nullable()
      .describe('The item of its parent whose budget pays for it, from its making on.'),
    budget: orNull(spendBudget).describe('Of it and the agents made under it. Null: none was set.'),
    policy_preset: orNull(policyPreset).optional().describe('Of its own; else as the home says.'),
    created_at: timestamp,
    posture: z.enum(postures).describe('What the scheduler says now.'),
    because: z.string(),
    until: timestamp.nullable(),
    unread: orNull(unread).describe('What keeps words to it from being read; null: nothing.'),
    current_run_id: turnId.nullable().describe('The open turn: the guard of an abort.'),
    open_work_items: count,
    delegations: listOf(delegationRecord).describe('What it has handed to children that work.'),
    allowance: meter
      .extend({ allowed: budget })
      .meta({ id: 'Allowance' })
      .nullable()
      .describe('Of a child: what the item it works for leaves it in all. Null: no limit.'),
    can: canList,
  })
  .meta({ id: 'Agent' })
export type AgentRecord = z.infer<typeof agentRecord>

export const agentList = z
  .strictObject({ agents: z.array(agentRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'AgentList' })

export function agentRecordOf(view: AgentView, can: readonly Can[]): AgentRecord {
  const { agent, next } = view
  return {
    ...agent,
    posture: postureOf(next),
    because: next.because,
    until: next.do === 'wait' ? next.until : null,
    unread: agentUnread(view.facts, view.now),
    current_run_id: view.turn?.id ?? null,
    open_work_items: openCount(view),
    delegations: [...view.facts.rows('delegations')]
      .filter((one) => one.state === 'active')
      .map(delegationRecordOf),
    allowance: allowanceNow(view.facts, view.now),
    can,
  }
}

/** What a child has used of what it may use, for people; null for everyone else. */
export function allowanceWords({ facts, now }: AgentView): string | null {
  const allowance = allowanceNow(facts, now)
  if (allowance === null) return null
  const { allowed, ...used } = allowance
  return budgetLine(allowed, used)
}

export function openCount({ survey }: AgentView): number {
  const { completed_recent: _, ...open } = survey.candidates
  return Object.values(open).reduce((sum, list) => sum + list.length, 0)
}

/** What a new agent may be given; what is left out comes from the configuration. */
export const newAgent = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'is not the name of an agent'),
    model: z.string().optional(),
    fallback_model: z.string().optional(),
    workspace: workspace.optional(),
    template: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('A folder of `templates/` in the home; what is given here wins over its defaults.'),
    policy_preset: policyPreset.optional(),
  })
  .meta({ id: 'NewAgent' })

export const changeAgent = z
  .strictObject({
    model: z.string().optional(),
    fallback_model: z.string().nullable().optional(),
    workspace: workspace.optional(),
    budget: orNull(spendChange)
      .optional()
      .describe('Limits not given stay; null takes all of them away.'),
    policy_preset: orNull(policyPreset).optional().describe('Null: what the home says.'),
  })
  .meta({ id: 'ChangeAgent' })

/** The guard of an abort: the id of the turn that is meant. */
export const abortBody = z
  .strictObject({
    run_id: z.string().describe('`current_run_id` of the agent; 409 when another is open.'),
    stop: z.boolean().optional().describe('Stop the agent too. Default: true.'),
  })
  .meta({ id: 'Abort' })
