/**
 * Large payloads by content, as files: `blobs/ab/<sha256>` beside the database. A blob is there
 * whole or not at all, and stays while anything names it; storing it again changes nothing but its
 * time. Smaller ones are rows: blob-rows.ts.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import { hour } from '../../domain/time.ts'
import { LedgerFault, type NewBlob } from '../port.ts'

export type Blobs = {
  /** Durable when it resolves: the bytes, the name and the folder are synced. */
  put(bytes: Uint8Array): Promise<string>
  /** Null: there is none. Bytes that do not match their name are a `corrupt` fault. */
  get(sha256: string): Promise<Uint8Array | null>
  path(sha256: string): string
  /** Whether the bytes are there and match their name. */
  check(sha256: string): Promise<'whole' | 'missing' | 'damaged'>
  /** Calls for every blob that is old enough to go, with its size; `take` removes it. */
  eachOld(found: (sha256: string, bytes: number, take: () => void) => void): Promise<void>
}

/** Milliseconds a blob is kept after it was stored, named or not. */
export const blobGrace = hour

/**
 * Bytes up to which a blob is a row of the commit that names it. A file costs two more syncs, 1 to
 * 6 ms; a row of this size holds the event loop for 0.3 ms more, one of 512 KiB for 1.5 ms, and
 * each makes the database larger that every start looks through and every backup copies.
 */
export const inlineBlobBytes = 64 * 1024

export const isInline = ({ bytes }: NewBlob): boolean => bytes.length <= inlineBlobBytes

export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

const isName = (sha256: string): boolean => /^[0-9a-f]{64}$/.test(sha256)

export function blobsIn(ledgerFolder: string): Blobs {
  const root = join(ledgerFolder, 'blobs')
  const unfinished = join(root, 'unfinished')
  let count = 0
  /** Folders that exist and whose name this process has synced: nobody removes one. */
  const durable = new Set<string>()

  function path(sha256: string): string {
    if (!isName(sha256)) throw new Error(`not a sha256: ${sha256}`)
    return join(root, sha256.slice(0, 2), sha256)
  }

  async function check(sha256: string) {
    // A damaged event may name anything.
    if (!isName(sha256)) return 'missing'
    const bytes = await read(sha256)
    if (bytes === null) return 'missing'
    return sha256Of(bytes) === sha256 ? 'whole' : 'damaged'
  }

  async function read(sha256: string): Promise<Uint8Array | null> {
    try {
      return await readFile(path(sha256))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    }
  }

  async function get(sha256: string): Promise<Uint8Array | null> {
    const bytes = await read(sha256)
    if (bytes !== null) mustMatch(sha256, bytes)
    return bytes
  }

  async function put(bytes: Uint8Array): Promise<string> {
    const sha256 = sha256Of(bytes)
    const folder = join(root, sha256.slice(0, 2))
    // Even when it exists: who wrote it may have been killed before the folder was synced. And it
    // counts as new again: what is stored for a commit to come must not be cleared out before it.
    if (existsSync(path(sha256))) {
      const now = new Date()
      utimesSync(path(sha256), now, now)
    } else {
      if (!durable.has(folder)) {
        mkdirSync(unfinished, { recursive: true, mode: 0o700 })
        mkdirSync(folder, { recursive: true, mode: 0o700 })
      }
      const temporary = join(unfinished, `${sha256}.${process.pid}.${++count}`)
      await writeSynced(temporary, bytes)
      renameSync(temporary, path(sha256))
    }
    await Promise.all([syncFolder(folder), ...(durable.has(folder) ? [] : [syncFolder(root)])])
    durable.add(folder)
    return sha256
  }

  async function eachOld(found: Parameters<Blobs['eachOld']>[0]): Promise<void> {
    // The clock of the machine, because the times of files are its own too.
    const grown = Date.now() - blobGrace
    for (const name of await readdir(root)) {
      if (!/^[0-9a-f]{2}$/.test(name)) continue
      for (const sha256 of readdirSync(join(root, name))) {
        const at = join(root, name, sha256)
        // Between this look and the removal nothing may come, so neither waits.
        const file = statSync(at, { throwIfNoEntry: false })
        if (file && file.mtimeMs < grown)
          found(sha256, file.size, () => rmSync(at, { force: true }))
      }
      await breathe()
    }
  }

  return { put, get, path, check, eachOld }
}

/** Bytes that do not match their name are a `corrupt` fault. */
export function mustMatch(sha256: string, bytes: Uint8Array): void {
  if (sha256Of(bytes) === sha256) return
  throw new LedgerFault(
    'corrupt',
    `blob ${sha256} holds other bytes than its name says: bring it back from a backup`,
    'never',
  )
}

/** Removes what a kill left half written. Only the owner may: nobody else writes blobs. */
export async function sweepBlobs(ledgerFolder: string): Promise<void> {
  const unfinished = join(ledgerFolder, 'blobs', 'unfinished')
  if (!existsSync(unfinished)) return
  for (const name of await readdir(unfinished)) await rm(join(unfinished, name), { force: true })
}

/** The one wait for the disk. All else is quicker done than handed to the thread pool. */
const synced = (file: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fsync(file, (error) => (error === null ? resolve() : reject(error)))
  })

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, bytes)
    await synced(file)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = openSync(path, 'r')
  try {
    await synced(folder)
  } finally {
    closeSync(folder)
  }
}
