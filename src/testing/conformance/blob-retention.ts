/**
 * Conformance of retention over blobs: what nothing names any more goes, as a row at once, as a
 * file when it is not new, and what is named again meanwhile stays.
 */
import assert from 'node:assert/strict'
import type { Event } from '../../domain/state/event.ts'
import type { Ledger } from '../../ledger/port.ts'
import type { Cases, ConformanceStore } from './case.ts'
import { largeText } from './blobs.ts'
import { type LedgerWorld, laneOf, newBlob } from '../world/ledger-world.ts'
import { itemCreated, messageAdmitted, requestSent, turnEnded, turnStarted } from '../events.ts'

const always = '2100-01-01T00:00:00.000Z'
const plan = (good_sha256: string) => ({ path: 'p', sha256: null, bytes: 1, good_sha256 })

/** A plan that became a better one, and an opening: in the end only the second plan is named. */
async function outlived(
  lane: LedgerWorld,
  [opening, first, second]: readonly [string, string, string],
) {
  const item = itemCreated({ plan: plan(lane.blob(first)) })
  const turn = turnStarted()
  const request = requestSent(turn.id, 1, { opening_sha256: lane.blob(opening) })
  const better: Event = { type: 'plan_changed', id: item.id, plan: plan(lane.blob(second)) }
  await lane.emit(item, turn, request, better)
  await lane.emit(turnEnded(turn.id))
  await lane.emit(messageAdmitted())
}

async function mustVerify(ledger: Ledger): Promise<void> {
  assert.deepEqual((await ledger.verify()).problems, [])
}

/** A home in which the text of one blob was outlived; how many transactions a retention takes. */
async function batchesOf(store: ConformanceStore, home: string): Promise<number> {
  let count = 0
  const fault = { before_commit: () => {}, after_commit: () => {} }
  const ledger = await store.open(home, { ...fault, around_batch: (n) => void (count = n) })
  await outlived(await laneOf(ledger), ['opening', 'first', 'second'])
  await ledger.retain({ before: always, dry_run: false })
  await ledger.close()
  return count
}

export const blobRetentionCases: Cases = {
  'rows of blobs that nothing names any more go': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await outlived(lane, ['opening', 'first', 'second'])
    const here = () =>
      Promise.all(
        ['opening', 'first', 'second'].map(async (text) => {
          return (await ledger.blob(newBlob(text).sha256)) !== null
        }),
      )
    const dry = await ledger.retain({ before: always, dry_run: true })
    assert.deepEqual(await here(), [true, true, true])
    const run = await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual({ ...dry, dry_run: false }, run)
    assert.equal(run.blobs, 2)
    assert.deepEqual(await here(), [false, false, true])
    await lane.emit(itemCreated({ plan: plan(lane.blob('first')) }))
    assert.deepEqual(await here(), [false, true, true])
    await mustVerify(ledger)
    await ledger.close()
  },

  'a row that is named again while they are cleared out stays': async (store, home) => {
    const last = await batchesOf(store, `${home}/counted`)
    const emitted: Promise<unknown>[] = []
    let lane: LedgerWorld | null = null
    const ledger = await store.open(`${home}/named`, {
      before_commit: () => {},
      after_commit: () => {},
      around_batch: async (n, when) => {
        // After the mark, before the transaction that deletes.
        if (lane === null || n !== last || when === 'after') return
        emitted.push(lane.emit(itemCreated({ plan: plan(lane.blob('first')) })))
        await Promise.all(emitted)
      },
    })
    lane = await laneOf(ledger)
    await outlived(lane, ['opening', 'first', 'second'])
    const { blobs } = await ledger.retain({ before: always, dry_run: false })
    assert.equal(emitted.length, 1)
    await Promise.all(emitted)
    assert.equal(blobs, 1)
    assert.notEqual(await ledger.blob(newBlob('first').sha256), null)
    await mustVerify(ledger)
    await ledger.close()
  },

  'files of blobs that nothing names any more go, when they are not new': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const large = (text: string) => text + largeText
    const nameOf = (text: string) => newBlob(large(text)).sha256
    /** Stores it for a commit that comes too late. */
    const lose = async (text: string) => {
      const late = lane.change(itemCreated({ plan: plan(lane.blob(large(text))) }))
      await lane.emit(messageAdmitted())
      assert.equal((await ledger.commit(late)).ok, false)
    }
    for (const text of ['never named', 'stored again', 'just stored']) await lose(text)
    await outlived(lane, [large('opening'), large('first'), large('second')])
    const old = ['opening', 'never named', 'stored again', 'first', 'second']
    for (const text of old) await store.ageBlob(home, nameOf(text))
    await lose('stored again')
    const isHere = async (text: string) => (await ledger.blob(nameOf(text))) !== null
    const here = () => Promise.all([...old, 'just stored'].map(isHere))

    const dry = await ledger.retain({ before: always, dry_run: true })
    assert.deepEqual(await here(), [true, true, true, true, true, true])
    const run = await ledger.retain({ before: always, dry_run: false })
    assert.deepEqual({ ...dry, dry_run: false }, run)
    assert.equal(run.blobs, 3)
    assert.deepEqual(await here(), [false, false, true, false, true, true])
    await mustVerify(ledger)
    await ledger.close()
  },
}
