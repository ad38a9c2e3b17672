/** A copy of a database whose owner commits at that very moment. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { copyDatabase } from './backup-database.ts'
import { openDatabase } from './sqlite.ts'

test('a copy that begins while its owner is in a commit begins again, and has that commit', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holon-copy-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [from, to] = [join(folder, 'from.sqlite'), join(folder, 'to.sqlite')]
  const owner = openDatabase(from, 'write')
  owner.exec('create table notes (text); begin immediate')
  owner.prepare('insert into notes values (?)').run('first')
  const copied = copyDatabase(owner, 'write', to)
  // Each goes through the threads in which the steps run.
  for (let n = 0; n < 20; n += 1) await stat(from)
  owner.exec('commit')
  await copied
  owner.close()
  const copy = openDatabase(to, 'read')
  assert.deepEqual(
    copy
      .prepare('select text from notes')
      .all()
      .map(({ text }) => text),
    ['first'],
  )
  copy.close()
})
