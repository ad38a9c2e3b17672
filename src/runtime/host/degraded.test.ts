/** Degraded mode by itself: when it looks for room, and how it comes back. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { FileFault } from '../../exec/files/file-fault.ts'
import type { Files } from '../../exec/ports.ts'
import { ProcessFault } from '../../exec/commands/process-fault.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { minute, second } from '../../domain/time.ts'
import { LedgerFault } from '../../ledger/port.ts'
import { DegradedMode } from './degraded.ts'
import type { Shortage } from '../../ports/host.ts'
import { isShortage } from '../shortage.ts'

const full = new FileFault('disk_full', '/h/x', 'the disk is full')

/** A host on a disk that is full for so many looks, with the time of each; `during` is in each. */
function onDisk(t: TestContext, fullFor: number, during = () => {}) {
  const clock = virtualClock()
  const from = clock.now()
  const looks: number[] = []
  const told: (Shortage | null)[] = []
  const left = new Set<string>()
  const files = {
    write_atomic: async (path: string) => {
      looks.push(clock.now() - from)
      during()
      if (looks.length <= fullFor) throw full
      left.add(path)
    },
    remove: async (path: string) => void left.delete(path),
  } as unknown as Files
  const degraded = new DegradedMode({
    home: '/h',
    clock,
    files,
    changed: (now) => void told.push(now),
  })
  t.after(() => degraded.close())
  return { clock, degraded, looks, told, left }
}

const shortage = (retry_after_s: number): Shortage => ({
  code: 'disk_full',
  message: 'the disk is full',
  retry_after_s,
})

test('what waiting may end is a shortage, what it cannot is none', () => {
  const table: [unknown, boolean][] = [
    [full, true],
    [new FileFault('scarce', '/h/x', 'no descriptor is left'), true],
    [new FileFault('read_only', '/h/x', 'the file system is read-only'), false],
    [new FileFault('io', '/h/x', 'the system said EIO'), false],
    [new ProcessFault('scarce', 'no descriptor is left', 'later'), true],
    [new ProcessFault('spawner_failed', 'the spawner ended twice', 'later'), false],
    [new LedgerFault('io', 'the system is out of open files', 'later'), true],
    [new LedgerFault('corrupt', 'the ledger is damaged', 'never'), false],
    [new Error('a bug'), false],
  ]
  assert.deepEqual(
    table.map(([error]) => isShortage(error)),
    table.map(([, shortage]) => shortage),
  )
})

test('every look that finds no room is followed by another, rarer one, until there is room', async (t) => {
  const { clock, degraded, looks, told, left } = onDisk(t, 5)
  degraded.enter(full)
  await clock.advance(10 * minute)
  const at = [5, 15, 35, 75, 135, 195].map((seconds) => seconds * second)
  assert.deepEqual(looks, at)
  assert.deepEqual([told, degraded.now], [[shortage(5), null], null])
  assert.deepEqual([...left], [], 'a look leaves nothing behind')
})

test('who is closed during a look hears of no return', async (t) => {
  for (const fullFor of [0, 1]) {
    const { clock, degraded, looks, told } = onDisk(t, fullFor, () => degraded.close())
    degraded.enter(full)
    await clock.advance(10 * minute)
    assert.deepEqual([looks, told], [[5 * second], [shortage(5)]])
    assert.notEqual(degraded.now, null)
  }
})

test('a failure while it is degraded already changes nothing, and says when the next look is', async (t) => {
  const { clock, degraded, looks, told } = onDisk(t, 1)
  degraded.enter(full)
  await clock.advance(2 * second)
  degraded.enter(full)
  assert.deepEqual(degraded.now, shortage(3))
  await clock.advance(3 * second)
  assert.deepEqual([looks, told.length, degraded.now], [[5 * second], 1, shortage(10)])
})

test('who falls back within a minute waits twice as long, and no longer than a minute', async (t) => {
  const { clock, degraded, looks } = onDisk(t, 0)
  for (const pause of [5, 10, 20, 40, 60, 60]) {
    degraded.enter(full)
    assert.deepEqual(degraded.now, shortage(pause))
    await clock.advance(pause * second)
    assert.equal(degraded.now, null)
  }
  assert.equal(looks.length, 6)
  await clock.advance(minute)
  degraded.enter(full)
  assert.deepEqual(degraded.now, shortage(5), 'a minute later it is as at first')
})

test('a closed one looks no more', async (t) => {
  const { clock, degraded, looks } = onDisk(t, 9)
  degraded.enter(full)
  degraded.close()
  await clock.advance(10 * minute)
  degraded.enter(full)
  assert.deepEqual([looks, clock.nextDue()], [[], null])
})
