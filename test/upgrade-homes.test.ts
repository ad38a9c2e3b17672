/**
 * Homes that earlier programs left, in every state they could leave one: each opens, folds,
 * verifies and goes on, whatever kills the upgrade; the copy from before it is kept as it was.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { tableOf, tables } from '../src/domain/state/event.ts'
import { shortKinds, tableOfShort } from '../src/domain/state/short-id.ts'
import { openLedger, type FaultSeam, type Upgrade } from '../src/ledger/store/open.ts'
import { databasePath, schemaOf } from '../src/ledger/sqlite/sqlite.ts'
import { schemaVersion } from '../src/ledger/sqlite/schema.ts'
import { openBox } from '../src/testing/host/host-fixture.ts'
import {
  earlierSchemas,
  homesOfSchema,
  writeEarlierHome,
  type EarlierHome,
  type EarlierSchema,
} from '../src/testing/host/earlier-homes.ts'
import { says, scriptedModel } from '../src/testing/scripted-model.ts'
import { freshMint } from '../src/testing/events.ts'

const homes = earlierSchemas.flatMap(homesOfSchema)

/** A small one, with something of everything that matters to an upgrade. */
function oneOf(schema: EarlierSchema): EarlierHome {
  const found = homesOfSchema(schema)[1]
  assert.ok(found)
  return found
}

function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'holon-earlier-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'home')
}

function written(t: TestContext, earlier: EarlierHome): string {
  const home = place(t)
  writeEarlierHome(earlier, home)
  return home
}

const open = (home: string, more: { fault?: FaultSeam; before_upgrade?(u: Upgrade): void } = {}) =>
  openLedger(home, {
    clock_now: () => Date.parse('2030-01-01T00:00:00Z'),
    mint: freshMint,
    ...more,
  })

const countOf = (home: EarlierHome, table: string) => home.tables[table]?.length ?? 0

/** How many types of events the last program of each schema could write. */
const typesIn = { 4: 92, 5: 107 } as const satisfies Readonly<Record<EarlierSchema, number>>

for (const schema of earlierSchemas) {
  test(`the homes of schema ${schema} hold every event that program could write`, () => {
    const types = new Set(
      homesOfSchema(schema)
        .flatMap(({ tables }) => tables['events'] ?? [])
        .map(({ type }) => String(type)),
    )
    assert.equal(types.size, typesIn[schema])
    assert.deepEqual(
      [...types].filter((type) => !(type in tableOf)),
      [],
    )
  })
}

/** Reads the database of the home beside whoever has it open. */
function inDatabase<T>(home: string, look: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(databasePath(home), { readOnly: true })
  try {
    return look(database)
  } finally {
    database.close()
  }
}

const guardsIn = (database: DatabaseSync): string[] =>
  database
    .prepare(`select type, name, tbl_name from sqlite_schema where type in ('trigger', 'index')`)
    .all()
    .map(({ type, name, tbl_name }) => `${String(type)} ${String(name)} on ${String(tbl_name)}`)
    .toSorted()

for (const schema of earlierSchemas) {
  test(`an upgrade from schema ${schema} leaves every guard and index where it was`, async (t) => {
    const home = written(t, oneOf(schema))
    const before = inDatabase(home, guardsIn)
    await open(home).then((ledger) => ledger.close())
    const after = new Set(inDatabase(home, guardsIn))
    assert.ok(before.length > 50)
    assert.deepEqual(
      before.filter((guard) => !after.has(guard)),
      [],
    )
  })
}

test('rows that were folded before are moved as they were: tasks with all their columns', async (t) => {
  for (const earlier of homesOfSchema(5)) {
    const home = written(t, earlier)
    // Grants are of schema 6: there were none.
    const known = tables.filter((table) => table !== 'grants')
    const rowsOf = (database: DatabaseSync) =>
      known.map((table) => database.prepare(`select * from ${table} order by born`).all())
    const before = inDatabase(home, rowsOf)
    await open(home).then((ledger) => ledger.close())
    assert.deepEqual(inDatabase(home, rowsOf), before, earlier.name)
  }
})

/** What of the home has ids that models are shown. */
const subjectsOf = ({ tables: all }: EarlierHome) =>
  shortKinds.flatMap((kind) =>
    (all[tableOfShort[kind]] ?? []).map((row) => ({
      kind,
      subject: { id: String(row['id']), agent_id: String(row['agent_id']) },
    })),
  )

for (const earlier of homes) {
  test(`a home of schema ${earlier.schema} is upgraded and verifies: ${earlier.name}`, async (t) => {
    const home = written(t, earlier)
    const ledger = await open(home)
    t.after(() => ledger.close())
    assert.deepEqual((await ledger.verify()).problems, [])
    for (const table of tables) {
      const row = earlier.tables[table]?.[0]
      if (row) assert.notEqual(await ledger.row(table, String(row['id'])), null, table)
    }
    for (const { kind, subject } of subjectsOf(earlier)) {
      const short = (await ledger.shortIds(subject.agent_id, [subject.id])).get(subject.id) ?? ''
      assert.ok(subject.id.endsWith(short.slice(kind.length + 1)), short)
      assert.equal(await ledger.idOfShort(subject.agent_id, short), subject.id)
    }
    const stats = await ledger.stats()
    assert.equal(stats.events, countOf(earlier, 'events'))
  })
}

