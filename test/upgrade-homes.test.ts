/**
 * Homes that an earlier program left, in every state it could leave one: each opens, folds,
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
  homesOfSchema4,
  writeEarlierHome,
  type EarlierHome,
} from '../src/testing/host/earlier-homes.ts'
import { says, scriptedModel } from '../src/testing/scripted-model.ts'
import { freshMint } from '../src/testing/events.ts'

const homes = homesOfSchema4()

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

test('the homes of schema 4 hold every event that program could write', () => {
  const types = new Set(
    homes.flatMap(({ tables }) => tables['events'] ?? []).map(({ type }) => String(type)),
  )
  assert.equal(types.size, 92)
  assert.deepEqual(
    [...types].filter((type) => !(type in tableOf)),
    [],
  )
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
  test(`a home of schema 4 is upgraded and verifies, with all its rows: ${earlier.name}`, async (t) => {
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

test('an upgrade that is killed at any point leaves the home as it was or as it is to be', async (t) => {
  const earlier = homes[1]
  assert.ok(earlier)
  for (const point of ['before', 'within', 'after'] as const) {
    const home = written(t, earlier)
    const kill = (when: string) => {
      if (when === point) throw new Error('killed')
    }
    await assert.rejects(open(home, { fault: seam(kill) }), /killed/)
    const database = new DatabaseSync(databasePath(home), { readOnly: true })
    assert.equal(schemaOf(database), point === 'after' ? schemaVersion : 4, point)
    database.close()
    const ledger = await open(home)
    assert.deepEqual((await ledger.verify()).problems, [], point)
    await ledger.close()
    assert.deepEqual(copiesIn(home), ['ledger-of-schema-4.sqlite'], point)
  }
})

test('what an upgrade means is said before anything is written, and the copy is never replaced', async (t) => {
  const earlier = homes[1]
  assert.ok(earlier)
  const home = written(t, earlier)
  const upgrades: Upgrade[] = []
  const before_upgrade = (upgrade: Upgrade) => {
    upgrades.push(upgrade)
    assert.deepEqual(copiesIn(home), [])
    const database = new DatabaseSync(databasePath(home), { readOnly: true })
    assert.equal(schemaOf(database), 4)
    database.close()
  }
  await open(home, { before_upgrade }).then((ledger) => ledger.close())
  const copy = join(home, 'ledger-of-schema-4.sqlite')
  assert.deepEqual(upgrades, [{ from: 4, to: schemaVersion, copy }])
  assert.equal(statSync(copy).mode & 0o777, 0o600)
  const kept = readFileSync(copy)

  // The earlier program went on from its copy, and its home is upgraded a second time.
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
  await open(home).catch(() => null)
  assert.deepEqual(copiesIn(home), ['ledger-of-schema-4-2.sqlite', 'ledger-of-schema-4.sqlite'])
  assert.deepEqual(readFileSync(copy), kept)
})

test('what a home of an earlier version is refused with is what helps, and it does', (t) => {
  const earlier = homes[1]
  assert.ok(earlier)
  const home = written(t, earlier)
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
  test(`an agent of a home of schema 4 takes a message and answers it: ${earlier.name}`, async (t) => {
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
