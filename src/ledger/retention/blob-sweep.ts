/**
 * Takes blobs that nothing names any more: marks every hash in the kept events and baselines, of
 * which all rows are the fold, and removes what is not among them. A file is stored before the
 * commit that names it, so one that was stored or found again lately stays. A row is stored in that
 * commit and needs no grace: only what was committed since the mark has to be looked at again.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import type { Blobs } from '../blobs/blobs.ts'
import type { RetentionCursor } from './step.ts'
import type { Tally } from './tally.ts'

/** Rows of one query. */
const page = 500

const hashes = /"([0-9a-f]{64})"/g

/** Adds the hashes that a JSON text names. One more than are blobs does no harm. */
export function namedIn(data: string, named: Set<string>): void {
  if (!data.includes('sha256"')) return
  for (const [, sha256] of data.matchAll(hashes)) if (sha256 !== undefined) named.add(sha256)
}

/** A page of blobs that are rows, after a place, with their sizes. */
export function blobRows(database: DatabaseSync, from: number, size: number) {
  const next = database.prepare(
    `select rowid as place, sha256, length(bytes) as bytes from blobs
      where rowid > ? order by rowid limit ?`,
  )
  return next.all(from, size) as { place: number; sha256: string; bytes: number }[]
}

/** What is named, by events up to a global seq at least. */
export type Marked = { named: Set<string>; up_to: number }

/**
 * Removes files that nothing names, and answers what is named. `up_to` is the newest event that was
 * committed before. Only the owner may, who is the only one to store blobs.
 */
export async function sweepFiles(
  { files, database }: { files: Blobs; database: DatabaseSync },
  up_to: number,
  tally: Tally,
): Promise<Marked> {
  const named = new Set<string>()
  await Promise.all([
    mark(database, 'events', 'global_seq', named),
    mark(database, 'baselines', 'born', named),
  ])
  await files.eachOld((sha256, bytes, take) => {
    if (named.has(sha256)) return
    take()
    tally.blob(bytes)
  })
  return { named, up_to }
}

/** In one transaction: deletes rows that nothing names, not even what was committed since. */
export function sweepRows(
  database: DatabaseSync,
  marked: Marked,
  { from, size }: { from: number; size: number },
  tally: Tally,
): RetentionCursor {
  const rest = database.prepare(
    'select global_seq, data from events where global_seq > ? order by global_seq',
  )
  for (const { global_seq, data } of rest.iterate(marked.up_to)) {
    namedIn(String(data), marked.named)
    marked.up_to = Number(global_seq)
  }
  const rows = blobRows(database, from, size)
  const take = database.prepare('delete from blobs where rowid = ?')
  for (const { place, sha256, bytes } of rows) {
    if (marked.named.has(sha256)) continue
    take.run(place)
    tally.blob(bytes)
  }
  const end = rows.at(-1)
  return { next: end === undefined || rows.length < size ? null : end.place }
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
