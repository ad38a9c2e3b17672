import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { laneOf } from '../../testing/world/ledger-world.ts'
import { openLedger } from '../store/open.ts'
import type { LedgerFault } from '../port.ts'
import { freshMint, itemCreated, messageAdmitted } from '../../testing/events.ts'

const clock_now = () => Date.parse('2026-01-02T03:04:05.000Z')
const open = (home: string) => openLedger(home, { clock_now, mint: freshMint })

async function homeThatIs(t: TestContext, sql: string, retained = false): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'holon-integrity-'))
  t.after(() => rmSync(home, { recursive: true }))
  const ledger = await open(home)
  const lane = await laneOf(ledger)
  await lane.emit(itemCreated(), messageAdmitted({ consumed_because: 'said' }))
  await lane.emit(messageAdmitted())
  if (retained) await ledger.retain({ before: '2026-06-01T00:00:00.000Z', dry_run: false })
  await ledger.close()
  const database = new DatabaseSync(join(home, 'ledger', 'ledger.sqlite'))
  const guards = database.prepare(`select name from sqlite_schema where type = 'trigger'`).all()
  for (const { name } of guards) database.exec(`drop trigger ${String(name)}`)
  database.enableDefensive(false)
  database.exec(sql)
  database.close()
  return home
}

test('a start on a damaged ledger names the file, the damage and the remedy', async (t) => {
  const table: [sql: string, said: string][] = [
    ['drop table slots', 'the table slots is missing'],
    [
      `pragma writable_schema = on;
       update sqlite_schema set sql = replace(sql, 'changed', 'cxanged') where name = 'slots'`,
      'the table slots has no column changed',
    ],
    [`update events set data = '{}' where seq = 4`, 'the newest event, evt_\\S+, was changed'],
    [`update events set seq = 9 where seq = 4`, 'the event before evt_\\S+ is missing'],
    [`delete from events where seq = 4`, 'messages have a row whose event is missing'],
    [`delete from messages where inbox_seq = 4`, 'messages msg_\\S+ does not have its newest'],
    [`delete from meta`, 'there are events, but no home they belong to'],
    [
      `pragma writable_schema = on;
       update sqlite_schema set rootpage = 2 where name = 'turns'`,
      '2nd reference to page',
    ],
  ]
  for (const [sql, said] of table) {
    const home = await homeThatIs(t, sql)
    await assert.rejects(open(home), (fault: LedgerFault) => {
      assert.deepEqual([fault.code, fault.retry], ['corrupt', 'never'], sql)
      assert.match(fault.message, new RegExp(said), sql)
      return true
    })
  }
})

test('after a retention the floor stands for what is gone, and no floor for nothing', async (t) => {
  const home = await homeThatIs(t, 'select 1', true)
  await open(home).then((ledger) => ledger.close())
  const cases: [sql: string, said: RegExp][] = [
    ['delete from floors', /the event before evt_\S+ is missing/],
    [`update floors set hash = 'x'`, /the newest event, evt_\S+, was changed/],
    ['delete from events', /is damaged: there are no events, though there were/],
  ]
  for (const [sql, said] of cases) {
    await assert.rejects(open(await homeThatIs(t, sql, true)), { code: 'corrupt', message: said })
  }
})
