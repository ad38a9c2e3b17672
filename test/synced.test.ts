/**
 * What must be on the disk when a call returns was synced as it is then: each file that was left
 * behind, with its bytes and its mode, and each folder that names one, with those names. Seen by
 * inode, so that a rename changes nothing; a file that was put into its place before it was synced
 * is told apart from one that was synced first.
 */
import assert from 'node:assert/strict'
import fs, { lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { systemFiles } from '../src/exec/files/files.ts'
import { systemIds } from '../src/exec/clock.ts'
import { startPlace } from '../src/exec/commands/start-place.ts'
import { blobsIn } from '../src/ledger/blobs/blobs.ts'
import { openLedger } from '../src/ledger/store/open.ts'
import { restoreHome } from '../src/ledger/backup/restore.ts'
import { temporaryHome } from '../src/testing/host/host-fixture.ts'

/** What a sync makes durable: the bytes and the mode of a file, the names in a folder. */
function seenAt(path: string): string {
  const { ino, mode } = statSync(path)
  const inside = statSync(path).isDirectory()
    ? readdirSync(path).map((name) => `${name} is ${lstatSync(join(path, name)).ino}`)
    : [readFileSync(path, 'base64')]
  return [ino, mode, ...inside.toSorted()].join('\n')
}

/** What each inode was when it was last synced, and what it was when it was given its name. */
async function watched(t: TestContext) {
  const synced = new Map<number, string>()
  const named = new Map<number, string | undefined>()
  const { fsync, fsyncSync, renameSync, linkSync } = fs
  const { rename } = fs.promises
  const names = (path: fs.PathLike) => {
    const { ino } = statSync(path)
    named.set(ino, synced.get(ino))
  }
  const syncs = (file: number) => {
    const path = `/proc/self/fd/${file}`
    synced.set(statSync(path).ino, seenAt(path))
  }
  fs.fsyncSync = (file) => {
    fsyncSync(file)
    syncs(file)
  }
  const later = (file: number, done: fs.NoParamCallback) => {
    // What comes while it syncs may not be on the disk.
    syncs(file)
    fsync(file, done)
  }
  fs.fsync = Object.assign(later, { __promisify__: fsync.__promisify__ })
  fs.renameSync = (from, to) => (names(from), renameSync(from, to))
  fs.linkSync = (from, to) => (names(from), linkSync(from, to))
  fs.promises.rename = (from, to) => (names(from), rename(from, to))
  const handle = await open('/dev/null')
  const proto = Object.getPrototypeOf(handle) as typeof handle
  await handle.close()
  const sync = Reflect.get(proto, 'sync')
  proto.sync = async function (this: typeof handle) {
    syncs(this.fd)
    await sync.call(this)
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

/** Two texts whose names begin alike, so that they lie in one folder. */
const besides = ['1', '12']

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
  'a file that is replaced by one of another mode': async (home) => {
    const path = join(home, 'tool')
    await systemFiles().write_atomic(path, 'text', 0o600)
    await systemFiles().write_atomic(path, 'text', 0o755)
    return home
  },
  'a blob': async (home) => {
    await blobsIn(home).put(Buffer.from('one of many bytes'))
    return join(home, 'blobs')
  },
  'a blob beside another': async (home) => {
    const blobs = blobsIn(home)
    for (const text of besides) await blobs.put(Buffer.from(text))
    return join(home, 'blobs')
  },
  'a backup': async (home) => join(await backedUp(home), '..'),
  'a backup of nothing': async (home) => join(await backedUp(home, 0), '..'),
  'a home made of a backup': async (home) => restored(home, await backedUp(home)),
  'a home made of a backup of nothing': async (home) => restored(home, await backedUp(home, 0)),
}

async function restored(home: string, path: string): Promise<string> {
  await restoreHome(path, join(home, 'restored', 'again'))
  return join(home, 'restored')
}

async function backedUp(home: string, bytes = 100_000): Promise<string> {
  const ids = systemIds()
  const ledger = await openLedger(home, { clock_now: () => 0, mint: (p) => ids.mint(p) })
  if (bytes > 0) await blobsIn(join(home, 'ledger')).put(Buffer.alloc(bytes, 7))
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
    // As it is now: a folder with these names in it, a file with these bytes and this mode.
    const stale = all.filter((path) => synced.get(statSync(path).ino) !== seenAt(path))
    assert.deepEqual(stale, [])
    // A file is synced for its bytes before it has its name.
    const early = all.filter((path) => {
      const { ino } = statSync(path)
      return statSync(path).isFile() && named.has(ino) && named.get(ino) === undefined
    })
    assert.deepEqual(early, [])
  })
}
