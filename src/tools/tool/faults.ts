/**
 * Faults of the machine, recognised by what they are called: the code that throws them comes to the
 * tools through ports, so only its types are known here.
 */
import type { FileFault } from '../../exec/files/file-fault.ts'
import type { ProcessFault } from '../../exec/commands/process-fault.ts'

export const isFileFault = (error: unknown): error is FileFault =>
  error instanceof Error && error.name === 'FileFault'

export const isProcessFault = (error: unknown): error is ProcessFault =>
  error instanceof Error && error.name === 'ProcessFault'
