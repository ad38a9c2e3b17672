/** The conformance suite on the ledger in memory. */
import { LedgerFault } from '../../ledger/port.ts'
import { restoreHome } from '../../ledger/backup/restore.ts'
import { conformance } from '../conformance/suite.ts'
import { MemoryLedger } from './memory-ledger.ts'
import { freshMint } from '../events.ts'

const clock_now = () => Date.parse('2026-01-02T03:04:05.000Z')
const homes = new Map<string, MemoryLedger>()

function at(home: string): MemoryLedger {
  const found = homes.get(home)
  if (found === undefined) throw new LedgerFault('no_home', `nothing is at ${home}`, 'never')
  return found
}

conformance('memory', {
  open: async (home, fault) => {
    if (!homes.has(home)) homes.set(home, new MemoryLedger(home))
    return at(home).open({ clock_now, mint: freshMint, ...(fault ? { fault } : {}) })
  },
  openReader: async (home) => at(home).read(),
  restore: async (from, home) => {
    const restored = await restoreHome(from, home)
    homes.set(home, MemoryLedger.read(home))
    return restored
  },
  ownerOf: async (home) => (homes.get(home)?.isOwned === true ? process : null),
  usurp: async (home) => void at(home).beginEpoch(),
  damage: async (home, sql) => {
    const { database } = at(home)
    const guards = database.prepare(`select name from sqlite_schema where type = 'trigger'`).all()
    for (const { name } of guards) database.exec(`drop trigger ${String(name)}`)
    database.exec(sql)
  },
  hurtBlob: async (home, sha256, text) => {
    const { stored } = at(home).files
    if (text === null) stored.delete(sha256)
    else stored.set(sha256, { bytes: new TextEncoder().encode(text), at: 0 })
  },
  ageBlob: async (home, sha256) => {
    const { stored } = at(home).files
    stored.set(sha256, { bytes: stored.get(sha256)?.bytes ?? new Uint8Array(), at: 0 })
  },
})
