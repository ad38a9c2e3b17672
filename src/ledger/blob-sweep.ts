/**
 * Takes blobs that nothing names any more: marks every hash in the kept events and baselines, of
 * which all rows are the fold, and removes files that are not among them and not new. A blob is
 * stored before the commit that names it, so one that was stored or found again lately stays.
 */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { hour } from '../domain/time.ts'
import type { Tally } from './tally.ts'

/** Milliseconds a blob is kept after it was stored, named or not. */
export const blobGrace = hour

/** Rows of one query. */
const page = 500

const hashes = /"([0-9a-f]{64})"/g

/** Adds the hashes that a JSON text names. One more than are blobs does no harm. */
export function namedIn(data: string, named: Set<string>): void {
  if (!data.includes('sha256"')) return
  for (const [, sha256] of data.matchAll(hashes)) if (sha256 !== undefined) named.add(sha256)
}

/** Calls for every blob that is old enough to go, with its size. */
export async function eachBlob(
  home: string,
  found: (sha256: string, bytes: number, path: string) => void,
): Promise<void> {
  const root = join(home, 'ledger', 'blobs')
  // The clock of the machine, because the times of files are its own too.
  const grown = Date.now() - blobGrace
  for (const name of await readdir(root)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue
    for (const sha256 of readdirSync(join(root, name))) {
      const path = join(root, name, sha256)
      // Between this look and the removal nothing may come, so neither waits.
      const file = statSync(path, { throwIfNoEntry: false })
      if (file && file.mtimeMs < grown) found(sha256, file.size, path)
    }
    await breathe()
  }
}

/** Removes what nothing names. Only the owner may, who is the only one to store blobs. */
export async function sweepUnnamed(
  { home, database }: { home: string; database: DatabaseSync },
  tally: Tally,
): Promise<void> {
  const named = new Set<string>()
  await mark(database, 'events', 'global_seq', named)
  await mark(database, 'baselines', 'born', named)
  await eachBlob(home, (sha256, bytes, path) => {
    if (named.has(sha256)) return
    rmSync(path, { force: true })
    tally.blob(bytes)
  })
}

async function mark(
  database: DatabaseSync,
  table: 'events' | 'baselines',
  place: 'global_seq' | 'born',
  named: Set<string>,
): Promise<void> {
  const next = database.prepare(
    `select ${place} as place, data from ${table} where ${place} > ? order by ${place} limit ?`,
  )
  for (let from = 0; ; await breathe()) {
    const rows = next.all(from, page) as { place: number; data: string }[]
    for (const { place: at, data } of rows) {
      namedIn(data, named)
      from = at
    }
    if (rows.length < page) return
  }
}
