/** Homes of schema 4 on disk, opened by the program of today, at a time behind all of theirs. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { idOfDigits } from '../../domain/ids.ts'
import { systemIds } from '../../exec/clock.ts'
import type { Ids } from '../../exec/ports.ts'
import { openLedger } from '../../ledger/store/open.ts'
import type { Scope } from './host-fixture.ts'
import { homesOfSchema, writeEarlierHome, type EarlierHome } from './earlier-homes.ts'
import { freshMint } from '../events.ts'

/** A while after everything that happened in the homes. */
export const later = Date.parse('2026-12-24T09:30:00Z')

export const earlierHome = (name: string): EarlierHome => {
  const found = homesOfSchema(4).find((one) => one.name === name)
  if (found === undefined) throw new Error(`there is no home ${name}`)
  return found
}

/** The folder of the home; what lies in the folders of those who made it is not read. */
export async function homeApart(t: Scope, earlier: EarlierHome): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-apart-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'home')
  const apart = JSON.stringify(earlier).replaceAll('/tmp/', '/nil/')
  writeEarlierHome(JSON.parse(apart) as EarlierHome, home)
  const ledger = await openLedger(home, { clock_now: () => later, mint: freshMint })
  await ledger.close()
  return home
}

/** What a home does when it is opened stands among its events: its ids are the same each time. */
export function countedIds(): Ids {
  let n = 0
  const mint = ((prefix: string) => idOfDigits(prefix, `${++n}`.padStart(30, '0'))) as Ids['mint']
  return { ...systemIds(), mint }
}
