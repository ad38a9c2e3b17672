/**
 * A backup: the database as of one moment, the blobs it names, and what of the home lies outside
 * the ledger and is nobody's key: the agents' folders, whole outputs, the configuration. A folder
 * with the hash of every file in `manifest.json`, made under another name and renamed when it is
 * whole and on the disk.
 */
import { lstat, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Timestamp } from '../../domain/time.ts'
import { copyDatabase } from '../sqlite/backup-database.ts'
import { syncFolder } from '../blobs/blobs.ts'
import { copyFile, measureFile } from './file-copy.ts'
import { makeHomeFolder } from '../home-folder.ts'
import { LedgerFault, type BackupResult, type BackupOptions, type Manifest } from '../port.ts'
import { openDatabase, schemaOf, type OpenMode } from '../sqlite/sqlite.ts'

/** What a backup takes from the home beside the ledger. */
const kept = ['agents', 'outputs', 'config.json']
/** What opens a door to whoever has it. */
const secrets = ['control-token', 'trigger-secret', 'secrets']

/** Why something of a home stays behind; other things stay behind as unknown. */
const leftBehind: Readonly<Record<string, string>> = {
  ledger: 'copied by the database itself',
  tasks: 'processes are not moved: what ran becomes unknown',
  'door.json': 'names a process that runs now',
  'control.sock': 'belongs to a process that runs now',
  ...Object.fromEntries(secrets.map((name) => [name, 'a secret: ask for it with secrets'])),
}

export type BackupSource = { home: string; database: DatabaseSync; mode: OpenMode }

export const manifestName = 'manifest.json'
export const databaseName = 'ledger/ledger.sqlite'

export async function backupHome(
  source: BackupSource,
  { to, now, with_secrets }: BackupOptions,
): Promise<BackupResult> {
  const folder = resolve(to)
  makeHomeFolder(folder)
  const path = join(folder, `holon-backup-${stamp(now)}`)
  if (await isThere(path)) throw new LedgerFault('io', `${path} is there already`, 'later')
  const partial = join(folder, `.holon-backup-${stamp(now)}.partial`)
  await rm(partial, { recursive: true, force: true })
  await mkdir(join(partial, 'ledger'), { recursive: true, mode: 0o700 })
  try {
    const manifest = await fill(source, partial, { now, with_secrets })
    await rename(partial, path)
    await syncFolder(folder)
    return { path, manifest }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

/** 20260102T030405.678Z: a name on every file system. */
const stamp = (now: Timestamp): string => now.replaceAll(/[-:]/g, '')

async function fill(
  { home, database, mode }: BackupSource,
  into: string,
  { now, with_secrets }: Omit<BackupOptions, 'to'>,
): Promise<Manifest> {
  const load = new Load(home, into)
  // Twice: what is stored while the database is copied is in the copy, and must be here too. What
  // is cleared out meanwhile was not new, so the first time has it.
  await load.blobs()
  await copyDatabase(database, mode, join(into, databaseName))
  load.files.push({ path: databaseName, ...(await measureFile(join(into, databaseName))) })
  await load.blobs()
  const wanted = [...kept, ...(with_secrets ? secrets : [])]
  for (const name of wanted) await load.take(name)
  const manifest: Manifest = {
    format: 1,
    ...contentsOf(join(into, databaseName)),
    home,
    made_at: now,
    files: load.files.sort((a, b) => (a.path < b.path ? -1 : 1)),
    links: load.links,
    not_included: [...load.skipped, ...(await leftOf(home, wanted))],
  }
  await writeFile(join(into, manifestName), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
    flush: true,
  })
  await syncAll(into)
  return manifest
}

/** What the copied database says of itself. */
function contentsOf(path: string) {
  const copy = openDatabase(path, 'read')
  try {
    const meta = copy.prepare('select home_id from meta').get()
    const last = copy.prepare('select max(global_seq) as last from events').get()
    const heads = copy.prepare(`
      select agent_id, seq, hash from (
        select agent_id, seq, hash, max(seq) over (partition by agent_id) as newest from events
      ) where seq = newest order by agent_id`)
    return {
      schema: schemaOf(copy),
      home_id: String(meta?.['home_id']),
      last_global_seq: Number(last?.['last'] ?? 0),
      heads: heads.all().map((row) => ({
        agent_id: String(row['agent_id']),
        seq: Number(row['seq']),
        hash: String(row['hash']),
      })),
    }
  } finally {
    copy.close()
  }
}

/** What was copied so far. */
class Load {
  readonly files: Manifest['files'] = []
  readonly links: Manifest['links'] = []
  readonly skipped: Manifest['not_included'] = []
  readonly #home: string
  readonly #into: string

  constructor(home: string, into: string) {
    this.#home = home
    this.#into = into
  }

  /** Blobs that are not here yet. */
  async blobs(): Promise<void> {
    const here = new Set(this.files.map(({ path }) => path))
    for (const folder of await namesIn(join(this.#home, 'ledger', 'blobs'))) {
      if (!/^[0-9a-f]{2}$/.test(folder)) continue
      for (const sha256 of await namesIn(join(this.#home, 'ledger', 'blobs', folder))) {
        const path = `ledger/blobs/${folder}/${sha256}`
        if (!here.has(path)) await this.#file(path)
      }
    }
  }

  /** A file, a link, or a folder with all there is in it. */
  async take(path: string): Promise<void> {
    const found = await statsOf(join(this.#home, path))
    if (found === null) return
    if (found.isFile()) return this.#file(path)
    if (found.isSymbolicLink()) return this.#link(path)
    if (!found.isDirectory()) {
      this.skipped.push({ path, reason: 'not a file, folder or link' })
      return
    }
    await mkdir(join(this.#into, path), { recursive: true, mode: 0o700 })
    for (const name of await namesIn(join(this.#home, path))) await this.take(`${path}/${name}`)
  }

  async #file(path: string): Promise<void> {
    try {
      const copied = await copyFile(join(this.#home, path), join(this.#into, path))
      this.files.push({ path, ...copied })
    } catch (error) {
      // It went between the look and the copy: then it is not part of this moment.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }

  async #link(path: string): Promise<void> {
    const target = await readlink(join(this.#home, path))
    this.links.push({ path, target })
    await symlink(target, join(this.#into, path))
  }
}

async function leftOf(home: string, wanted: readonly string[]): Promise<Manifest['not_included']> {
  const left = (await namesIn(home)).filter((name) => !wanted.includes(name) && name !== 'ledger')
  return left.map((path) => ({ path, reason: leftBehind[path] ?? 'not part of a backup' }))
}

/** In order, so that two backups of one home are made alike; none when there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

async function statsOf(path: string) {
  try {
    return await lstat(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

const isThere = async (path: string): Promise<boolean> => (await statsOf(path)) !== null

/** Makes the names in a folder, and in all folders in it, durable. */
export async function syncAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncAll(join(folder, entry.name))
  }
  await syncFolder(folder)
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : null
