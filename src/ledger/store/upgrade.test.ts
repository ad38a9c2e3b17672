/**
 * Ledgers of earlier schemas: a real one, as the released program wrote it, brought up to date.
 */
import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { tables, type Table } from '../../domain/state/event.ts'
import { baselineOf, eventOf } from '../../domain/state/upcast.ts'
import { LedgerWorld, newBlob } from '../../testing/world/ledger-world.ts'
import { sql as schema1 } from '../migrations/0001.ts'
import { after, before as beforeSecond } from '../migrations/0002.ts'
import { sql as third } from '../migrations/0003.ts'
import { openLedger, openReader } from './open.ts'
import type { LedgerFault } from '../port.ts'
import { schemaVersion } from '../sqlite/schema.ts'
import { schemaOf } from '../sqlite/sqlite.ts'
import { agentCreated, freshMint, itemCreated } from '../../testing/events.ts'

const open = (home: string) =>
  openLedger(home, { clock_now: () => Date.parse('2026-03-01T00:00:00.000Z'), mint: freshMint })

const fixture = (schema: number) =>
  readFileSync(join(import.meta.dirname, '../migrations', `schema-${schema}.fixture.sql`), 'utf8')
const rows = fixture(1)
const databaseOf = (home: string) => join(home, 'ledger', 'ledger.sqlite')

/** A home as 0.1.0 left it; a row that begins with `lost` is not there. */
function homeOfSchema1(t: TestContext, lost?: string): string {
  const home = mkdtempSync(join(tmpdir(), 'holon-upgrade-'))
  t.after(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, 'ledger'), { mode: 0o700 })
  const database = new DatabaseSync(databaseOf(home))
  database.exec('pragma journal_mode = wal')
  const kept = rows.split('\n').filter((line) => lost === undefined || !line.startsWith(lost))
  assert.ok(lost === undefined || kept.length < rows.split('\n').length, 'there is no such row')
  database.exec(`begin; ${schema1}; pragma user_version = 1; ${kept.join('\n')} commit`)
  database.close()
  return home
}

/** A home of schema 2, with a floor that retention lifted. */
function homeOfSchema2(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'holon-upgrade-'))
  t.after(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, 'ledger'), { mode: 0o700 })
  const database = new DatabaseSync(databaseOf(home))
  database.exec('pragma journal_mode = wal')
  database.exec(`begin; ${schema1}; ${beforeSecond}; ${after}; pragma user_version = 2`)
  database.exec(`${fixture(2)} commit`)
  database.close()
  return home
}

/** The blobs of the home of schema 3, by what they are. */
const blobs3 = { opening: 'the opening of a turn', plan: '# Plan\nwater the garden\n' }
const fileIn = (home: string, sha256: string) =>
  join(home, 'ledger', 'blobs', sha256.slice(0, 2), sha256)

/** A home of schema 3, whose blobs are files. */
function homeOfSchema3(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), 'holon-upgrade-'))
  t.after(() => rmSync(home, { recursive: true }))
  for (const { sha256, bytes } of Object.values(blobs3).map(newBlob)) {
    mkdirSync(dirname(fileIn(home, sha256)), { recursive: true, mode: 0o700 })
    writeFileSync(fileIn(home, sha256), bytes, { mode: 0o600 })
  }
  const database = new DatabaseSync(databaseOf(home))
  database.exec('pragma journal_mode = wal')
  database.exec(`begin; ${schema1}; ${beforeSecond}; ${after}; ${third}; pragma user_version = 3`)
  database.exec(`${fixture(3)} commit`)
  database.close()
  return home
}

const isTable = (name: string): name is Table => (tables as readonly string[]).includes(name)

/** Rows in the shape of today, whatever order their fields were stored in. */
const parsed = (table: string, found: unknown): unknown[] =>
  ((found ?? []) as { data?: string }[]).map((row) =>
    isTable(table) ? { ...row, data: baselineOf(table, row.data ?? '') } : { ...row },
  )

/** Every row of the database, by table, as JSON text. */
function dataOf(path: string): Record<string, unknown[]> {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(({ name }) => String(name))
  const all = tables.map((table) => [table, database.prepare(`select * from ${table}`).all()])
  database.close()
  return Object.fromEntries(all) as Record<string, unknown[]>
}

/** What the rows of now have beside those of then, and what they had that nothing needed. */
function asOfNow(table: string, row: Record<string, unknown>): Record<string, unknown> {
  const { trigger_generation: _, ...rest } = row
  const beside =
    table === 'agents'
      ? { ...rest, inherited_sha256: null }
      : table === 'tasks'
        ? { ...rest, input: 'none', asking: null }
        : row
  return baselineOf(table as Table, JSON.stringify(beside))
}

