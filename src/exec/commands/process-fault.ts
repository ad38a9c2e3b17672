/**
 * What can go wrong with running commands, apart from the command itself: typed, with what a caller
 * may do about it.
 */
import { fileFault } from '../files/file-fault.ts'

export type ProcessFaultCode =
  | 'invalid_command'
  | 'not_prepared'
  | 'not_started'
  | 'not_running'
  | 'input_refused'
  | 'input_partly_taken'
  | 'input_ended'
  | 'input_too_long'
  | 'no_shell'
  | 'unconfined'
  | 'spawner_failed'
  | 'closed'
  | 'foreign_format'
  | 'scarce'
  | 'io'

export class ProcessFault extends Error {
  readonly code: ProcessFaultCode
  readonly retry: 'now' | 'later' | 'never'

  constructor(
    code: ProcessFaultCode,
    message: string,
    retry: 'now' | 'later' | 'never',
    cause?: unknown,
  ) {
    super(message, { cause })
    this.name = 'ProcessFault'
    this.code = code
    this.retry = retry
  }
}

/** What the world did while `said`: `scarce` where the system has too little of something. */
export function processFault(error: unknown, said: string): ProcessFault {
  if (error instanceof ProcessFault) return error
  const { code, message } = fileFault(error, said)
  if (code === 'scarce') return new ProcessFault('scarce', message, 'later', error)
  return new ProcessFault('io', said, 'later', error)
}
