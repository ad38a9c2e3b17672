/**
 * How the owner's connection writes: what is on the disk when a commit returns, and who may write.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { kyselyOver, openDatabase, setDurability } from '../sqlite/sqlite.ts'

function emptyDatabase(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'holon-durability-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'ledger.sqlite')
  writeFileSync(path, '')
  return path
}

test('what the owner commits is synced to the disk before the commit returns', (t) => {
  const database = openDatabase(emptyDatabase(t), 'write')
  t.after(() => database.close())
  setDurability(database)
  const of = (pragma: string) => Object.values(database.prepare(`pragma ${pragma}`).get() ?? {})[0]
  const full = 2
  assert.deepEqual(
    { journal_mode: of('journal_mode'), synchronous: of('synchronous'), mmap: of('mmap_size') },
    { journal_mode: 'wal', synchronous: full, mmap: 0 },
  )
})

test('a new database has small pages, and one that is there keeps its own', (t) => {
  for (const [pages, checkpoint] of [
    [null, 4_096],
    [4_096, 1_024],
  ] as const) {
    const path = emptyDatabase(t)
    if (pages !== null) {
      const before = new DatabaseSync(path)
      before.exec(`pragma page_size = ${pages}; create table t (n integer)`)
      before.close()
    }
    const database = openDatabase(path, 'write')
    t.after(() => database.close())
    setDurability(database)
    const of = (name: string) => Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0]
    const found = [of('page_size'), of('wal_autocheckpoint'), of('journal_size_limit')]
    assert.deepEqual(found, [pages ?? 1_024, checkpoint, 64 << 20])
  }
})

test('a writing transaction has the write lock before its first statement', async (t) => {
  const path = emptyDatabase(t)
  const database = openDatabase(path, 'write')
  setDurability(database)
  database.exec('create table t (n integer)')
  const db = kyselyOver(database, 'write')
  const other = new DatabaseSync(path, { timeout: 0 })
  t.after(async () => {
    other.close()
    await db.destroy()
  })
  const refused = await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from t`.execute(trx)
    try {
      other.exec('insert into t values (1)')
      return null
    } catch (error) {
      return {
        before: rows[0]?.n,
        code: error instanceof Error && 'errcode' in error && error.errcode,
      }
    }
  })
  const busy = 5
  assert.deepEqual(refused, { before: 0, code: busy })
})
