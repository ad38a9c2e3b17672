/** An agent without a trigger of its own gets it as soon as that can be, in the same process. */
import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { second } from '../../domain/time.ts'
import { FileFault, type FileFaultCode } from '../../exec/files/file-fault.ts'
import { systemFiles } from '../../exec/files/files.ts'
import type { Files } from '../../exec/ports.ts'
import type { Ledger } from '../../ledger/port.ts'
import { openBox, temporaryHome, type HostFixture } from '../../testing/host/host-fixture.ts'
import { says, scriptedModel } from '../../testing/scripted-model.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'

const models = { default: scriptedModel(() => says('Seen.')) }

/** Files of which the secret cannot be read while `fault` says so. */
function faultyFiles(): Files & { fault: FileFaultCode | null } {
  const files = systemFiles()
  return {
    ...files,
    fault: null,
    read(path, options) {
      if (this.fault === null || !path.endsWith('trigger-secret')) return files.read(path, options)
      return Promise.reject(new FileFault(this.fault, path, `${path}: it cannot be read`))
    },
  }
}

async function make(box: HostFixture, id: string): Promise<void> {
  const reply = await box.host.act({ do: 'create_agent', agent_id: id, model: 'test/first' })
  assert.ok(reply.ok, JSON.stringify(reply))
}

/** Resolves with the agents that have a trigger of their own, once `id` has. */
async function given(box: HostFixture, id: string): Promise<string[]> {
  await box.until((notice) => {
    if (notice.kind !== 'committed' || notice.agent_id !== id) return false
    return notice.events.some(({ event }) => event.type === 'trigger_created')
  }, `a trigger of ${id}`)
  return owners(box)
}

async function owners(box: HostFixture): Promise<string[]> {
  const rows = await box.ledger.list('triggers', { limit: 100 })
  return rows.map(({ agent_id }) => agent_id).toSorted()
}

/** A start after it finds nothing to do. */
async function restStays(t: TestContext, box: HostFixture): Promise<void> {
  const before = await box.ledger.lastGlobalSeq()
  await box.close()
  const { home, workspace } = box
  const again = await openBox(t, { models, home, workspace, clock: virtualClock() })
  await again.host.open()
  assert.equal(await again.ledger.lastGlobalSeq(), before, 'a restart commits nothing')
}

const ways: readonly { of: string; breaks: (secret: string, files: Broken) => void }[] = [
  { of: 'the system said EIO', breaks: (_, files) => (files.fault = 'io') },
  { of: 'the system denies access', breaks: (_, files) => (files.fault = 'denied') },
  { of: 'others can read it', breaks: (secret) => chmodSync(secret, 0o644) },
  { of: 'it holds something else', breaks: (secret) => writeFileSync(secret, 'nothing\n') },
]
type Broken = ReturnType<typeof faultyFiles>

for (const { of, breaks } of ways) {
  test(`an agent made while the secret cannot be read, since ${of}, gets its trigger once it can`, async (t) => {
    const places = temporaryHome(t)
    const secret = join(places.home, 'trigger-secret')
    const files = faultyFiles()
    const clock = virtualClock()
    writeFileSync(secret, `${'A'.repeat(43)}\n`, { mode: 0o600 })
    breaks(secret, files)
    const box = await openBox(t, { models, clock, files, ...places })
    await box.host.open()
    await make(box, 'early')
    await make(box, 'other')
    await clock.advance(30 * second)
    assert.deepEqual([await owners(box), box.host.triggerProblem() === null], [[], false])

    files.fault = null
    chmodSync(secret, 0o600)
    writeFileSync(secret, `${'A'.repeat(43)}\n`)
    await clock.advance(30 * second)
    await given(box, 'early')
    assert.deepEqual(await given(box, 'other'), ['early', 'other'])
    assert.deepEqual([box.host.triggerProblem(), clock.nextDue()], [null, null])
    await restStays(t, box)
  })
}

test('the next act looks at the secret again and does not wait for its time', async (t) => {
  const files = faultyFiles()
  const box = await openBox(t, { models, clock: virtualClock(), files })
  files.fault = 'denied'
  await box.host.open()
  await make(box, 'early')
  files.fault = null
  const reply = await box.host.act({ do: 'send', agent_id: 'early', text: 'Hello.' })
  assert.ok(reply.ok)
  assert.deepEqual(await given(box, 'early'), ['early'])
  const kept = await box.host.act({ do: 'create_trigger', agent_id: 'early', label: 'more' })
  assert.ok(kept.ok)
})

test('an agent decided while the secret could not be read and stored when it could gets its trigger', async (t) => {
  const files = faultyFiles()
  const stored = Promise.withResolvers<void>()
  const deciding = Promise.withResolvers<void>()
  const over = (ledger: Ledger): Ledger => ({
    ...ledger,
    async commit(...changes) {
      if (changes.some(({ agent_id }) => agent_id === 'late')) {
        deciding.resolve()
        await stored.promise
      }
      return ledger.commit(...changes)
    },
  })
  const box = await openBox(t, { models, clock: virtualClock(), files, over })
  files.fault = 'denied'
  await box.host.open()
  const late = make(box, 'late')
  await deciding.promise
  files.fault = null
  await make(box, 'soon')
  stored.resolve()
  await late
  assert.deepEqual(await given(box, 'late'), ['late', 'soon'])
  await restStays(t, box)
})

test('a host that is closed looks at no secret any more', async (t) => {
  const files = faultyFiles()
  const clock = virtualClock()
  const box = await openBox(t, { models, clock, files })
  files.fault = 'denied'
  await box.host.open()
  assert.notEqual(clock.nextDue(), null)
  await box.close()
  assert.equal(clock.nextDue(), null)
})
