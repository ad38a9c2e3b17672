/**
 * Restoring a home from a backup: into a folder that is empty or not there, and only when every
 * file is what the manifest says. It is made beside the home and renamed, so a kill leaves no half
 * home. The epoch rises, so whoever still writes to a copy of the old home is not this home's
 * owner; nothing else is new, and what was in flight is found by ordinary recovery.
 */
import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path'
import { syncFolder } from '../blobs/blobs.ts'
import { copyFile } from './file-copy.ts'
import { databaseName, manifestName, syncAll } from './backup.ts'
import { guarded } from '../sqlite/fault.ts'
import { makeHomeFolder } from '../home-folder.ts'
import { LedgerFault, type Manifest } from '../port.ts'
import { schemaVersion } from '../sqlite/schema.ts'
import { openDatabase, schemaOf } from '../sqlite/sqlite.ts'

export type RestoreResult = {
  home: string
  manifest: Manifest
  /** The path the home had before, when it was another: rows name plan files by whole paths. */
  moved_from: string | null
}

/**
 * Faults: `corrupt` naming the file that is not as it was, `newer_schema`, `io` when the home is
 * not empty or `from` is no backup.
 */
export function restoreHome(from: string, home: string): Promise<RestoreResult> {
  return guarded(`Restoring ${home}`, async () => {
    const [source, target] = [resolve(from), resolve(home)]
    await mustBeEmpty(target)
    const manifest = await readManifest(source)
    makeHomeFolder(dirname(target))
    const partial = join(dirname(target), `.${basename(target)}.restoring`)
    await rm(partial, { recursive: true, force: true })
    await mkdir(partial, { mode: 0o700 })
    try {
      for (const file of manifest.files) await bring(source, partial, file)
      for (const { path, target: to } of manifest.links) await symlink(to, join(partial, path))
      beginAnew(join(partial, databaseName), join(source, databaseName), manifest)
      await mkdir(join(partial, 'ledger', 'blobs'), { recursive: true, mode: 0o700 })
      await syncAll(partial)
      await rename(partial, target)
      await syncFolder(dirname(target))
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      throw error
    }
    return { home: target, manifest, moved_from: manifest.home === target ? null : manifest.home }
  })
}

async function mustBeEmpty(home: string): Promise<void> {
  try {
    if ((await readdir(home)).length === 0) return
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    throw error
  }
  throw new LedgerFault(
    'io',
    `${home} is not empty: a backup is restored into a new home; move the old one away, or ` +
      'choose another with --home',
    'never',
  )
}

async function readManifest(source: string): Promise<Manifest> {
  const path = join(source, manifestName)
  let manifest: Manifest
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as Manifest
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new LedgerFault('io', `${source} is no backup: ${manifestName}: ${said}`, 'never')
  }
  if (manifest.format !== 1 || manifest.schema > schemaVersion) {
    throw new LedgerFault(
      'newer_schema',
      `the backup ${source} was made by a newer holon (format ${manifest.format}, schema ` +
        `${manifest.schema}); this one reads format 1 and schema ${schemaVersion}`,
      'never',
    )
  }
  for (const { path: inside } of [...manifest.files, ...manifest.links]) {
    if (isAbsolute(inside) || normalize(inside) !== inside || inside.startsWith('..')) {
      throw damaged(path, `names ${inside}, which is not in the backup`)
    }
  }
  if (!manifest.files.some((file) => file.path === databaseName)) {
    throw damaged(path, `does not name ${databaseName}`)
  }
  return manifest
}

async function bring(
  source: string,
  partial: string,
  { path, bytes, sha256 }: Manifest['files'][number],
): Promise<void> {
  let copied
  try {
    copied = await copyFile(join(source, path), join(partial, path))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'ENOENT') throw damaged(join(source, path), 'is missing')
    if (error.code === 'ELOOP') throw damaged(join(source, path), 'is a link and was a file')
    throw error
  }
  if (copied.bytes !== bytes || copied.sha256 !== sha256) {
    throw damaged(join(source, path), 'is not the file that was backed up')
  }
}

/** Checks the database as SQLite sees it and raises its epoch. */
function beginAnew(path: string, source: string, manifest: Manifest): void {
  const database = openDatabase(path, 'write')
  try {
    const line = String(database.prepare('pragma integrity_check(1)').get()?.['integrity_check'])
    if (line !== 'ok') throw damaged(source, line)
    const last = database.prepare('select max(global_seq) as last from events').get()
    const found = [schemaOf(database), Number(last?.['last'] ?? 0)]
    if (found[0] !== manifest.schema || found[1] !== manifest.last_global_seq) {
      throw damaged(source, `has schema ${found[0]} and ends with event ${found[1]}`)
    }
    database.exec('update meta set boot_epoch = boot_epoch + 1')
  } finally {
    database.close()
  }
}

const damaged = (path: string, what: string): LedgerFault =>
  new LedgerFault('corrupt', `${path} ${what}: this backup cannot be trusted, try another`, 'never')
