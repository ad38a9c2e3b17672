/** The memory of a home over the ledger and the processes somebody else has open. */
import type { Redactor } from '../../domain/secrets/redact.ts'
import type { Processes } from '../../exec/ports.ts'
import type { LedgerReads } from '../../ledger/port.ts'
import type { Memory } from '../../runtime/memory/memory.ts'
import { clock, files, userHome } from '../machine/machine.ts'

type Over = {
  home: string
  ledger: LedgerReads
  processes: Processes
  redactor?: Redactor
  on_fault?: (error: unknown) => void
}

/** Opens no file before it is searched or told of a commit. Close it before the ledger. */
export async function memoryOf(over: Over): Promise<Memory> {
  const [{ Memory }, { searchIndexIn }] = await Promise.all([
    import('../../runtime/memory/memory.ts'),
    import('../../ledger/search/search-index.ts'),
  ])
  const index = searchIndexIn(over.home)
  return new Memory({ ...over, user_home: userHome, clock, files, index })
}
