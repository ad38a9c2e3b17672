/**
 * Delegations and worktrees as readers get them: their rows (docs/spec/agent.md#delegation). Both
 * are a parent's, and both follow the task that supervises its child.
 */
import { z } from 'zod'
import type { Delegation } from '../../domain/state/delegation.ts'
import type { Worktree } from '../../domain/state/worktree.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, idOf, taskId, timestamp, workItemId } from '../scalar.ts'

const ends = ['completed', 'failed', 'cancelled', 'interrupted'] as const
export const delegationStates = ['active', ...ends] as const

export const delegationRecord = z
  .strictObject({
    delegation_id: idOf('deleg'),
    parent_agent_id: agentId,
    parent_work_item_id: workItemId.nullable().describe('What the parent was at work on.'),
    child_agent_id: agentId,
    child_work_item_id: workItemId.nullable().describe('The first item the child made.'),
    task_id: taskId.describe('Supervises the child.'),
    state: z.enum(delegationStates),
    result_summary: z.string().nullable(),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  })
  .meta({ id: 'Delegation' })

export type DelegationRecord = z.infer<typeof delegationRecord>

/** The row by the names of its two sides: in the ledger it stands as the parent's. */
export function delegationRecordOf(row: Delegation): DelegationRecord {
  const { id, agent_id, work_item_id, ...rest } = row
  return {
    delegation_id: id,
    parent_agent_id: agent_id,
    parent_work_item_id: work_item_id,
    ...rest,
  }
}

export const delegationList = z
  .strictObject({ delegations: z.array(delegationRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'DelegationList' })

export const delegationEnd = z.enum(ends)

export const worktreeSnapshot = z.strictObject({ ref: z.string(), commit: z.string() })

export const unfiltered = z.strictObject({
  files: z.int().nonnegative(),
  filters: z.array(z.string()),
})

export const worktreeStates = ['planned', 'ready', 'kept', 'removed', 'discarded'] as const
export const liveWorktreeStates = ['planned', 'ready', 'kept'] as const

export const worktreeRecord = z
  .strictObject({
    id: taskId.describe('The task that owns it.'),
    agent_id: agentId.describe('The parent.'),
    child_agent_id: agentId,
    repository: z.string(),
    path: z.string(),
    branch: z.string(),
    base_commit: z.string().nullable(),
    unfiltered: unfiltered
      .nullable()
      .describe(
        'Files as git has them, which a configured filter (LFS, crypt) would have changed.',
      ),
    state: z.enum(worktreeStates).describe('`kept`: its task is over; something would be lost.'),
    reason: z.string().nullable(),
    snapshot: worktreeSnapshot.nullable(),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    can: canList,
  })
  .meta({ id: 'Worktree' })
export type WorktreeRecord = z.infer<typeof worktreeRecord>

export const worktreeList = z
  .strictObject({ worktrees: z.array(worktreeRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'WorktreeList' })

export const worktreeRecordOf = (row: Worktree, can: readonly Can[]): WorktreeRecord => ({
  ...row,
  can,
})
