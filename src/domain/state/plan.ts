/**
 * The plan file as every read of a work item shows it: computed at the read, storing nothing.
 * The body itself is never in a record, a prompt or a tool result
 * (docs/spec/work-item.md#plan-file).
 */
import type { Timestamp } from '../time.ts'

export type PlanProblem = {
  code: 'missing' | 'not_a_file' | 'too_large' | 'emptied' | 'nul_filled' | 'unreadable'
  message: string
  /** Path of the last good snapshot, when one was kept. */
  last_good: string | null
}

export type PlanDescriptor = {
  path: string
  sha256: string | null
  bytes: number
  updated_at: Timestamp | null
  /** At most 2,000 characters. */
  preview: string
  preview_complete: boolean
  problem?: PlanProblem
}
