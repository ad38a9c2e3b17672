// A home that is only read: a damaged plan is told, with a file of its last whole text where one
// can be written.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLedger } from '../../ledger/store/open.ts'
import { laneOf } from '../../testing/world/ledger-world.ts'
import { openHomeReader } from './reader.ts'
import { freshMint, itemCreated } from '../../testing/events.ts'

const text = '# Plan\nwater the garden\n'

async function described(t: { after(fn: () => void): void }, spoil: (home: string) => void) {
  const home = mkdtempSync(join(tmpdir(), 'holon-reader-'))
  t.after(() => rmSync(home, { recursive: true }))
  const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
  const lane = await laneOf(ledger)
  const sha256 = lane.blob(text)
  const plan = { path: join(home, 'plan.md'), sha256, bytes: text.length, good_sha256: sha256 }
  const item = itemCreated({ plan })
  await lane.emit(item)
  await ledger.close()
  spoil(home)
  const reader = await openHomeReader(home)
  assert.ok(reader)
  const row = await reader.row('work_items', item.id)
  assert.ok(row)
  const { problem } = await reader.plan(row)
  await reader.close()
  return problem
}

test('the last whole text of a damaged plan is written out of the database', async (t) => {
  const problem = await described(t, () => {})
  assert.equal(problem?.code, 'missing')
  assert.equal(readFileSync(problem.last_good ?? 'none', 'utf8'), text)
})

test('where it cannot be written the problem is told without it', async (t) => {
  const problem = await described(t, (home) => {
    rmSync(join(home, 'ledger', 'blobs'), { recursive: true })
    writeFileSync(join(home, 'ledger', 'blobs'), 'in the way')
  })
  assert.deepEqual([problem?.code, problem?.last_good], ['missing', null])
})
