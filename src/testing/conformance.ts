/**
 * What every store behind the ledger port must do, whatever it is made of. A store passes by
 * running this suite; what only one kind of store can get wrong is tested beside that store.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Ledger, LedgerReads } from '../ledger/port.ts'
import type { FaultSeam } from '../ledger/open.ts'
import type { Restored } from '../ledger/restore.ts'
import { backupCases } from './conformance-backup.ts'
import { blobCases } from './conformance-blobs.ts'
import { blobRetentionCases } from './conformance-blob-retention.ts'
import { commitCases } from './conformance-commit.ts'
import { damageCases } from './conformance-damage.ts'
import { ownerCases } from './conformance-owner.ts'
import { pageCases } from './conformance-pages.ts'
import { propertyCases } from './conformance-property.ts'
import { readCases } from './conformance-reads.ts'
import { retentionCases } from './conformance-retention.ts'
import { shortIdCases } from './conformance-short-ids.ts'
import { verifyCases } from './conformance-verify.ts'
import { wayCases } from './conformance-way.ts'

/** A store, as the suite needs it. Homes are empty folders; the suite removes them. */
export interface Store {
  open(home: string, fault?: FaultSeam): Promise<Ledger>
  openReader(home: string): Promise<LedgerReads>
  restore(from: string, home: string): Promise<Restored>
  ownerOf(home: string): Promise<{ pid: number } | null>
  /** Does to the store what the start of another owner does. */
  usurp(home: string): Promise<void>
  /** Runs SQL with every guard of the store off, while no one has the home open. */
  damage(home: string, sql: string): Promise<void>
}

export type Case = (store: Store, home: string) => Promise<void>
/** By the sentence that names the test. */
export type Cases = Readonly<Record<string, Case>>

/** Declares the suite as tests of `node:test`, each in a home of its own. */
export function conformance(name: string, store: Store): void {
  const made: string[] = []
  after(() => Promise.all(made.map((home) => rm(home, { recursive: true, force: true }))))
  const all = {
    ...commitCases,
    ...blobCases,
    ...readCases,
    ...pageCases,
    ...ownerCases,
    ...verifyCases,
    ...propertyCases,
    ...retentionCases,
    ...blobRetentionCases,
    ...damageCases,
    ...backupCases,
    ...wayCases,
    ...shortIdCases,
  }
  for (const [sentence, run] of Object.entries(all)) {
    void test(`${name}: ${sentence}`, async () => {
      const home = await mkdtemp(join(tmpdir(), 'holon-ledger-'))
      made.push(home)
      await run(store, home)
    })
  }
}
