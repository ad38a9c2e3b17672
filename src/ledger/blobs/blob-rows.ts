/**
 * Blobs as rows: what is small enough lands in the transaction that names it, so a wake waits for
 * one sync and not for three. Reads look here first and at the files (blobs.ts) then; an earlier
 * program wrote files only, and they stay.
 */
import { existsSync } from 'node:fs'
import type { CompiledQuery, Kysely } from 'kysely'
import { mustMatch, sha256Of, type Blobs } from './blobs.ts'
import type { NewBlob } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

/** Inserts a blob; one that is there stays as it is. Its parameters: `blobCells`. */
export const blobStatement = (db: Kysely<Database>): CompiledQuery =>
  db
    .insertInto('blobs')
    .values({ sha256: '', bytes: new Uint8Array() })
    .onConflict((conflict) => conflict.doNothing())
    .compile()

export const blobCells = ({ sha256, bytes }: NewBlob): [string, Uint8Array] => [sha256, bytes]

async function readRow(db: Kysely<Database>, sha256: string): Promise<Uint8Array | null> {
  const row = await db
    .selectFrom('blobs')
    .select('bytes')
    .where('sha256', '=', sha256)
    .executeTakeFirst()
  return row?.bytes ?? null
}

/** Null: there is none, as a row or as a file. Bytes that do not match are a `corrupt` fault. */
export async function readBlob(
  db: Kysely<Database>,
  files: Pick<Blobs, 'get'>,
  sha256: string,
): Promise<Uint8Array | null> {
  const bytes = await readRow(db, sha256)
  if (bytes === null) return files.get(sha256)
  mustMatch(sha256, bytes)
  return bytes
}

/** Whether the bytes are there, as a row or as a file, and match their name. */
export async function checkBlob(
  db: Kysely<Database>,
  file: (sha256: string) => Promise<'whole' | 'missing' | 'damaged'>,
  sha256: string,
): Promise<'whole' | 'missing' | 'damaged'> {
  const bytes = await readRow(db, sha256)
  if (bytes === null) return file(sha256)
  return sha256Of(bytes) === sha256 ? 'whole' : 'damaged'
}

/** Path of a file with the bytes; a row is written out, and is a row all the same. */
export async function fileOfBlob(
  db: Kysely<Database>,
  files: Blobs,
  sha256: string,
): Promise<string | null> {
  const path = files.path(sha256)
  if (existsSync(path)) return path
  const bytes = await readBlob(db, files, sha256)
  if (bytes === null) return null
  await files.put(bytes)
  return path
}