for (const schema of earlierSchemas) {
  test(`an upgrade from schema ${schema} that is killed leaves the home as it was or is to be`, async (t) => {
    for (const point of ['before', 'within', 'after'] as const) {
      const home = written(t, oneOf(schema))
      const kill = (when: string) => {
        if (when === point) throw new Error('killed')
      }
      await assert.rejects(open(home, { fault: seam(kill) }), /killed/)
      assert.equal(inDatabase(home, schemaOf), point === 'after' ? schemaVersion : schema, point)
      const ledger = await open(home)
      assert.deepEqual((await ledger.verify()).problems, [], point)
      await ledger.close()
      assert.deepEqual(copiesIn(home), [`ledger-of-schema-${schema}.sqlite`], point)
    }
  })

  test(`what an upgrade from schema ${schema} means is said before it writes, and its copy stays`, async (t) => {
    const home = written(t, oneOf(schema))
    const upgrades: Upgrade[] = []
    const before_upgrade = (upgrade: Upgrade) => {
      upgrades.push(upgrade)
      assert.deepEqual(copiesIn(home), [])
      assert.equal(inDatabase(home, schemaOf), schema)
    }
    await open(home, { before_upgrade }).then((ledger) => ledger.close())
    const copy = join(home, `ledger-of-schema-${schema}.sqlite`)
    assert.deepEqual(upgrades, [{ from: schema, to: schemaVersion, copy }])
    assert.equal(statSync(copy).mode & 0o777, 0o600)
    const kept = readFileSync(copy)

    goOnFrom(copy, home)
    await open(home).then(
      (ledger) => ledger.close(),
      () => null,
    )
    assert.deepEqual(copiesIn(home), [
      `ledger-of-schema-${schema}-2.sqlite`,
      `ledger-of-schema-${schema}.sqlite`,
    ])
    assert.deepEqual(readFileSync(copy), kept)
  })
}

/** The earlier program goes on from its copy, so that its home is upgraded a second time. */
function goOnFrom(copy: string, home: string): void {
  for (const name of ['ledger.sqlite', 'ledger.sqlite-wal', 'ledger.sqlite-shm']) {
    rmSync(join(home, 'ledger', name), { force: true })
  }
  copyFileSync(copy, databasePath(home))
  const database = new DatabaseSync(databasePath(home))
  database.exec('pragma journal_mode = wal')
  database.exec(`insert into events select (select max(global_seq) + 1 from events), 'evt_later',
    agent_id, seq + 1, at, 'agent_stopped', v, 'agents', agent_id, null, null, null,
    json_object('type', 'agent_stopped', 'id', agent_id), hash
    from events order by global_seq desc limit 1`)
  database.close()
}

test('what a home of an earlier version is refused with is what helps, and it does', (t) => {
  const home = written(t, oneOf(5))
  chmodSync(home, 0o700)
  const main = join(import.meta.dirname, '..', 'src', 'main.ts')
  const holon = (...words: string[]) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' }
    const args = [main, ...words, '--home', home]
    return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stderr
  }
  assert.match(holon('work', 'list'), /open the home once with `holon serve` or `holon run`/)
  assert.match(holon('run', '--resume', '--no-input'), /It is upgraded to schema/)
  assert.equal(holon('work', 'list'), '')
})

/** An agent of the home that nothing holds back; else one that is made now. */
const awake = (earlier: EarlierHome): string => {
  const found = earlier.tables['agents']?.find(({ data }) => {
    const { state, visibility } = JSON.parse(String(data)) as Record<string, unknown>
    return state === 'active' && visibility === 'public'
  })
  return String(found?.['id'] ?? 'newcomer')
}

for (const earlier of homes) {
  test(`an agent of schema ${earlier.schema} takes a message and answers: ${earlier.name}`, async (t) => {
    const home = written(t, earlier)
    const text = 'Are you there, after the upgrade?'
    const model = scriptedModel(() => says('I go on.'))
    const box = await openBox(t, { models: { default: model }, home, workspace: tmpdir() })
    const agent_id = awake(earlier)
    await box.host.ensureAgent({ id: agent_id, model: 'test/scripted' })
    await box.host.open()
    const reply = await box.host.act({ do: 'send', agent_id, text, priority: 'interject' })
    assert.equal(reply.ok, true)
    await box.rests(agent_id, () =>
      model.requests.some((one) => JSON.stringify(one).includes(text)),
    )
    await box.close()
    const ledger = await open(home)
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  })
}

const copiesIn = (home: string): string[] =>
  readdirSync(home)
    .filter((name) => name.includes('sqlite'))
    .toSorted()

const seam = (around_upgrade: (when: 'before' | 'within' | 'after') => void): FaultSeam => ({
  before_commit: () => undefined,
  after_commit: () => undefined,
  around_upgrade,
})
