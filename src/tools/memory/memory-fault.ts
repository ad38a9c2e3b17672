/** What the store does wrong under a memory tool, as a result; anything else is a bug. */
import type { ToolResult } from '../../domain/state/call.ts'
import { failed } from '../tool/tool.ts'

export function storeFault(tool_name: string, error: unknown): ToolResult {
  if (!(error instanceof Error) || error.name !== 'LedgerFault') throw error
  const code = 'code' in error ? String(error.code) : 'io'
  const retryable = 'retry' in error && error.retry !== 'never'
  const hint = 'Read the files you need with ReadFile, and go on without it.'
  return failed(tool_name, 'fault', code, error.message, hint, { retryable })
}
