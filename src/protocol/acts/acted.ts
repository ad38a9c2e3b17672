/**
 * What an act that was carried out answers: what it made or changed as it is now, one sentence for
 * a person, and the waits it ended. A 2xx means that it is durable.
 */
import { z } from 'zod'
import { agentRecord } from '../records/agent-record.ts'
import { worktreeRecord } from '../records/delegation-record.ts'
import { grantRecord } from '../records/grant-record.ts'
import { messageRecord } from '../records/message-record.ts'
import { listOf } from '../scalar.ts'
import { revertOutcome } from '../records/revert-record.ts'
import { scheduleRecord } from '../records/schedule-record.ts'
import { taskRecord } from '../records/task-record.ts'
import { deliveryRecord, triggerRecord } from '../records/trigger-record.ts'
import { waitRecord } from '../records/wait-record.ts'
import { workItemRecord } from '../records/work-item-record.ts'

export const doneShape = {
  said: z.string(),
  message_id: z.string().nullable().describe('The message it made, if any.'),
  resolved: listOf(z.string()).describe('Waits it ended.'),
  triggered: listOf(z.string()).describe('Waits it triggered.'),
  warnings: listOf(z.strictObject({ kind: z.string(), message: z.string() })),
}
export type ActReport = {
  said: string
  message_id: string | null
  resolved: readonly string[]
  triggered: readonly string[]
  warnings: readonly { kind: string; message: string }[]
}

/** The part of a reply of the rules that every act tells. */
export const toldOf = ({
  said,
  message_id,
  resolved,
  triggered,
  warnings,
}: ActReport): ActReport => ({
  said,
  message_id,
  resolved,
  triggered,
  warnings: warnings.map(({ kind, message }) => ({ kind, message })),
})

export const actedAlone = z.strictObject(doneShape).meta({ id: 'Acted' })

export const actedOnAgent = z
  .strictObject({ agent: agentRecord, ...doneShape })
  .meta({ id: 'ActedOnAgent' })
export const actedOnItem = z
  .strictObject({ work_item: workItemRecord, ...doneShape })
  .meta({ id: 'ActedOnWorkItem' })
export const actedOnFiles = z
  .strictObject({ work_item: workItemRecord, ...doneShape, files: listOf(revertOutcome) })
  .meta({ id: 'ActedOnFiles' })
export const actedOnWait = z
  .strictObject({ wait: waitRecord, ...doneShape })
  .meta({ id: 'ActedOnWait' })
export const actedOnMessage = z
  .strictObject({ message: messageRecord, ...doneShape })
  .meta({ id: 'ActedOnMessage' })
export const actedOnTask = z
  .strictObject({ task: taskRecord, ...doneShape })
  .meta({ id: 'ActedOnTask' })
export const actedOnGrant = z
  .strictObject({ grant: grantRecord, ...doneShape })
  .meta({ id: 'ActedOnGrant' })
export const actedOnWorktree = z
  .strictObject({ worktree: worktreeRecord, ...doneShape })
  .meta({ id: 'ActedOnWorktree' })
export const actedOnTrigger = z
  .strictObject({ trigger: triggerRecord, ...doneShape })
  .meta({ id: 'ActedOnTrigger' })
export const actedOnDelivery = z
  .strictObject({ delivery: deliveryRecord, ...doneShape })
  .meta({ id: 'ActedOnDelivery' })
export const actedOnSchedule = z
  .strictObject({ schedule: scheduleRecord, ...doneShape })
  .meta({ id: 'ActedOnSchedule' })
