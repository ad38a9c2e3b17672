/** What the machine refused of a call, as the model is told it. */
import { errorResult, type Call, type ToolResult } from '../domain/state/call.ts'
import { FileFault } from '../exec/files/file-fault.ts'
import { GitFault } from '../exec/git/git-fault.ts'
import { ProcessFault } from '../exec/commands/process-fault.ts'

/** As a result; anything else is a bug and stops the process. */
export function faultResult(call: Pick<Call, 'tool_name'>, error: unknown): ToolResult {
  if (error instanceof FileFault || error instanceof ProcessFault || error instanceof GitFault) {
    const retryable = error.retry !== 'never'
    return errorResult(call.tool_name, 'fault', error.code, error.message, null, { retryable })
  }
  throw error
}
