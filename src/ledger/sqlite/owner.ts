/**
 * One owner of a home: an exclusive transaction, held for life, on a tiny SQLite file of its own.
 * The lock is the kernel's, so it is free the moment the process is gone, however it went. Who
 * holds it stands beside it in `owner.json`; that file proves nothing and stays when the lock goes.
 */
import { closeSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Timestamp } from '../../domain/time.ts'
import { guarded } from './fault.ts'
import { LedgerFault } from '../port.ts'

/** Who serves a home: the content of `owner.json`. */
export type Owner = {
  pid: number
  /** With the pid it names one process for all time: pids are used again. */
  process_started_at: Timestamp
  owner_since: Timestamp
  boot_epoch: number
}

export type OwnerLock = {
  /** Writes `owner.json`, whole or not at all. */
  announce(owner: Owner): Promise<void>
  /** Gives the home up; twice is nothing. */
  release(): void
}

/** Milliseconds to wait for somebody who only looks whether the lock is held. */
const lookersPatience = 100
/** How often, and how many ms apart, to look for the name of an owner who has just begun. */
const nameLooks = 25
const nameLookEvery = 20

const lockPath = (ledgerFolder: string): string => join(ledgerFolder, 'owner.lock')
const ownerPath = (ledgerFolder: string): string => join(ledgerFolder, 'owner.json')

/** Makes an empty file only its user may read. Never opens one that exists: see `takeOwnership`. */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

/**
 * Takes the lock or rejects with the fault `owned`. The file is never opened through `fs`: closing
 * any descriptor of a file drops every lock this process has on it.
 */
export async function takeOwnership(ledgerFolder: string): Promise<OwnerLock> {
  createPrivate(lockPath(ledgerFolder))
  const lock = new DatabaseSync(lockPath(ledgerFolder), { timeout: lookersPatience })
  try {
    lock.exec('pragma journal_mode = memory')
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw await ownedBy(ledgerFolder)
  }
  return {
    announce: async (owner) => {
      const path = ownerPath(ledgerFolder)
      writeFileSync(`${path}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    },
    release: () => {
      if (lock.isOpen) lock.close()
    },
  }
}

async function ownedBy(ledgerFolder: string): Promise<LedgerFault> {
  const owner = await namedOwner(ledgerFolder)
  const who = owner
    ? `process ${owner.pid} since ${owner.owner_since}`
    : 'a process that has not said its pid'
  return new LedgerFault(
    'owned',
    `This home is already served by ${who}: stop it, or choose another home with --home`,
    'never',
  )
}

/**
 * The process that owns the home now, or null when nobody does. Takes nothing from the owner: it
 * asks for a shared lock and gives it back.
 */
export async function ownerOf(home: string): Promise<Owner | null> {
  const folder = join(home, 'ledger')
  return guarded(`Looking for the owner of ${home}`, async () => {
    if (!isHeld(folder)) return null
    const owner = await namedOwner(folder)
    if (owner !== null) return owner
    if (!isHeld(folder)) return null
    throw await ownedBy(folder)
  })
}

/** Whether some process holds the lock. */
function isHeld(ledgerFolder: string): boolean {
  if (!statSync(lockPath(ledgerFolder), { throwIfNoEntry: false })) return false
  let looker: DatabaseSync | null = null
  try {
    looker = new DatabaseSync(lockPath(ledgerFolder), { readOnly: true })
    looker.prepare('select count(*) from sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    looker?.close()
  }
}

/** Reads `owner.json`, giving one who has just taken the lock the time to write it. */
async function namedOwner(ledgerFolder: string): Promise<Owner | null> {
  for (let look = 1; ; look++) {
    const owner = await readOwner(ledgerFolder)
    if (owner !== null && isAlive(owner.pid)) return owner
    // It may live where its pid cannot be seen from here; then the record is all there is.
    if (look === nameLooks) return owner
    await pause(nameLookEvery)
  }
}

/** What `owner.json` says, about an owner now or one gone; null when there is no such file. */
export async function readOwner(ledgerFolder: string): Promise<Owner | null> {
  try {
    return JSON.parse(await readFile(ownerPath(ledgerFolder), 'utf8')) as Owner
  } catch (error) {
    if (error instanceof SyntaxError) return null
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === 5
