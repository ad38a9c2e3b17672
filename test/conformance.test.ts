/**
 * The conformance suite on SQLite, and what only a store in files can get wrong: real kills, full
 * disks, folders without permission, files of another version.
 */
import assert from 'node:assert/strict'
import { execPath } from 'node:process'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  mkdtemp,
  open as openFile,
  readdir,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { after, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openLedger, openReader, type FaultSeam } from '../src/ledger/store/open.ts'
import { ownerOf } from '../src/ledger/sqlite/owner.ts'
import { schemaVersion } from '../src/ledger/sqlite/schema.ts'
import { LedgerFault } from '../src/ledger/port.ts'
import { restoreHome } from '../src/ledger/backup/restore.ts'
import { conformance } from '../src/testing/conformance/suite.ts'
import { type LedgerWorld, laneOf, newBlob } from '../src/testing/world/ledger-world.ts'
import { freshMint, itemCreated, messageAdmitted } from '../src/testing/events.ts'

const clock_now = () => Date.parse('2026-01-02T03:04:05.000Z')
const open = (home: string, fault?: FaultSeam) =>
  openLedger(home, { clock_now, mint: freshMint, ...(fault ? { fault } : {}) })

/** Runs SQL on the database of a home, past everything that guards it. */
function onDatabase(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'ledger', 'ledger.sqlite'))
  database.exec(sql)
  database.close()
}

/** Runs SQL without the triggers that refuse to change what was written. */
function damage(home: string, sql: string): void {
  const database = new DatabaseSync(join(home, 'ledger', 'ledger.sqlite'))
  const guards = database.prepare(`select name from sqlite_schema where type = 'trigger'`).all()
  for (const { name } of guards) database.exec(`drop trigger ${String(name)}`)
  database.exec(sql)
  database.close()
}

const pathOfBlob = (home: string, sha256: string) =>
  join(home, 'ledger', 'blobs', sha256.slice(0, 2), sha256)

conformance('sqlite', {
  open,
  openReader,
  restore: restoreHome,
  ownerOf,
  usurp: async (home) => onDatabase(home, 'update meta set boot_epoch = boot_epoch + 1'),
  damage: async (home, sql) => damage(home, sql),
  hurtBlob: (home, sha256, bytes) =>
    bytes === null ? rm(pathOfBlob(home, sha256)) : writeFile(pathOfBlob(home, sha256), bytes),
  ageBlob: (home, sha256) => utimes(pathOfBlob(home, sha256), 1, 1),
})

const aPlan = { path: 'plan.md', sha256: null, bytes: 1 }

const made: string[] = []
after(() => Promise.all(made.map((home) => rm(home, { recursive: true, force: true }))))
async function emptyHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'holon-ledger-'))
  made.push(home)
  return home
}

const committer = fileURLToPath(
  new URL('../src/testing/conformance/committing-child.ts', import.meta.url),
)

