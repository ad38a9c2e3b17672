/**
 * A shortage: a write failed for want of room, on the disk or of what the system hands out. It is a
 * fault that waiting may end; every other one is not (docs/spec/recovery.md#disk-full).
 */
import { FileFault } from '../exec/files/file-fault.ts'
import { ProcessFault } from '../exec/commands/process-fault.ts'
import { LedgerFault } from '../ledger/port.ts'

/** A fault that waiting may end. */
export type Shortfall = LedgerFault | FileFault | ProcessFault

/** Whether waiting can help: the disk is full, or the system is short of something. */
export function isShortage(error: unknown): error is Shortfall {
  if (error instanceof LedgerFault) return error.retry === 'later'
  if (error instanceof ProcessFault) return error.code === 'scarce'
  return error instanceof FileFault && (error.code === 'disk_full' || error.code === 'scarce')
}
