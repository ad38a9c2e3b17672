import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { migrate } from './migrations/migrate.ts'
import { schema, schemaVersion } from './schema.ts'
import { schemaOf } from './sqlite.ts'

function migrated(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  return database
}

test('§11 the migrations make exactly the tables and columns that the schema describes', () => {
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

test('§11 a migration that fails leaves the store on the schema it had', () => {
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

test('§11 events, and rows of every kind, can be neither deleted nor events changed', () => {
  const database = migrated()
  database.exec(
    `insert into events values (1, 'evt_1', 'a', 1, '', '', 1, '', '', null, null, null, '')`,
  )
  database.exec(`insert into agents values (1, 'a', 'active', '{}')`)
  assert.throws(() => database.exec(`update events set data = 'x'`), /events never change/)
  assert.throws(() => database.exec(`delete from events`), /events are never deleted/)
  assert.throws(() => database.exec(`delete from agents`), /agents are never deleted/)
  database.exec(`update agents set state = 'deleted'`)
  assert.throws(
    () => database.exec(`update agents set state = 'active'`),
    /a deleted agent never comes back/,
  )
  database.close()
})
