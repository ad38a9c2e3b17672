/**
 * The log of a killed owner: bits that flip in it are found, and what a cut leaves half done is
 * not.
 */
import assert from 'node:assert/strict'
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { laneOf } from '../../testing/world/ledger-world.ts'
import { openLedger } from '../store/open.ts'
import { freshMint, itemCreated, messageAdmitted } from '../../testing/events.ts'

const open = (home: string) =>
  openLedger(home, { clock_now: () => Date.parse('2026-01-02T03:04:05.000Z'), mint: freshMint })

const commits = 12
/** Of one page of the log, with what stands before it. */
const frameOf = (log: Buffer): number => 24 + log.readUInt32BE(8)

/**
 * A home as a kill leaves it, a copy of one that is open, and where each commit ends in its log.
 */
async function killed(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'holon-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [home, left] = [join(folder, 'home'), join(folder, 'left')]
  const ledger = await open(home)
  const lane = await laneOf(ledger)
  for (let n = 0; n < commits; n += 1) await lane.emit(itemCreated(), messageAdmitted())
  const last = await ledger.lastGlobalSeq()
  cpSync(join(home, 'ledger', 'ledger.sqlite'), join(left, 'ledger', 'ledger.sqlite'))
  cpSync(join(home, 'ledger', 'ledger.sqlite-wal'), join(left, 'ledger', 'ledger.sqlite-wal'))
  await ledger.close()
  const log = join(left, 'ledger', 'ledger.sqlite-wal')
  const bytes = readFileSync(log)
  const frameBytes = frameOf(bytes)
  const ends: number[] = []
  for (let at = 32; at + frameBytes <= bytes.length; at += frameBytes) {
    if (bytes.readUInt32BE(at + 4) > 0) ends.push(at + frameBytes)
  }
  assert.ok(ends.length > commits)
  return { left, log, last, ends, bytes, frameBytes }
}

const lastSeqOf = async (home: string): Promise<number> => {
  const ledger = await open(home)
  const last = await ledger.lastGlobalSeq()
  await ledger.close()
  return last
}

test('a bit that flipped in the log of a killed owner is refused, not forgotten', async (t) => {
  const { left, log, ends, bytes, frameBytes } = await killed(t)
  const places = [0, 4, 12, 17, 26, 24 + 9, frameBytes - 1]
  const frames = [32, ends[0] ?? 0, ends[3] ?? 0, (ends.at(-4) ?? 0) - frameBytes]
  for (const at of [
    1,
    9,
    20,
    27,
    ...frames.flatMap((from) => places.map((place) => from + place)),
  ]) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 16
    writeFileSync(log, flipped)
    await assert.rejects(open(left), { code: 'corrupt', message: /of its log is/ }, `byte ${at}`)
    assert.ok(readFileSync(log).equals(flipped), 'it is kept as it is')
  }
})

test('a log whose last commit is half done is no damage, and all before it is there', async (t) => {
  const { left, log, last, ends, bytes, frameBytes } = await killed(t)
  const [before = 0, end = 0] = ends.slice(-2)
  const cuts: [string, (file: Buffer) => void][] = [
    ['its last byte', (file) => file.fill(0, end - 1, end)],
    ['its first frame', (file) => file.fill(0, before, before + frameBytes)],
    ['all of it', (file) => file.fill(0, before, end)],
    ['a page in the middle', (file) => file.fill(7, before + 24, before + frameBytes)],
  ]
  const database = join(left, 'ledger', 'ledger.sqlite')
  const untouched = readFileSync(database)
  for (const [what, cut] of cuts) {
    const file = Buffer.from(bytes)
    cut(file)
    writeFileSync(database, untouched)
    writeFileSync(log, file)
    assert.equal(await lastSeqOf(left), last - 2, what)
  }
  writeFileSync(database, untouched)
  writeFileSync(log, bytes)
  truncateSync(log, end - 100)
  assert.equal(await lastSeqOf(left), last - 2, 'its end')
  writeFileSync(database, untouched)
  writeFileSync(log, bytes)
  assert.equal(await lastSeqOf(left), last, 'nothing of it')
  assert.ok(statSync(database).size > 0)
})
