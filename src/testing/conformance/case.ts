/**
 * A store behind the ledger port, as the conformance suite needs it, and a case of the suite.
 */
import type { FaultSeam } from '../../ledger/store/open.ts'
import type { Ledger, LedgerReads } from '../../ledger/port.ts'
import type { RestoreResult } from '../../ledger/backup/restore.ts'

/** A store, as the suite needs it. Homes are empty folders; the suite removes them. */
export interface ConformanceStore {
  open(home: string, fault?: FaultSeam): Promise<Ledger>
  openReader(home: string): Promise<LedgerReads>
  restore(from: string, home: string): Promise<RestoreResult>
  ownerOf(home: string): Promise<{ pid: number } | null>
  /** Does to the store what the start of another owner does. */
  usurp(home: string): Promise<void>
  /** Runs SQL with every guard of the store off, while no one has the home open. */
  damage(home: string, sql: string): Promise<void>
  /** Puts other bytes under the name of a large blob; null takes it away. */
  hurtBlob(home: string, sha256: string, bytes: string | null): Promise<void>
  /** Makes a large blob so old that retention may take it. */
  ageBlob(home: string, sha256: string): Promise<void>
}

export type Case = (store: ConformanceStore, home: string) => Promise<void>

/** By the sentence that names the test. */
export type Cases = Readonly<Record<string, Case>>
