/**
 * What can go wrong with running commands, apart from the command itself: typed, with what a caller
 * may do about it.
 */
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
