/** Blobs between who makes them and the commit that names them: stored with it, or not at all. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Draft } from '../domain/facts/facts.ts'
import { createRedactor } from '../domain/secrets/redact.ts'
import { systemClock, systemIds } from '../exec/clock.ts'
import { systemFiles } from '../exec/files/files.ts'
import { openLedger } from '../ledger/store/open.ts'
import type { Ledger, NewBlob } from '../ledger/port.ts'
import { LedgerWorld, newBlob } from '../testing/world/ledger-world.ts'
import { keeping, makePlan, readPlan } from './gather/plans.ts'
import { Store } from './store.ts'
import { agentCreated, freshMint, itemCreated } from '../testing/events.ts'

const secret = 'sk-0123456789'
const bytes = (text: string) => new TextEncoder().encode(text)
const said = (blobs: readonly NewBlob[]) =>
  blobs.map((blob) => new TextDecoder().decode(blob.bytes))
const plan = (good_sha256: string | null) => ({ path: 'p', sha256: null, bytes: 1, good_sha256 })

async function scene(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'holon-store-'))
  const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
  t.after(async () => {
    await ledger.close()
    rmSync(home, { recursive: true })
  })
  /** What came with each commit. */
  const came: string[][] = []
  const counted: Ledger = {
    ...ledger,
    commit: (change, ...more) => {
      came.push(said(change.blobs ?? []))
      return ledger.commit(change, ...more)
    },
  }
  const { redactor } = createRedactor([{ name: 'key', value: secret }])
  const store = new Store(counted, systemClock(), systemIds(), redactor)
  await store.transact('main', null, (d) => d.emit(agentCreated('main')))
  came.length = 0
  return { home, ledger, store, came }
}

test('only what the decision names comes with its commit, once, and redacted', async (t) => {
  const { ledger, store, came } = await scene(t)
  const [named, other] = [store.blob(bytes(`a ${secret}`)), store.blob(bytes('never named'))]
  assert.deepEqual(named, newBlob('a {{secret:key}}'))
  const item = itemCreated({ plan: plan(named.sha256) })
  await store.transact('main', null, (d) => d.emit(item), { blobs: [other, named, named] })
  await store.transact('main', null, () => 'nothing', { blobs: [other] })
  assert.deepEqual(came, [['a {{secret:key}}']])
  assert.equal(await ledger.blob(other.sha256), null)
  assert.deepEqual((await ledger.verify()).problems, [])
})

test('after a conflict the decision that is made again brings its blob again', async (t) => {
  const { ledger, store, came } = await scene(t)
  const blob = store.blob(bytes('a plan'))
  // Another writer of the same process goes ahead of the facts that the store has.
  const ahead = new LedgerWorld(ledger)
  const live = await ledger.live('main')
  for (const [table, row] of live?.rows ?? []) ahead.facts.include(table, row)
  Object.assign(ahead.facts, { seq: live?.seq, last_at: live?.last_at })
  const change = ahead.change(itemCreated())
  const at = new Date().toISOString()
  const events = change.events.map((one) => ({ ...one, meta: { ...one.meta, at } }))
  assert.equal((await ledger.commit({ ...change, at, events })).ok, true)
  const decide = (d: Draft) => d.emit(itemCreated({ plan: plan(blob.sha256) }))
  await store.transact('main', null, decide, { blobs: [blob] })
  assert.deepEqual(came, [['a plan'], ['a plan']])
  assert.notEqual(await ledger.blob(blob.sha256), null)
})

test('a plan that is read for a commit is kept with it, one that is only read is not', async (t) => {
  const { home, store } = await scene(t)
  const files = systemFiles()
  const item = itemCreated()
  const blobs: NewBlob[] = []
  const kept = { home, files, ...keeping(store, blobs) }
  const made = await makePlan(kept, 'main', item.id, '# Plan\n')
  assert.deepEqual(said(blobs), ['# Plan\n'])
  assert.equal(made.stored.good_sha256, newBlob('# Plan\n').sha256)
  await store.transact('main', null, (d) => d.emit({ ...item, plan: made.stored }), { blobs })

  const row = store.mustFacts('main').row('work_items', item.id)
  assert.ok(row)
  writeFileSync(made.stored.path, '# Plan B\n')
  const looked = await readPlan({ home, files, ...keeping(store, null) }, row)
  assert.equal(looked.described.preview, '# Plan B\n')
  assert.equal(looked.stored.good_sha256, made.stored.good_sha256)
  const seen: NewBlob[] = []
  const read = await readPlan({ home, files, ...keeping(store, seen) }, row)
  assert.deepEqual(said(seen), ['# Plan B\n'])
  assert.equal(read.stored.good_sha256, newBlob('# Plan B\n').sha256)
})