test('a ledger of schema 1 is upgraded by its owner: same rows, and it verifies', async (t) => {
  const home = homeOfSchema1(t)
  const before = dataOf(databaseOf(home))
  const ledger = await open(home)
  const { ok, problems, events, rows: count } = await ledger.verify()
  assert.deepEqual(
    { ok, problems, events, count },
    { ok: true, problems: [], events: 26, count: 16 },
  )
  for (const [table, found] of Object.entries(before)) {
    if (table === 'meta' || table === 'events') continue
    for (const { id, data } of found as { id: string; data: string }[]) {
      const row = JSON.parse(data) as Record<string, unknown>
      assert.deepEqual(await ledger.row(table as Table, id), asOfNow(table, row))
    }
  }
  const stored = before['events'] as { global_seq: number; id: string; data: string }[]
  assert.deepEqual(
    (await ledger.events({ after: 0, limit: 100 })).map((event) => [
      event.global_seq,
      event.id,
      event.event,
    ]),
    stored.map((event) => [event.global_seq, event.id, eventOf(event.data)]),
  )
  const [spend] = await ledger.spend({ by: ['day'] })
  assert.deepEqual(
    [spend?.day, spend?.requests, spend?.input_tokens, spend?.usd],
    ['2026-01-02', 1, 120, 0.0125],
  )
  await ledger.close()
})

test('a ledger of schema 2 whose history was cut is upgraded, and verifies', async (t) => {
  const home = homeOfSchema2(t)
  const before = dataOf(databaseOf(home))
  const ledger = await open(home)
  const { ok, problems, events } = await ledger.verify()
  assert.deepEqual({ ok, problems, events }, { ok: true, problems: [], events: 7 })
  for (const table of ['agents', 'work_items', 'messages', 'tasks', 'waits'] as const) {
    for (const { id, data } of before[table] as { id: string; data: string }[]) {
      const row = JSON.parse(data) as Record<string, unknown>
      assert.deepEqual(await ledger.row(table, id), asOfNow(table, row))
    }
  }
  await ledger.close()
})

test('what a ledger of schema 3 kept in files is read and verified where it is', async (t) => {
  const home = homeOfSchema3(t)
  const before = dataOf(databaseOf(home))
  const ledger = await open(home)
  const { opening, plan } = { opening: newBlob(blobs3.opening), plan: newBlob(blobs3.plan) }
  for (const { sha256, bytes } of [opening, plan]) {
    assert.deepEqual(new Uint8Array((await ledger.blob(sha256)) ?? []), bytes)
    assert.equal(await ledger.blobFile(sha256), fileIn(home, sha256))
  }
  assert.deepEqual(await ledger.verify(), { ok: true, events: 7, rows: 5, problems: [] })
  const now = dataOf(databaseOf(home))
  for (const [table, found] of Object.entries(before)) {
    if (table === 'meta') continue
    assert.deepEqual(
      parsed(table, now[table]),
      parsed(table, found),
      `${table}: something was moved`,
    )
  }
  assert.deepEqual(now['blobs'], [])
  // The same text named again is a row beside the file, and one text all the same.
  const lane = new LedgerWorld(ledger, 'other')
  const good_sha256 = lane.blob(blobs3.plan)
  const item = itemCreated({ plan: { path: 'p', sha256: null, bytes: 1, good_sha256 } })
  await lane.emit(agentCreated('other'), item)
  rmSync(fileIn(home, plan.sha256))
  assert.deepEqual((await ledger.verify()).problems, [])
  rmSync(fileIn(home, opening.sha256))
  assert.deepEqual((await ledger.verify()).problems, [
    `rounds turn_00000004:1: its blob ${opening.sha256} is missing`,
  ])
  await ledger.close()
})

test('what was before the upgrade is kept beside it, whole and private', async (t) => {
  const home = homeOfSchema1(t)
  const before = dataOf(databaseOf(home))
  await open(home).then((ledger) => ledger.close())
  const copy = join(home, 'ledger-of-schema-1.sqlite')
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  assert.deepEqual(dataOf(copy), before)
  const database = new DatabaseSync(copy)
  assert.equal(schemaOf(database), 1)
  database.close()
  const { mtimeMs } = statSync(copy)
  await open(home).then((ledger) => ledger.close())
  assert.equal(statSync(copy).mtimeMs, mtimeMs)
  assert.deepEqual(
    readdirSync(home).filter((name) => name.endsWith('.new')),
    [],
  )
})

test('a reader of an older ledger says that an owner has to open it first', async (t) => {
  const home = homeOfSchema1(t)
  await assert.rejects(openReader(home), (fault: LedgerFault) => {
    assert.deepEqual([fault.code, fault.retry], ['older_schema', 'never'])
    const said = `has schema 1 and this holon reads ${schemaVersion}: open the home once with `
    assert.ok(fault.message.includes(said), fault.message)
    return true
  })
  await open(home).then((ledger) => ledger.close())
  const reader = await openReader(home)
  assert.deepEqual((await reader.verify()).problems, [])
  await reader.close()
})

test('a history that does not fold is not upgraded, and stays as it was', async (t) => {
  const columns = 'global_seq, id, agent_id, seq, at, type, v, subject_table, subject_id, '
  const more = 'work_item_id, turn_id, causation_id, data'
  const damages: [lost: string, said: RegExp][] = [
    [
      `insert into events (${columns}${more}) values (3, `,
      /cannot be upgraded: evt_\S+ \(seq \d+ of main\) does not fold.*holon restore/,
    ],
    ['insert into tasks', /cannot be upgraded: tasks task_\S+ has events but no row/],
  ]
  for (const [lost, said] of damages) {
    const home = homeOfSchema1(t, lost)
    const before = dataOf(databaseOf(home))
    await assert.rejects(open(home), { code: 'corrupt', retry: 'never', message: said })
    const database = new DatabaseSync(databaseOf(home))
    assert.equal(schemaOf(database), 1)
    database.close()
    assert.deepEqual(dataOf(databaseOf(home)), before)
  }
})
