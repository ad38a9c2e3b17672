/**
 * One owner of a home: who comes second is refused and told who is there, and may have it after.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Timestamp } from '../../domain/time.ts'
import { LedgerFault } from '../port.ts'
import { ownerOf, takeOwnership, type Owner } from './owner.ts'

function emptyHome(t: TestContext): { home: string; ledger: string } {
  const home = mkdtempSync(join(tmpdir(), 'holon-owner-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const ledger = join(home, 'ledger')
  mkdirSync(ledger)
  return { home, ledger }
}

const since = '2026-01-01T00:00:00.000Z' as Timestamp
const me: Owner = {
  pid: process.pid,
  process_started_at: since,
  owner_since: since,
  boot_epoch: 1,
}

/** Takes the lock and gives it back, or says with what it was refused. */
async function attempt(ledger: string) {
  try {
    const lock = await takeOwnership(ledger)
    lock.release()
    return 'taken'
  } catch (error) {
    if (!(error instanceof LedgerFault)) throw error
    const { code, retry, message } = error
    return { code, retry, message }
  }
}

const refused = {
  code: 'owned',
  retry: 'never',
  message:
    `This home is already served by process ${process.pid} since ${since}: ` +
    'stop it, or choose another home with --home',
}

test('a home has one owner: a second is refused until the first gives it up', async (t) => {
  const { home, ledger } = emptyHome(t)
  const first = await takeOwnership(ledger)
  t.after(() => first.release())
  await first.announce(me)
  assert.deepEqual([await attempt(ledger), await attempt(ledger)], [refused, refused])
  assert.deepEqual(await ownerOf(home), me, 'it is told from one that only asks')

  first.release()
  first.release()
  assert.equal(await ownerOf(home), null, 'what is written of the owner proves nothing')
  assert.equal(await attempt(ledger), 'taken')
})

test('nobody owns a home that was never opened', async (t) => {
  const { home } = emptyHome(t)
  assert.equal(await ownerOf(home), null)
})

test('who lets go while its name is looked for is no owner, and one that never says its name is one', async (t) => {
  const { home, ledger } = emptyHome(t)
  const first = await takeOwnership(ledger)
  t.after(() => first.release())
  const unnamed = 'a process that has not said its pid'
  const said = refused.message.replace(`process ${process.pid} since ${since}`, unnamed)
  await assert.rejects(ownerOf(home), { code: 'owned', retry: 'never', message: said })
  const asked = ownerOf(home)
  first.release()
  assert.equal(await asked, null)
})

test('a lock that cannot be made or read is no owner: what is wrong with it is said', async (t) => {
  const { home, ledger } = emptyHome(t)
  await assert.rejects(takeOwnership(join(ledger, 'none')), { code: 'ENOENT' })
  writeFileSync(join(ledger, 'owner.lock'), 'x'.repeat(4_096))
  await assert.rejects(takeOwnership(ledger), { errcode: 26 })
  await assert.rejects(ownerOf(home), { code: 'corrupt' })
})
