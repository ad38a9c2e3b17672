import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from '../migrations/migrate.ts'
import { schema, schemaVersion } from './schema.ts'
import { schemaOf } from './sqlite.ts'

function migrated(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  return database
}

test('the migrations make exactly the tables and columns that the schema describes', () => {
  const database = migrated()
  assert.equal(schemaOf(database), schemaVersion)
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' order by name`)
    .all()
    .map(({ name }) => String(name))
  assert.deepEqual(tables, Object.keys(schema).sort())

  for (const [table, { columns }] of Object.entries(schema)) {
    const made = database.prepare(`select * from pragma_table_info(?)`).all(table)
    assert.deepEqual(
      made.map(({ name, type, notnull, pk }) => [
        name,
        String(type).toLowerCase(),
        notnull === 0 && pk === 0,
      ]),
      Object.entries(columns)
        .map(([name, column]) => [name, column.type, column.null])
        .sort(
          ([a], [b]) =>
            made.findIndex((c) => c['name'] === a) - made.findIndex((c) => c['name'] === b),
        ),
      table,
    )
  }
  database.close()
})

test('a migration that fails leaves the store on the schema it had', () => {
  const database = new DatabaseSync(':memory:')
  database.exec('create table events (x integer)')
  assert.throws(() => migrate(database, 0), /events already exists/)
  assert.equal(schemaOf(database), 0)
  assert.deepEqual(
    database
      .prepare(`select name from sqlite_schema`)
      .all()
      .map(({ name }) => name),
    ['events'],
  )
  database.close()
})

/** Two events, the second above the floor, and a row of the first; nothing of it is whole. */
function inhabited(): DatabaseSync {
  const database = migrated()
  const event = (n: number, agent: string, seq: number) =>
    `insert into events values (${n}, 'evt_${n}', '${agent}', ${seq}, '', '', 1, '', '', null,
      null, null, '', '')`
  database.exec(`
    insert into meta values (1, 'home_1', 1, 0, 6);
    ${event(1, 'a', 1)}; ${event(2, 'a', 2)}; ${event(3, 'b', 1)};
    insert into agents values (1, 'a', 'active', '{}', 1);
    insert into messages values (2, 'msg_1', 'a', null, null, 'consumed', '', 1, null, '{}', 1);
    insert into messages values (3, 'msg_2', 'a', null, null, 'queued', '', 2, null, '{}', 1);
    insert into briefs values (4, 'brief_1', 'a', null, null, 'result', '{}', 1);`)
  return database
}

/** Each statement is refused with the words; null: it is not. */
function refusals(database: DatabaseSync, table: readonly [string, RegExp | null][]): void {
  for (const [statement, refusal] of table) {
    if (refusal === null) database.exec(statement)
    else assert.throws(() => database.exec(statement), refusal, statement)
  }
  database.close()
}

test('events never change, and what has no end is never deleted', () => {
  refusals(inhabited(), [
    [`update events set data = 'x'`, /events never change/],
    [`update briefs set data = 'x'`, /briefs never change/],
    [`delete from agents`, /agents are never deleted/],
    [`delete from meta`, /meta are never deleted/],
    [`update agents set state = 'deleted'`, null],
    [`update agents set state = 'active'`, /a deleted agent never comes back/],
  ])
})

test('only events below the floor go, and never the last of an agent', () => {
  const kept = /events above the floor, and the last of an agent, are never deleted/
  refusals(inhabited(), [
    [`delete from events where global_seq = 1`, kept],
    [`update meta set pruned_global_seq = 3`, null],
    [`update meta set pruned_global_seq = 2`, /the floor never sinks/],
    [`delete from events where global_seq = 2`, kept],
    [`delete from events where global_seq = 3`, kept],
    [`delete from events where global_seq = 1`, null],
  ])
})

test('only rows that ended go, after their last event, and no result', () => {
  refusals(inhabited(), [
    [`delete from messages where id = 'msg_1'`, /kept events or go on are never deleted/],
    [`update meta set pruned_global_seq = 1`, null],
    [`delete from events where global_seq = 1`, null],
    [`delete from messages where id = 'msg_1'`, null],
    [`delete from messages where id = 'msg_2'`, /messages that stand in kept events or go on/],
    [`delete from briefs`, /briefs that stand in kept events or go on/],
  ])
})

test('a blob never changes, and its name is that of a hash', () => {
  const hash = 'a'.repeat(64)
  refusals(migrated(), [
    [`insert into blobs values ('${hash}', x'')`, null],
    [`insert into blobs values ('${hash}', x'00')`, /UNIQUE/],
    [`insert into blobs values ('${hash}', x'00') on conflict do nothing`, null],
    [`insert into blobs values ('../x', x'00')`, /CHECK/],
    [`update blobs set bytes = x'00'`, /blobs never change/],
    [`delete from blobs`, null],
  ])
})

test('a trigger, a delivery and a schedule that ended stay so', () => {
  const row = (table: string, status: string, more = '') =>
    `insert into ${table} values (1, 1, 'x', 'a', '${status}', ${more}'{}')`
  refusals(migrated(), [
    [row('triggers', 'revoked', `'t', `), null],
    [`update triggers set status = 'active'`, /a revoked trigger never works again/],
    [row('deliveries', 'dead', 'null, null, '), null],
    [`update deliveries set status = 'accepted'`, null],
    [`update deliveries set status = 'dead'`, /an accepted delivery never dies/],
    [row('schedules', 'ended'), null],
    [`update schedules set status = 'active'`, /an ended schedule never goes on/],
    [`update schedules set status = 'removed'`, null],
    [`update schedules set status = 'ended'`, /a removed schedule never comes back/],
    [`insert into slots values (1, 1, 'x@y', 'a', 'x', 'fired', '{}')`, null],
    [`update slots set status = 'missed'`, /slots never change/],
  ])
})
