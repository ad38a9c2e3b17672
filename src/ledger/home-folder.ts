/**
 * The folders of a home: made one by one, and checked for writing before anything is opened in
 * them. Both are for the message: a database on a file system that is read-only only says that it
 * cannot be opened, and a recursive `mkdir` under /proc never comes back.
 */
import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { LedgerFault } from './port.ts'

const elsewhere = 'choose another home with --home or HOLON_HOME'

/** Makes `path`, and what is missing above it, for this user alone. Rejects as `guarded` reads. */
export function makeHomeFolder(path: string): void {
  const missing: string[] = []
  for (let at = path; !isThere(at); at = dirname(at)) missing.push(at)
  for (const folder of missing.toReversed()) makeOne(folder)
  checkWritable(path)
}

/** Throws what the system says when this user cannot write in the folder. */
export function checkWritable(path: string): void {
  accessSync(path, constants.W_OK)
}

function isThere(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.isDirectory()) return found !== undefined
  } catch (error) {
    if (codeOf(error) !== 'ENOTDIR') throw error
    return false
  }
  throw new LedgerFault('io', `${path} is a file, not a folder: ${elsewhere}`, 'never')
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Somebody else was quicker.
    if (codeOf(error) === 'EEXIST') return
    // The folder above is there: this file system takes no folders.
    if (codeOf(error) !== 'ENOENT') throw error
    const message = `No folder can be made in ${dirname(path)}: ${elsewhere}`
    throw new LedgerFault('denied', message, 'never', { cause: error })
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : null