/** Starts a process that owns `home` and commits without end; answers after `acks` commits. */
async function committing(t: TestContext, home: string, acks: number) {
  const child: ChildProcess = spawn(execPath, [committer, home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // A test that fails before it kills the child would otherwise never end.
  t.after(() => child.kill('SIGKILL'))
  assert.ok(child.stdout)
  const lines = createInterface({ input: child.stdout })
  let last = 0
  const reached = Promise.withResolvers<void>()
  lines.on('line', (line) => {
    last = Number(line)
    if (--acks === 0) reached.resolve()
  })
  child.on('exit', () => reached.reject(new Error('the committing process ended by itself')))
  const closed = once(lines, 'close')
  await reached.promise
  return {
    child,
    /** Kills it as the kernel does and answers the last global seq it was promised. */
    kill: async () => {
      child.kill('SIGKILL')
      await closed
      return last
    },
  }
}

test('a home holds every acknowledged commit, whenever its owner was killed', async (t) => {
  for (const acks of [1, 5, 60]) {
    const home = await emptyHome()
    const { child, kill } = await committing(t, home, acks)
    assert.equal((await ownerOf(home))?.pid, child.pid)
    await assert.rejects(open(home), (fault: LedgerFault) => {
      assert.equal(fault.code, 'owned')
      assert.match(fault.message, new RegExp(`process ${child.pid} `))
      return true
    })

    const promised = await kill()
    assert.equal(await ownerOf(home), null)
    const ledger = await open(home)
    const { problems, events } = await ledger.verify()
    assert.deepEqual(problems, [])
    // One more commit, of three events, may have landed before its acknowledgement was read.
    assert.ok(events >= promised && (events - promised) % 3 === 0, `${events} after ${promised}`)
    const live = await ledger.live('main')
    assert.equal(live?.seq, events)
    await ledger.close()
  }
})

test('a reader beside a killed owner reads what the log still holds', async (t) => {
  const home = await emptyHome()
  const { kill } = await committing(t, home, 3)
  const promised = await kill()
  const reader = await openReader(home)
  assert.ok((await reader.lastGlobalSeq()) >= promised)
  assert.deepEqual((await reader.verify()).problems, [])
  await reader.close()
})

test('a ledger of a newer schema is refused by owner and reader, and left as it is', async () => {
  const home = await emptyHome()
  await open(home).then((ledger) => ledger.close())
  const newer = schemaVersion + 1
  onDatabase(home, `pragma user_version = ${newer}`)

  for (const attempt of [open, openReader]) {
    await assert.rejects(attempt(home), (fault: LedgerFault) => {
      assert.equal(fault.code, 'newer_schema')
      assert.equal(fault.retry, 'never')
      const said = `has schema ${newer} and this holon knows ${schemaVersion}: run the newer holon`
      assert.ok(fault.message.includes(said), fault.message)
      return true
    })
  }
  assert.equal(await ownerOf(home), null)
  onDatabase(home, `pragma user_version = ${schemaVersion}`)
  await open(home).then((ledger) => ledger.close())
})

test('a used home whose ledger is gone is not begun again', async () => {
  const home = await emptyHome()
  await open(home).then((ledger) => ledger.close())
  await rm(join(home, 'ledger', 'ledger.sqlite'))
  for (let attempt = 1; attempt <= 2; attempt++) {
    await assert.rejects(open(home), { name: 'LedgerFault', code: 'corrupt', retry: 'never' })
  }
})

test('a file that is no database is refused and kept', async () => {
  const home = await emptyHome()
  await open(home).then((ledger) => ledger.close())
  const path = join(home, 'ledger', 'ledger.sqlite')
  await writeFile(path, 'these are not the bytes you look for'.repeat(200))
  const { size } = await stat(path)
  await assert.rejects(open(home), { name: 'LedgerFault', code: 'corrupt', retry: 'never' })
  await assert.rejects(openReader(home), { name: 'LedgerFault', code: 'corrupt', retry: 'never' })
  assert.equal((await stat(path)).size, size)
})

test('verify reports a damaged page and does not stumble over it', async () => {
  const home = await emptyHome()
  const ledger = await open(home)
  const lane = await laneOf(ledger)
  await lane.emit(...Array.from({ length: 300 }, () => messageAdmitted()))
  await ledger.close()
  damage(home, 'delete from events where global_seq = 3')
  const path = join(home, 'ledger', 'ledger.sqlite')
  const file = await openFile(path, 'r+')
  const { size } = await file.stat()
  for (let page = Math.floor(size / 4096) - 30; page * 4096 < size; page++)
    await file.write(new Uint8Array(4096), 0, 4096, page * 4096)
  await file.close()

  const reader = await openReader(home)
  const { ok, problems } = await reader.verify()
  assert.equal(ok, false)
  // The file itself comes first: reading on may end at the first bad page.
  assert.match(problems[0] ?? '', /^the file is damaged: /)
  assert.match(problems.at(-1) ?? '', /^the file cannot be read to its end: /)
  await reader.close()
})

test('on a full disk a commit keeps nothing and reads go on; with space it works', async () => {
  const home = await emptyHome()
  let max_pages = 1_000_000
  const ledger = await open(home, {
    before_commit: () => {},
    after_commit: () => {},
    max_pages: () => max_pages,
  })
  const lane = await laneOf(ledger)
  max_pages = 1
  const big = messageAdmitted({ body: 'x'.repeat(100_000) })
  await assert.rejects(ledger.commit(lane.change(big)), (fault: LedgerFault) => {
    assert.equal(fault.code, 'disk_full')
    assert.equal(fault.retry, 'later')
    assert.match(fault.message, /free some space/)
    return true
  })
  assert.equal(await ledger.lastGlobalSeq(), 1)
  assert.equal((await ledger.live('main'))?.seq, 1)

  max_pages = 1_000_000
  await lane.emit(big)
  assert.deepEqual((await ledger.verify()).problems, [])
  await ledger.close()
})

test('on a full disk each of those that came together is told, and those with room land', async () => {
  const home = await emptyHome()
  const room = { pages: 1_000_000 }
  const ledger = await open(home, {
    before_commit: () => {},
    after_commit: () => {},
    max_pages: () => room.pages,
  })
  const lanes: LedgerWorld[] = []
  for (const name of ['ada', 'bob', 'cy']) lanes.push(await laneOf(ledger, name))
  const said = (n: number) => messageAdmitted({ body: 'x'.repeat(n) })
  const sizes = [500_000, 1_000, 400_000]
  // Of 1 KiB each: what is there takes a third of them.
  room.pages = 400
  const changes = lanes.map((lane, i) => lane.change(said(sizes[i] ?? 0)))
  const [ada, bob, cy] = await Promise.allSettled(changes.map((one) => ledger.commit(one)))
  for (const one of [ada, cy]) {
    assert.ok(one?.status === 'rejected' && one.reason instanceof LedgerFault)
    assert.equal(one.reason.code, 'disk_full')
  }
  assert.deepEqual(bob, { status: 'fulfilled', value: { ok: true, seq: 2, global_seq: 4 } })
  room.pages = 1_000_000
  for (const one of [changes[0], changes[2]]) {
    assert.equal(one !== undefined && (await ledger.commit(one)).ok, true)
  }
  assert.deepEqual((await ledger.verify()).problems, [])
  await ledger.close()
})

test('a blob the full disk refuses is a fault to try again, and the ledger stays usable', async () => {
  const home = await emptyHome()
  let full = true
  const noSpace = () =>
    Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
  const ledger = await open(home, {
    before_commit: () => {},
    after_commit: () => {},
    refuse_blob: () => (full ? noSpace() : null),
  })
  const lane = await laneOf(ledger)
  const named = (good_sha256: string) => itemCreated({ plan: { ...aPlan, good_sha256 } })
  const { sha256, bytes } = newBlob('x'.repeat(100_000))
  const refused = lane.change(named(lane.blob(bytes)))
  await assert.rejects(ledger.commit(refused), { code: 'disk_full', retry: 'later' })
  assert.deepEqual([await ledger.blob(sha256), await ledger.lastGlobalSeq()], [null, 1])
  await lane.emit(named(lane.blob('small enough for a row')))
  full = false
  await lane.emit(named(lane.blob(bytes)))
  assert.deepEqual(new Uint8Array((await ledger.blob(sha256)) ?? []), bytes)
  await ledger.close()
})

/** A file system of its own, so small that it is soon full; null: this user cannot make one. */
async function smallDisk(t: TestContext, bytes: number): Promise<string | null> {
  const at = await emptyHome()
  const options = ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', at]
  if (process.platform !== 'linux' || spawnSync('mount', options).status !== 0) return null
  t.after(() => assert.equal(spawnSync('umount', [at]).status, 0))
  return at
}

test('a disk that is really full stops commits and blobs until there is space again', async (t) => {
  const disk = await smallDisk(t, 4 << 20)
  if (disk === null) {
    t.skip('NOT TESTED: only root on Linux can mount a small disk')
    return
  }
  const ballast = join(disk, 'ballast')
  const ledger = await open(join(disk, 'home'))
  const lane = await laneOf(ledger)
  await writeFile(ballast, new Uint8Array(2 << 20))
  const full = { name: 'LedgerFault', code: 'disk_full', retry: 'later' }
  let kept = 0
  await assert.rejects(async () => {
    for (;;) {
      await lane.emit(messageAdmitted({ body: 'x'.repeat(20_000) }))
      kept++
    }
  }, full)
  assert.ok(kept > 0)
  const file = newBlob(new Uint8Array(1 << 20))
  const row = newBlob(new Uint8Array(60_000))
  const named = (good_sha256: string) => itemCreated({ plan: { ...aPlan, good_sha256 } })
  for (const { bytes } of [file, row]) {
    await assert.rejects(ledger.commit(lane.change(named(lane.blob(bytes)))), full)
  }
  await assert.rejects(
    ledger.commit(lane.change(messageAdmitted({ body: 'x'.repeat(99_000) }))),
    full,
  )
  assert.equal((await ledger.live('main'))?.rows.length, 1 + kept)
  assert.deepEqual((await ledger.verify()).problems, [])

  await rm(ballast)
  await lane.emit(messageAdmitted({ body: 'y'.repeat(99_000) }))
  for (const { sha256, bytes } of [file, row]) {
    assert.equal(await ledger.blob(sha256), null)
    await lane.emit(named(lane.blob(bytes)))
    assert.equal((await ledger.blob(sha256))?.length, bytes.length)
  }
  assert.deepEqual(await readdir(join(disk, 'home', 'ledger', 'blobs', 'unfinished')), [])
  assert.deepEqual((await ledger.verify()).problems, [])
  await ledger.close()
})

test('a home cannot be made or opened on a full disk, and can when there is space', async (t) => {
  const disk = await smallDisk(t, 4 << 20)
  if (disk === null) {
    t.skip('NOT TESTED: only root on Linux can mount a small disk')
    return
  }
  const ballast = join(disk, 'ballast')
  const fill = async () => {
    const file = await openFile(ballast, 'w')
    for (;;) {
      const written = await file.write(new Uint8Array(4096)).catch(() => null)
      if (written === null || written.bytesWritten < 4096) break
    }
    await file.close()
  }
  const [home, other] = [join(disk, 'home'), join(disk, 'other')]
  await open(home).then((ledger) => ledger.close())
  await fill()
  const full = { name: 'LedgerFault', code: 'disk_full', retry: 'later' }
  await assert.rejects(open(other), full)
  await assert.rejects(open(home), full)
  await assert.rejects(openReader(home), full)
  await rm(ballast)
  await open(home).then((ledger) => ledger.close())
  assert.equal(await ownerOf(other), null)
})

/** Runs `body` as a user who is not root, to whom permissions mean something. */
async function asNobody(home: string, body: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return body()
  const nobody = 65_534
  for (const path of ['', ...(await readdir(home, { recursive: true }))]) {
    await chown(join(home, path), nobody, nobody)
  }
  process.seteuid?.(nobody)
  try {
    await body()
  } finally {
    process.seteuid?.(0)
  }
}

test('missing permission is a fault that says what to do', async () => {
  const cases: [string, (home: string) => Promise<void>, RegExp][] = [
    ['a home that may not be written', (home) => chmod(home, 0o500), /^denied .*must belong to/],
    [
      'a ledger that may not be written',
      async (home) => {
        await open(home).then((ledger) => ledger.close())
        await chmod(join(home, 'ledger', 'ledger.sqlite'), 0o400)
      },
      /^read_only .*mount it writable/,
    ],
    [
      'a ledger folder in which no file may be made',
      async (home) => {
        await open(home).then((ledger) => ledger.close())
        await chmod(join(home, 'ledger'), 0o500)
      },
      /^(denied|read_only) /,
    ],
    [
      'a ledger that may not be read',
      async (home) => {
        await open(home).then((ledger) => ledger.close())
        await chmod(join(home, 'ledger', 'ledger.sqlite'), 0)
      },
      /^denied .*must belong to/,
    ],
  ]
  for (const [what, prepare, said] of cases) {
    const home = await emptyHome()
    await prepare(home)
    await asNobody(home, async () => {
      await assert.rejects(open(home), (fault: LedgerFault) => {
        assert.ok(fault instanceof LedgerFault, `${what}: ${String(fault)}`)
        assert.equal(fault.retry, 'never')
        assert.match(`${fault.code} ${fault.message}`, said, what)
        return true
      })
    })
    await chmod(home, 0o700)
    assert.equal(await ownerOf(home), null)
  }
})

test('what a home holds is for its user alone', async () => {
  const home = join(await emptyHome(), 'home')
  const ledger = await open(home)
  const lane = await laneOf(ledger)
  const good_sha256 = lane.blob('secret '.repeat(20_000))
  await lane.emit(itemCreated({ plan: { ...aPlan, good_sha256 } }))
  const reader = await openReader(home)
  const modes: Record<string, string> = {}
  for (const path of ['', ...(await readdir(home, { recursive: true }))]) {
    const { mode } = await stat(join(home, path))
    modes[path] = (mode & 0o777).toString(8)
  }
  await reader.close()
  await ledger.close()
  const { '': _, ...inside } = modes
  assert.equal(modes[''], '700')
  for (const [path, mode] of Object.entries(inside)) assert.match(mode, /^[67]00$/, path)
  assert.ok(Object.keys(inside).includes(join('ledger', 'ledger.sqlite-wal')))
})

test('blobs a kill left half written are swept away by the next owner', async () => {
  const home = await emptyHome()
  await open(home).then(async (ledger) => {
    const lane = await laneOf(ledger)
    const good_sha256 = lane.blob('large '.repeat(20_000))
    await lane.emit(itemCreated({ plan: { ...aPlan, good_sha256 } }))
    await ledger.close()
  })
  const unfinished = join(home, 'ledger', 'blobs', 'unfinished')
  await writeFile(join(unfinished, 'half'), 'ha')
  await open(home).then((ledger) => ledger.close())
  assert.deepEqual(await readdir(unfinished), [])
})
