/**
 * Conformance of ownership: one owner, any number of readers beside it.
 */
import assert from 'node:assert/strict'
import type { LedgerFault } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf } from '../world/ledger-world.ts'
import { itemCreated } from '../events.ts'

export const ownerCases: Cases = {
  'a second owner is refused and told the pid of the first': async (store, home) => {
    const ledger = await store.open(home)
    assert.equal((await store.ownerOf(home))?.pid, process.pid)
    await assert.rejects(store.open(home), (fault: LedgerFault) => {
      assert.equal(fault.code, 'owned')
      assert.equal(fault.retry, 'never')
      assert.match(fault.message, new RegExp(`process ${process.pid} `))
      return true
    })
    const lane = await laneOf(ledger)
    await lane.emit(itemCreated())
    await ledger.close()
  },

  'a home is free when its owner closed it, and keeps what was committed': async (store, home) => {
    assert.equal(await store.ownerOf(home), null)
    const first = await store.open(home)
    const lane = await laneOf(first)
    await first.close()
    await first.close()
    assert.equal(await store.ownerOf(home), null)

    const second = await store.open(home)
    assert.deepEqual(await second.agents(), lane.all('agents'))
    await second.close()
  },

  'a closed ledger answers nothing': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const change = lane.change(itemCreated())
    await ledger.close()
    await assert.rejects(ledger.commit(change), /the ledger is closed/)
    await assert.rejects(ledger.agents(), /the ledger is closed/)
  },

  'a reader sees each commit of the owner beside it': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const reader = await store.openReader(home)
    for (let n = 1; n <= 3; n++) {
      await lane.emit(itemCreated())
      assert.deepEqual(await reader.list('work_items', { limit: 10 }), lane.all('work_items'))
      assert.deepEqual(await reader.live('main'), await ledger.live('main'))
    }
    await ledger.close()
    assert.equal(await reader.lastGlobalSeq(), 4)
    await reader.close()
  },

  'a home is read without an owner': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await ledger.close()
    const reader = await store.openReader(home)
    assert.deepEqual(await reader.agents(), lane.all('agents'))
    assert.equal(await store.ownerOf(home), null)
    await reader.close()
  },

  'a reader of a home without a ledger makes nothing and says so': async (store, home) => {
    const noHome = { name: 'LedgerFault', code: 'no_home', retry: 'never' }
    await assert.rejects(store.openReader(home), noHome)
    await assert.rejects(store.openReader(`${home}/nowhere`), noHome)
    assert.equal(await store.ownerOf(home), null)
    await assert.rejects(store.openReader(home), noHome)
  },
}
