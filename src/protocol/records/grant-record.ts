/** Grants as readers get them (docs/spec/task.md#grants): what a yes stands for, and since when. */
import { z } from 'zod'
import { grantWords } from '../../domain/approvals/grants.ts'
import {
  grantKinds,
  type Grant,
  type GrantScope,
  type LikeCommand,
} from '../../domain/state/grant.ts'
import { canList, type Can } from '../actions/action.ts'
import { agentId, count, idOf, listOf, taskId, timestamp, workItemId } from '../scalar.ts'

export const grantId = idOf('grant')
export const grantStatuses = ['active', 'ended'] as const

/** How a command begins that needs no question: see docs/concepts/policy.md. */
export const likeCommand = z
  .strictObject({
    program: z.string().describe('Its real path.'),
    name: z.string(),
    words: listOf(z.string()).describe('What it begins with; the words behind are free.'),
    flags: listOf(z.string()).describe('No others.'),
    cwd: z.string(),
    confined: z.boolean(),
    origin: z.enum(['operator', 'runtime', 'external']),
  })
  .describe(
    'How a command begins; what stands behind it is free.',
  ) as unknown as z.ZodType<LikeCommand>

export const grantScope = z.union([
  z.strictObject({
    kind: z.literal('same_for_item'),
    action: z
      .looseObject({ tool: z.string(), sha256: z.string() })
      .describe('What would be done, as a value.'),
  }),
  z.strictObject({ kind: z.enum(['like_for_item', 'like_for_agent']), like: likeCommand }),
]) as unknown as z.ZodType<GrantScope>

export const grantRecord = z
  .strictObject({
    id: grantId,
    agent_id: agentId,
    work_item_id: workItemId.nullable().describe('Null: for all that the agent does.'),
    kind: z.enum(grantKinds),
    allows: z.string().describe('In a line.'),
    scope: grantScope,
    task_id: taskId.describe('The held command to which the yes was said.'),
    surface: z.string().describe('By which door it was said.'),
    until: timestamp.nullable().describe('Null: it ends with its item.'),
    uses: count.describe('Commands that began by it, without the one it was given for.'),
    last_used_at: timestamp.nullable(),
    status: z.enum(grantStatuses),
    because: z.string().nullable().describe('Why it ended.'),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    can: canList,
  })
  .meta({ id: 'Grant' })
export type GrantRecord = z.infer<typeof grantRecord>

export const grantList = z
  .strictObject({ grants: z.array(grantRecord), next_cursor: z.string().nullable() })
  .meta({ id: 'GrantList' })

export const grantRecordOf = (grant: Grant, can: readonly Can[]): GrantRecord => ({
  ...grant,
  kind: grant.scope.kind,
  allows: grantWords(grant),
  can,
})
