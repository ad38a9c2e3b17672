/**
 * Copies of the database, made by SQLite and never by reading its files: opening them beside a
 * connection of this process would drop its locks.
 */
import { chmodSync, rmSync } from 'node:fs'
import { backup, type DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { createPrivate } from './owner.ts'
import { openDatabase, type OpenMode } from './sqlite.ts'

/** Pages copied in one step, between which commits go on: well under a millisecond. */
const pagesAtATime = 256

/** Tries of a copy whose first step met a commit, until something else must be wrong. */
const firstSteps = 1_000

/** The database as of now, compact, into one new file. Nothing else happens in this process. */
export function copyInto(database: DatabaseSync, path: string): void {
  rmSync(path, { force: true })
  createPrivate(path)
  database.prepare('vacuum into ?').run(path)
}

/**
 * The owner copies step by step through its own connection: what it commits meanwhile is in the
 * copy. A reader copies one snapshot, because each commit of the owner would make it begin again.
 * The copy is one file, without a log beside it.
 */
export async function copyDatabase(
  database: DatabaseSync,
  mode: OpenMode,
  path: string,
): Promise<void> {
  if (mode === 'read') copyInto(database, path)
  else await copyByStep(database, path)
  chmodSync(path, 0o600)
  const copy = openDatabase(path, 'write')
  try {
    copy.exec('pragma journal_mode = delete')
  } finally {
    copy.close()
  }
}

/**
 * A step that meets a commit of this connection waits for the next one, unless it is the first:
 * nothing is known to be left to copy then, and Node gives up with an error that is none.
 */
async function copyByStep(database: DatabaseSync, path: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await backup(database, path, { rate: pagesAtATime })
      return
    } catch (error) {
      if (tries === firstSteps || !hasMetCommit(error)) throw error
    }
    await breathe()
  }
}

const hasMetCommit = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === 0
