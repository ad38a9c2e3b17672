/**
 * What every store behind the ledger port must do, whatever it is made of. A store passes by
 * running this suite; what only one kind of store can get wrong is tested beside that store.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { backupCases } from './backup.ts'
import { blobCases } from './blobs.ts'
import { blobRetentionCases } from './blob-retention.ts'
import type { ConformanceStore } from './case.ts'
import { commitCases } from './commit.ts'
import { damageCases } from './damage.ts'
import { ownerCases } from './owner.ts'
import { pageCases } from './pages.ts'
import { propertyCases } from './property.ts'
import { readCases } from './reads.ts'
import { retentionCases } from './retention.ts'
import { shortIdCases } from './short-ids.ts'
import { togetherCases } from './together.ts'
import { verifyCases } from './verify.ts'
import { wayCases } from './way.ts'

/** Declares the suite as tests of `node:test`, each in a home of its own. */
export function conformance(name: string, store: ConformanceStore): void {
  const made: string[] = []
  after(() => Promise.all(made.map((home) => rm(home, { recursive: true, force: true }))))
  const all = {
    ...commitCases,
    ...togetherCases,
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
