/**
 * What must be on the disk when a call returns was synced: each file that was left behind, and each
 * folder that names one. Seen by inode, so that a rename changes nothing; a file that was put into
 * its place before it was synced is told apart from one that was synced first.
 */
import assert from 'node:assert/strict'
import fs, { fstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemFiles } from '../src/exec/files.ts'
import { systemIds } from '../src/exec/clock.ts'
import { startPlace } from '../src/exec/start-place.ts'
import { blobsIn } from '../src/ledger/blobs.ts'
import { openLedger } from '../src/ledger/open.ts'
import { restoreHome } from '../src/ledger/restore.ts'
import { temporaryHome } from '../src/testing/box.ts'

const inodeOf = (file: number): number => fstatSync(file).ino

/** Inodes that are synced from now on, and those that were when they were given their names. */
async function watched(t: TestContext) {
  const synced = new Set<number>()
  const named = new Map<number, boolean>()
  const { fsync, fsyncSync, renameSync, linkSync } = fs
  const { rename } = fs.promises
  const names = (path: fs.PathLike) => {
    const { ino } = statSync(path)
    named.set(ino, synced.has(ino))
  }
  fs.fsyncSync = (file) => {
    fsyncSync(file)
    synced.add(inodeOf(file))
  }
  const later = (file: number, done: fs.NoParamCallback) =>
    fsync(file, (error) => {
      if (error === null) synced.add(inodeOf(file))
      done(error)
    })
  fs.fsync = Object.assign(later, { __promisify__: fsync.__promisify__ })
  fs.renameSync = (from, to) => (names(from), renameSync(from, to))
  fs.linkSync = (from, to) => (names(from), linkSync(from, to))
  fs.promises.rename = (from, to) => (names(from), rename(from, to))
  const handle = await open('/dev/null')
  const proto = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const sync = Reflect.get(proto, 'sync')
  proto.sync = async function (this: typeof handle) {
    await sync.call(this)
    synced.add(inodeOf(this.fd))
  }
  syncBuiltinESMExports()
  t.after(() => {
    Object.assign(fs, { fsync, fsyncSync, renameSync, linkSync })
    fs.promises.rename = rename
    proto.sync = sync
    syncBuiltinESMExports()
  })
  return { synced, named }
}

/** Each way to write what must stay, and the folder that is whole on the disk afterwards. */
const ways: Readonly<Record<string, (home: string) => Promise<string>>> = {
  'a file that is replaced': async (home) => {
    await systemFiles().write_atomic(join(home, 'plan.md'), 'text', 0o600)
    return home
  },
  'the mark of the tasks': async (home) => {
    mkdirSync(join(home, 'tasks'))
    assert.notEqual(startPlace(join(home, 'tasks')).tasks, 'unread')
    return join(home, 'tasks')
  },
  'a blob': async (home) => {
    await blobsIn(home).put(Buffer.from('one of many bytes'))
    return join(home, 'blobs')
  },
  'a backup': async (home) => join(await backedUp(home), '..'),
  'a home made of a backup': async (home) => {
    const path = await backedUp(home)
    await restoreHome(path, join(home, 'restored', 'again'))
    return join(home, 'restored')
  },
}

async function backedUp(home: string): Promise<string> {
  const ids = systemIds()
  const ledger = await openLedger(home, { clock_now: () => 0, mint: (p) => ids.mint(p) })
  await blobsIn(join(home, 'ledger')).put(Buffer.alloc(100_000, 7))
  const now = '2026-01-02T03:04:05.678Z'
  const { path } = await ledger.backup({ to: join(home, 'kept'), now, with_secrets: false })
  await ledger.close()
  return path
}

/** The database syncs its own files; what is unfinished has nobody who believes in it. */
const others = /ledger\.sqlite|unfinished$/

function left(folder: string): string[] {
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
  return [folder, ...inside].filter((path) => !others.test(path))
}

for (const [name, write] of Object.entries(ways)) {
  test(`${name} is on the disk when the call returns`, async (t) => {
    const { home } = temporaryHome(t)
    const { synced, named } = await watched(t)
    const folder = await write(home)
    const all = left(folder)
    assert.ok(all.length > 1, 'nothing was written')
    assert.deepEqual(
      all.filter((path) => !synced.has(statSync(path).ino)),
      [],
    )
    // A folder is synced for the names in it, when they are there; a file for its bytes, before.
    const early = all.filter((path) => {
      const { ino } = statSync(path)
      return statSync(path).isFile() && named.get(ino) === false
    })
    assert.deepEqual(early, [])
  })
}
