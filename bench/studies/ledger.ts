/**
 * What the ledger costs when its history is long, by hand:
 * `node bench/studies/ledger.ts <folder> [events]`. Makes the home in the folder, or finds it
 * there, and prints the time of opening it, of each kind of page at first and when warm, of the
 * sums, and of upkeep. Upkeep works on a copy.
 */
import { cpSync, existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openLedger, openReader } from '../../src/ledger/store/open.ts'
import type { Ledger, LedgerReads } from '../../src/ledger/port.ts'
import { laneOf } from '../../src/testing/world/ledger-world.ts'
import { writeHistory } from '../fixtures/long-history.ts'
import { freshMint, messageAdmitted } from '../../src/testing/events.ts'

const [, , folder, asked] = process.argv
if (folder === undefined) throw new Error('usage: node bench/studies/ledger.ts <folder> [events]')
const events = Number(asked ?? 1_000_000)
const home = join(folder, `home-${events}`)
const times = 100

const ms = (value: number): string => value.toFixed(2).padStart(9)
const say = (what: string, ...values: (number | string)[]) =>
  console.log(what.padEnd(58), ...values.map((one) => (typeof one === 'number' ? ms(one) : one)))

async function timed<T>(body: () => Promise<T>): Promise<[number, T]> {
  const began = performance.now()
  const found = await body()
  return [performance.now() - began, found]
}

/** The first time, then the middle and the 95th of a hundred. */
async function measure(what: string, body: () => Promise<unknown>): Promise<void> {
  const [first] = await timed(body)
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await timed(body))[0])
  all.sort((a, b) => a - b)
  say(what, first, all[times / 2] ?? 0, all[Math.floor(times * 0.95)] ?? 0)
}

const open = (at: string): Promise<Ledger> =>
  openLedger(at, { clock_now: () => Date.now(), mint: freshMint })

async function reads(reader: LedgerReads): Promise<void> {
  const agent_id = 'agent-1'
  const { last } = await reader.eventRange(agent_id)
  const [oldest] = (await reader.page('calls', { agent_id, order: 'oldest', limit: 1 })).entries
  const newest = { agent_id, order: 'newest', limit: 50 } as const
  console.log(`${''.padEnd(58)}     first       p50       p95  ms`)
  await measure('live rows of an agent', () => reader.live(agent_id))
  for (const table of ['work_items', 'messages', 'turns', 'rounds', 'calls', 'briefs'] as const) {
    await measure(`newest 50 ${table} of an agent`, () => reader.page(table, newest))
  }
  await measure('oldest 50 calls of an agent', () =>
    reader.page('calls', { ...newest, order: 'oldest', after: oldest?.born ?? 0 }),
  )
  await measure('50 completed items of an agent', () =>
    reader.page('work_items', { ...newest, status: ['completed'] }),
  )
  await measure('50 items of an agent, either state', () =>
    reader.page('work_items', { ...newest, status: ['open', 'completed'] }),
  )
  await measure('50 results of an agent', () =>
    reader.page('briefs', { ...newest, kind: ['result'] }),
  )
  await measure('50 consumed messages of an agent', () =>
    reader.page('messages', { ...newest, status: ['consumed'] }),
  )
  await measure('running tasks of the home (there are none)', () =>
    reader.page('tasks', { order: 'newest', limit: 50, status: ['running'] }),
  )
  await measure('active waits of the home, 50', () =>
    reader.page('waits', { order: 'newest', limit: 50, status: ['active'] }),
  )
  await measure('100 events of the home from the middle', () =>
    reader.eventPage({ after: events / 2, limit: 100 }),
  )
  await measure('100 events of an agent from the middle', () =>
    reader.eventPage({ agent_id, after: Math.floor(last / 2), limit: 100 }),
  )
  await measure('100 events of an agent before the last', () =>
    reader.eventPage({ agent_id, before: last, limit: 100 }),
  )
  await measure('what the feed has', () => reader.eventRange(null))
  await measure('a trigger by a token nobody has', () => reader.triggerByToken('x'))
  await measure('counts of an agent', () => reader.counts(agent_id))
  await measure('counts of the home', () => reader.counts(null))
  await measure('spend of an agent by day', () => reader.spend({ by: ['day'], agent_id }))
  await measure('spend of the home by day', () => reader.spend({ by: ['day'] }))
  await measure('spend of the home by day, of ten days', () =>
    reader.spend({ by: ['day'], from: '2025-06-02', to: '2025-06-11' }),
  )
  await measure('spend of the home by agent', () => reader.spend({ by: ['agent'] }))
}

/** How long pragmas of a start would take on all pages. */
function checks(): void {
  const database = new DatabaseSync(join(home, 'ledger', 'ledger.sqlite'), { readOnly: true })
  for (const check of ['quick_check(1)', 'quick_check(1)', 'integrity_check(1)']) {
    const began = performance.now()
    database.prepare(`pragma ${check}`).get()
    say(`pragma ${check}`, performance.now() - began)
  }
  database.close()
}

async function upkeep(): Promise<void> {
  const copy = join(folder ?? '', 'copy')
  rmSync(copy, { recursive: true, force: true })
  cpSync(home, copy, { recursive: true })
  const reader = await openReader(copy)
  const [verified, { problems }] = await timed(() => reader.verify())
  say('verify', verified, `${problems.length} problems`)
  await reader.close()
  const ledger = await open(copy)
  const [backup] = await timed(() =>
    ledger.backup({ to: copy, now: '2026-01-01T00:00:00.000Z', with_secrets: false }),
  )
  say('backup by the owner', backup)
  const before = '2026-01-01T00:00:00.000Z'
  const [dry, counted] = await timed(() => ledger.retain({ before, dry_run: true }))
  say('retention, dry run', dry, `${counted.events} events, ${counted.bytes >> 20} MiB`)
  const lane = await laneOf(ledger, 'bystander')
  const clearing = { done: false }
  const waits: number[] = []
  const run = timed(() => ledger.retain({ before, dry_run: false })).finally(
    () => (clearing.done = true),
  )
  while (!clearing.done) {
    waits.push((await timed(() => lane.emit(messageAdmitted())))[0])
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const [took, taken] = await run
  waits.sort((a, b) => a - b)
  say('retention', took, `${taken.events} events`)
  say(
    `a commit beside it, of ${waits.length}: p50, p95, worst`,
    ...[0.5, 0.95].map((part) => waits[Math.floor(waits.length * part)] ?? 0),
    waits.at(-1) ?? 0,
  )
  const [again] = await timed(() => ledger.verify().then((report) => report.problems.length))
  say('verify after it', again)
  await ledger.close()
}

if (!existsSync(home)) {
  const [took, written] = await timed(() =>
    writeHistory(home, { events, agents: 100, open_items: 10_000 }),
  )
  say('writing the history', took, `${written} events`)
}
const file = join(home, 'ledger', 'ledger.sqlite')
say('size of the database', `${(statSync(file).size / 2 ** 20).toFixed(0)} MiB`)
for (let i = 0; i < 3; i++) {
  const [took, ledger] = await timed(() => open(home))
  say('opening it as its owner', took)
  await ledger.close()
}
const reader = await openReader(home)
await reads(reader)
await reader.close()
checks()
await upkeep()
