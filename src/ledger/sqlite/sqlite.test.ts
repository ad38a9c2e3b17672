import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertSqlite, kyselyOver } from './sqlite.ts'

test('a SQLite that can lose committed work is refused', () => {
  for (const fine of ['3.51.3', '3.51.10', '3.53.0', '4.0.0']) assertSqlite(fine)
  for (const old of ['3.51.2', '3.50.9', '3.9.0', '2.99.99', '3.51']) {
    assert.throws(() => assertSqlite(old), { code: 'old_sqlite', retry: 'never' }, old)
  }
})

test('transactions of one connection wait for each other', async () => {
  const database = new DatabaseSync(':memory:')
  database.exec('create table t (n integer)')
  const db = kyselyOver(database, 'write')
  const seen = await Promise.all(
    [1, 2, 3].map((n) =>
      db.transaction().execute(async (trx) => {
        const before = await sql<{ n: number }>`select count(*) as n from t`.execute(trx)
        await sql`insert into t values (${n})`.execute(trx)
        return before.rows[0]?.n
      }),
    ),
  )
  assert.deepEqual(seen, [0, 1, 2])
  await db.destroy()
})

test('a transaction that throws leaves nothing, and the next one works', async () => {
  const database = new DatabaseSync(':memory:')
  database.exec('create table t (n integer)')
  const db = kyselyOver(database, 'write')
  await assert.rejects(
    db.transaction().execute(async (trx) => {
      await sql`insert into t values (1)`.execute(trx)
      throw new Error('no')
    }),
    /no/,
  )
  const { rows } = await sql<{ n: number }>`select count(*) as n from t`.execute(db)
  assert.deepEqual(
    rows.map(({ n }) => n),
    [0],
  )
  await db.destroy()
})

test('more different statements than are kept compiled still work', async () => {
  const db = kyselyOver(new DatabaseSync(':memory:'), 'write')
  for (let n = 0; n < 600; n++) {
    const { rows } = await sql<{ n: number }>`select ${sql.lit(n)} as n`.execute(db)
    assert.equal(rows[0]?.n, n)
  }
  await db.destroy()
})
