/** The search index of a home after a run, against one that is made anew from the same home. */
import { openReader } from '../../src/ledger/store/open.ts'
import { searchIndexIn } from '../../src/ledger/search/search-index.ts'
import type { HostFixture } from '../../src/testing/host/host-fixture.ts'
import { indexedIn, memoryOver } from '../../src/testing/world/memory-home.ts'

/** What differs, and how many words were compared at least; a run without words proves nothing. */
export async function indexAsMadeAnew(box: HostFixture): Promise<unknown> {
  await box.ports.memory.settle()
  const kept = indexedIn(box.home)
  await box.ports.memory.close()
  const index = searchIndexIn(box.home)
  await index.reset()
  await index.close()
  const reader = await openReader(box.home)
  const memory = memoryOver(box.home, reader)
  await memory.settle()
  await memory.close()
  await reader.close()
  const anew = new Set(indexedIn(box.home))
  const missing = [...anew].filter((line) => !kept.includes(line))
  return { missing, stray: kept.filter((line) => !anew.has(line)), enough: kept.length > 50 }
}
