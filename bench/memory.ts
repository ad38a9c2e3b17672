/** The memory of a home as its owner has it, for benchmarks. */
import { systemFiles } from '../src/exec/files.ts'
import type { Clock, Processes } from '../src/exec/ports.ts'
import type { LedgerReads } from '../src/ledger/port.ts'
import { searchIndexIn } from '../src/ledger/search-index.ts'
import { Memory } from '../src/runtime/memory.ts'

type Over = { home: string; ledger: LedgerReads; clock: Clock; processes: Processes }

export const memoryIn = (over: Over): Memory =>
  new Memory({
    ...over,
    user_home: over.home,
    files: systemFiles(),
    index: searchIndexIn(over.home),
  })
