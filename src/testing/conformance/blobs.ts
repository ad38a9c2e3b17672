/**
 * Conformance of blobs: they are there when the commit that names them is, small or large, once,
 * and read back whole or not at all.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { LedgerFault, LedgerReads } from '../../ledger/port.ts'
import type { Cases } from './case.ts'
import { laneOf, newBlob, type LedgerWorld } from '../world/ledger-world.ts'
import { itemCreated, messageAdmitted } from '../events.ts'

/** More than a row holds. */
export const largeText = 'a long text\n'.repeat(10_000)
const plan = (good_sha256: string) => ({ path: 'p', sha256: null, bytes: 1, good_sha256 })
/** An item whose plan is the blob that comes with it. */
const planned = (lane: LedgerWorld, text: string) => itemCreated({ plan: plan(lane.blob(text)) })

async function textOf(ledger: LedgerReads, sha256: string): Promise<string | null> {
  const bytes = await ledger.blob(sha256)
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

const texts = { small: 'hello', large: largeText, empty: '' } as const

export const blobCases: Cases = {
  'a blob is there when the commit that names it is, once, and for a reader too': async (
    store,
    home,
  ) => {
    const seen: string[] = []
    const ledger = await store.open(home, {
      before_commit: (n) => seen.push(`commit ${n}`),
      after_commit: () => {},
      before_blob: (n) => seen.push(`before ${n}`),
      after_blob: (n) => seen.push(`after ${n}`),
    })
    const lane = await laneOf(ledger)
    const reader = await store.openReader(home)
    for (const text of Object.values(texts)) {
      const { sha256 } = newBlob(text)
      assert.deepEqual([await ledger.blob(sha256), await reader.blob(sha256)], [null, null])
      await lane.emit(planned(lane, text))
      await lane.emit(planned(lane, text))
      assert.deepEqual([await textOf(ledger, sha256), await textOf(reader, sha256)], [text, text])
    }
    // Only what becomes a file takes a step of its own.
    const first = ['commit 1', 'commit 2', 'commit 3']
    const file = ['before 1', 'after 1', 'commit 4', 'before 2', 'after 2', 'commit 5']
    assert.deepEqual(seen, [...first, ...file, 'commit 6', 'commit 7'])
    assert.deepEqual((await ledger.verify()).problems, [])
    await reader.close()
    await ledger.close()
  },

  'a commit that is refused leaves no row of a blob, and the next one brings it': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const { sha256 } = newBlob('hello')
    const late = lane.change(planned(lane, 'hello'))
    await lane.emit(messageAdmitted())
    assert.equal((await ledger.commit(late)).ok, false)
    const change = lane.change(planned(lane, 'hello'))
    const early = { ...change, at: '2000-01-01T00:00:00.000Z' }
    const meta = (seq: number) => ({ work_item_id: null, turn_id: null, causation_id: null, seq })
    const events = change.events.map(({ event, meta: { seq } }) => {
      return { event, meta: { ...meta(seq), at: early.at } }
    })
    await assert.rejects(ledger.commit({ ...early, events }), /before 2026/)
    assert.equal(await ledger.blob(sha256), null)
    await lane.commit(change)
    assert.equal(await textOf(ledger, sha256), 'hello')
    await ledger.close()
  },

  'a blob that no event names, or with another name than its bytes have, is a bug': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    const blob = newBlob('hello')
    const other = lane.change(itemCreated({ plan: plan(blob.sha256) }))
    const stray = lane.change(messageAdmitted())
    await assert.rejects(ledger.commit({ ...stray, blobs: [blob] }), /no event .* names 2cf24d/)
    const false_ = { ...blob, bytes: new Uint8Array(3) }
    await assert.rejects(ledger.commit({ ...other, blobs: [false_] }), /other bytes than 2cf24d/)
    assert.equal(await ledger.blob(blob.sha256), null)
    await ledger.close()
  },

  'killed before the commit there is neither event nor row, after it both': async (store, home) => {
    for (const when of ['before', 'after'] as const) {
      for (const [size, text] of Object.entries(texts)) {
        const folder = `${home}/${when}-${size}`
        const dies = (at: 'before' | 'after') => (n: number) => {
          if (n === 2 && at === when) throw new Error('killed')
        }
        const fault = { before_commit: dies('before'), after_commit: dies('after') }
        const ledger = await store.open(folder, fault)
        const lane = await laneOf(ledger)
        await assert.rejects(lane.emit(planned(lane, text)), /killed/)
        const next = await store.open(folder)
        const { sha256 } = newBlob(text)
        // A file that nothing names yet is no more than that.
        const found = when === 'after' || size === 'large' ? text : null
        assert.equal(await textOf(next, sha256), found, `${when} ${size}`)
        assert.equal(await next.lastGlobalSeq(), when === 'after' ? 2 : 1)
        assert.deepEqual((await next.verify()).problems, [])
        await next.close()
      }
    }
  },

  'several changes of one commit bring their blobs, or none of them does': async (store, home) => {
    const ledger = await store.open(home)
    const [one, two] = [await laneOf(ledger, 'one'), await laneOf(ledger, 'two')]
    const changes = [
      one.change(planned(one, 'of one')),
      two.change(planned(two, 'of two')),
    ] as const
    const { last_at: at } = two.facts
    const stale = { agent_id: 'two', expect_seq: 0, at, events: [], rows: [] }
    assert.equal((await ledger.commit(changes[0], stale)).ok, false)
    assert.equal(await ledger.blob(newBlob('of one').sha256), null)
    assert.equal((await ledger.commit(...changes)).ok, true)
    for (const text of ['of one', 'of two']) {
      assert.equal(await textOf(ledger, newBlob(text).sha256), text)
    }
    await ledger.close()
  },

  'a file with the bytes is there when it is asked for, by the owner and by a reader': async (
    store,
    home,
  ) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await lane.emit(planned(lane, 'hello'), planned(lane, largeText))
    const reader = await store.openReader(home)
    for (const text of ['hello', largeText]) {
      const { sha256 } = newBlob(text)
      for (const ledger_ of [reader, ledger]) {
        const path = (await ledger_.blobFile(sha256)) ?? 'none'
        assert.ok(path.endsWith(`/blobs/${sha256.slice(0, 2)}/${sha256}`), path)
        assert.equal(await readFile(path, 'utf8'), text)
      }
    }
    assert.equal(await ledger.blobFile(newBlob('nowhere').sha256), null)
    await assert.rejects(ledger.blobFile('../../etc/passwd'), /not a sha256/)
    await assert.rejects(ledger.blob('../../etc/passwd'), /not a sha256/)
    await reader.close()
    await ledger.close()
  },

  'bytes that are not those of the name are never handed out': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await lane.emit(planned(lane, 'hello'), planned(lane, largeText))
    const large = newBlob(largeText).sha256
    await ledger.close()
    await store.hurtBlob(home, large, `${largeText}!`)
    await store.damage(home, `update blobs set bytes = x'68656c6c70'`)
    const next = await store.open(home)
    const corrupt = (fault: LedgerFault) => fault.code === 'corrupt' && fault.retry === 'never'
    for (const text of ['hello', largeText]) {
      await assert.rejects(next.blob(newBlob(text).sha256), corrupt)
    }
    await assert.rejects(next.blobFile(newBlob('hello').sha256), corrupt)
    await store.hurtBlob(home, large, null)
    assert.equal(await next.blob(large), null)
    await next.close()
  },
}
