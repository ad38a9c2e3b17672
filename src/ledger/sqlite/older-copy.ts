/**
 * The copy of a ledger as it was before an upgrade, `ledger-of-schema-<n>.sqlite` in the home: what
 * the earlier program can go on from. A copy that is there is never replaced: if it holds another
 * state than the ledger has now, the new copy gets the next free number behind its name.
 */
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { copyInto } from './backup-database.ts'
import { openDatabase, schemaOf } from './sqlite.ts'

export type OlderCopy = {
  path: string
  /** Writes it, unless a start that was killed wrote it already. */
  keep(): void
}

export function copyFor(database: DatabaseSync, home: string): OlderCopy {
  const state = stateOf(database)
  for (let n = 1; ; n += 1) {
    const number = n === 1 ? '' : `-${n}`
    const path = join(home, `ledger-of-schema-${schemaOf(database)}${number}.sqlite`)
    if (!existsSync(path)) return { path, keep: () => copyTo(database, path) }
    if (stateIn(path) === state) return { path, keep: () => undefined }
  }
}

function copyTo(database: DatabaseSync, path: string): void {
  copyInto(database, `${path}.new`)
  renameSync(`${path}.new`, path)
}

/** Two ledgers with the same schema and the same newest event hold the same state. */
function stateOf(database: DatabaseSync): string {
  const newest = database.prepare('select id from events order by global_seq desc limit 1').get()
  return `${schemaOf(database)} ${String(newest?.['id'])}`
}

/** Null for a file that is no ledger: it is not ours, and stays. */
function stateIn(path: string): string | null {
  let copy: DatabaseSync | null = null
  try {
    copy = openDatabase(path, 'read')
    return stateOf(copy)
  } catch {
    return null
  } finally {
    copy?.close()
  }
}
