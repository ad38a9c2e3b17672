/**
 * Conformance of short ids: fixed in the commit that mints the id, never changed, never given to
 * another, and what `verify` says of one that is not what it should be.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Ledger } from '../../ledger/port.ts'
import { shortTail } from '../../domain/state/short-id.ts'
import type { Cases, ConformanceStore } from './case.ts'
import { always } from './retention.ts'
import { laneOf } from '../world/ledger-world.ts'
import { itemCreated, messageAdmitted, waitRegistered } from '../events.ts'

const work = (end: string) => `work_01999999-aaaa-7bbb-8ccc-${end.padStart(12, '0')}` as const

const shortOf = async (ledger: Ledger, ids: readonly string[], agent = 'main') => {
  const found = await ledger.shortIds(agent, ids)
  return ids.map((id) => found.get(id) ?? null)
}

const ends = ['17f3a', '27f3a', '127f3a', '41b4']
const shorts = ['work_7f3a', 'work_27f3a', 'work_127f3a', 'work_41b4']
const ids = ends.map(work)

async function withItems(store: ConformanceStore, home: string): Promise<Ledger> {
  const ledger = await store.open(home)
  const lane = await laneOf(ledger)
  for (const id of ids) await lane.emit(itemCreated({ id }))
  return ledger
}

const planted: Readonly<Record<string, readonly [sql: string, found: RegExp]>> = {
  'a short form that is not there': [
    `delete from short_ids where short = '41b4'`,
    /^work_items work_\S+41b4: its short form is not work_41b4$/,
  ],
  'one that a later id took': [
    `update short_ids set id = '${work('27f3a')}' where short = '7f3a';
     update short_ids set id = '${work('17f3a')}', short = '17f3a' where short = '27f3a'`,
    /^work_items work_\S+17f3a: its short form is not work_7f3a, which a later id has$/,
  ],
  'a second one': [
    `insert into short_ids values ('main', 'work', '041b4', '${work('41b4')}')`,
    /^short_ids work_41b4: it is not the one short form of work_\S+41b4$/,
  ],
}

export const shortIdCases: Cases = {
  'an id has its short form from the commit that mints it, of its kind and agent': async (
    store,
    home,
  ) => {
    const ledger = await withItems(store, home)
    assert.deepEqual(await shortOf(ledger, ids), shorts)
    const other = await laneOf(ledger, 'other')
    const theirs = work('37f3a')
    const wait = waitRegistered({ id: `wait_${work('17f3a').slice(5)}`, work_item_id: theirs })
    await other.emit(itemCreated({ id: theirs }), wait)
    assert.deepEqual(await shortOf(ledger, [theirs, wait.id], 'other'), ['work_7f3a', 'wait_7f3a'])
    assert.deepEqual(await shortOf(ledger, [theirs, 'sched_1', 'nothing']), [null, null, null])
    for (const [n, short] of shorts.entries()) {
      assert.equal(await ledger.idOfShort('main', short), ids[n])
    }
    assert.equal(await ledger.idOfShort('other', 'work_7f3a'), theirs)
    for (const none of ['work_f3a', 'work_017f3a', 'wait_7f3a', '7f3a', '']) {
      assert.equal(await ledger.idOfShort('main', none), null, none)
    }
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'whatever ids are minted, a short form never changes and means its id': async (store, home) => {
    const ledger = await store.open(home)
    const digits = fc.array(fc.constantFrom('0', 'a'), { minLength: 8, maxLength: 8 })
    const some = fc.uniqueArray(
      digits.map((all) => work(all.join(''))),
      { minLength: 1, maxLength: 12 },
    )
    let runs = 0
    const minted = fc.asyncProperty(some, async (all) => {
      const agent = `agent${++runs}`
      const lane = await laneOf(ledger, agent)
      // A row is unique over agents, its short form is not.
      const mine = all.map((id) => id.replace('-7bbb-', `-7${String(runs).padStart(3, '0')}-`))
      const expected = new Map<string, string>()
      for (const id of mine as (typeof all)[number][]) {
        await lane.emit(itemCreated({ id }))
        const taken = new Set(expected.values())
        expected.set(id, `work_${shortTail(id, (tail) => taken.has(`work_${tail}`))}`)
        assert.deepEqual(await ledger.shortIds(agent, [...expected.keys()]), expected)
      }
      for (const [id, short] of expected) assert.equal(await ledger.idOfShort(agent, short), id)
    })
    await fc.assert(minted, { numRuns: 12 })
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'what retention takes leaves its short form behind': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const message = (end: string) =>
      messageAdmitted({ id: `msg_${work(end).slice(5)}`, consumed_because: 'said' })
    const [gone, next] = [message('17f3a'), message('27f3a')]
    await lane.emit(gone)
    await lane.emit(messageAdmitted())
    await ledger.retain({ before: always, dry_run: false })
    assert.equal(await ledger.row('messages', gone.id), null)
    await lane.emit(next)
    assert.deepEqual(await shortOf(ledger, [gone.id, next.id]), ['msg_7f3a', 'msg_27f3a'])
    assert.deepEqual((await ledger.verify()).problems, [])
    await ledger.close()
  },

  'verify finds a short form that is not what it should be': async (store, home) => {
    await withItems(store, home).then((ledger) => ledger.close())
    for (const [what, [sql, found]] of Object.entries(planted)) {
      await store.damage(home, `create table kept as select * from short_ids; ${sql}`)
      const reader = await store.openReader(home)
      const { problems } = await reader.verify()
      await reader.close()
      assert.ok(
        problems.some((problem) => found.test(problem)),
        `${what}: ${problems.join('\n')}`,
      )
      await store.damage(
        home,
        'delete from short_ids; insert into short_ids select * from kept; drop table kept',
      )
    }
  },
}
