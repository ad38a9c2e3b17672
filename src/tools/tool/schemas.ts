/** Pieces of input schemas that several tools share. Roots stay plain objects (stack, trap 10). */
import { z } from 'zod'
import type { WorkItemId } from '../../domain/ids.ts'
import { planStatuses, todoStates } from '../../domain/state/work-item.ts'

export const workItemId = () => z.string()

export const planStatus = () => z.enum(planStatuses)

export const todoList = () =>
  z.array(z.strictObject({ text: z.string().min(1), state: z.enum(todoStates) }))

export const asWorkItemId = (text: string): WorkItemId => text as WorkItemId
