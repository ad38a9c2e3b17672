/** What reads, retention and verification of a ledger stand on. Types only. */
import type { DatabaseSync } from 'node:sqlite'
import type { Kysely } from 'kysely'
import type { Blobs } from '../blobs/blobs.ts'
import type { Database } from '../sqlite/schema.ts'

/** Where the ledger of one home is kept, as one connection has it. */
export type HomeStore = {
  home: string
  db: Kysely<Database>
  database: DatabaseSync
  /** Blobs that are no rows. */
  files: Blobs
  /** A connection of its own: a long look must not hold up commits. The caller closes it. */
  beside: () => Promise<DatabaseSync>
  /** Closes the connection. */
  letGo: () => Promise<void>
}
