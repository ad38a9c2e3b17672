/**
 * What every store behind the ledger port must do, whatever it is made of. A store passes by
 * running this suite; what only one kind of store can get wrong is tested beside that store.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { backupCases } from './conformance-backup.ts'
import { blobCases } from './conformance-blobs.ts'
import { blobRetentionCases } from './conformance-blob-retention.ts'
import type { Store } from './conformance-case.ts'
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
