import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import fc from 'fast-check'
import { timerTick } from '../../domain/state/provenance.ts'
import { createRedactor } from '../../domain/secrets/redact.ts'
import type { Event } from '../../domain/state/event.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { searchPath } from '../../ledger/search/search-index.ts'
import { type LedgerWorld } from '../../testing/world/ledger-world.ts'
import { indexedIn, memoryHome, type MemoryHome } from '../../testing/world/memory-home.ts'
import {
  briefDelivered,
  callFinished,
  callRecorded,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  roundRecorded,
  turnEnded,
  turnStarted,
} from '../../testing/events.ts'

/** What the index holds when it is made from nothing. */
async function fromNothing(box: MemoryHome): Promise<string[]> {
  await box.memory.close()
  for (const end of ['', '-wal', '-shm']) {
    if (statSync(searchPath(box.home) + end, { throwIfNoEntry: false })) {
      writeFileSync(searchPath(box.home) + end, '')
    }
  }
  const memory = box.again()
  await memory.settle()
  await memory.search(null, { query: 'x', kinds: null, agent_id: null, limit: 1 })
  await memory.close()
  return indexedIn(box.home)
}

function oneTurn(n: number): Event[] {
  const turn = turnStarted()
  const call = { ...callRecorded(turn.id, 1, 0), input: { path: `src/file${n}.ts` } }
  return [
    turn,
    requestSent(turn.id, 1),
    { ...roundRecorded(`${turn.id}:1`), parts: [{ type: 'text', text: `thought ${n}` }] },
    call,
    { type: 'call_started', id: call.id, intent: {}, task_id: null, work_item_id: null },
    callFinished(call.id),
    turnEnded(turn.id),
  ]
}

type Act =
  | 'item'
  | 'update'
  | 'complete'
  | 'brief'
  | 'message'
  | 'turn'
  | 'file'
  | 'search'
  | 'settle'
const acts: Act[] = [
  'item',
  'update',
  'complete',
  'brief',
  'message',
  'turn',
  'file',
  'search',
  'settle',
]

async function perform(
  box: MemoryHome,
  lane: LedgerWorld,
  act: Act,
  n: number,
  open: WorkItemId[],
): Promise<void> {
  const [first] = open
  switch (act) {
    case 'item': {
      const item = itemCreated({ objective: `objective ${n}` })
      open.push(item.id)
      return void (await lane.emit(item))
    }
    case 'update':
      if (first === undefined) return
      return void (await lane.emit({
        type: 'work_item_updated',
        id: first,
        by: 'agent',
        changed: { objective: `changed ${n}`, blocked_by: n % 2 === 0 ? `reason ${n}` : null },
      }))
    case 'complete':
      if (first === undefined) return
      open.shift()
      return void (await lane.emit(itemCompleted(first)))
    case 'brief':
      return void (await lane.emit(briefDelivered({ text: `brief parseConfig${n}` })))
    case 'message':
      return void (await lane.emit(
        messageAdmitted({ body: `message ${n}`, consumed_because: 'seen' }),
      ))
    case 'turn':
      return void (await lane.emit(...oneTurn(n)))
    case 'file':
      return box.file(lane.agent_id, `memory/${n % 3}.md`, `file ${n} ${'x'.repeat(n % 7)}`)
    case 'search':
      return void (await box.found(null, 'objective'))
    case 'settle':
      return box.memory.settle()
  }
}

test('an index that followed is the index made from nothing, whatever happened in whatever order', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...acts), { minLength: 1, maxLength: 40 }),
      async (all) => {
        const box = await memoryHome(t)
        const lanes = [await box.lane('main'), await box.lane('other')]
        const open: WorkItemId[][] = [[], []]
        for (const [n, act] of all.entries()) {
          const lane = lanes[n % 2]
          if (lane) await perform(box, lane, act, n, open[n % 2] ?? [])
        }
        await box.memory.settle()
        await box.found(null, 'anything')
        const followed = indexedIn(box.home)
        assert.deepEqual(followed, await fromNothing(box))
        assert.equal(statSync(searchPath(box.home)).mode & 0o777, 0o600)
      },
    ),
    { numRuns: 12 },
  )
})

test('a process killed while it indexes leaves an index that goes on, and ends as one made in one go', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  for (let n = 0; n < 120; n++)
    await lane.emit(...oneTurn(n), briefDelivered({ text: `brief ${n}` }))
  let killed = 0
  for (let batches = 1; ; batches += 1) {
    const script = join(import.meta.dirname, '../../testing/host/indexing-child.ts')
    const child = spawn(process.execPath, [script, box.home], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    let seen = 0
    let settled = false
    for await (const line of createInterface({ input: child.stdout })) {
      settled ||= line === 'settled'
      if (++seen === batches && !settled) child.kill('SIGKILL')
    }
    const [, signal] = await ended
    if (signal === 'SIGKILL') killed += 1
    else assert.ok(settled)
    if (settled) break
  }
  assert.ok(killed >= 3, `killed ${killed} times`)
  const goneOn = indexedIn(box.home)
  assert.deepEqual(goneOn, await fromNothing(box))
})

const damages: [what: string, damage: (path: string) => void][] = [
  ['is no database', (path) => writeFileSync(path, 'x'.repeat(8_192))],
  [
    'is cut in the middle',
    (path) => truncateSync(path, Math.floor(statSync(path).size / 2 / 4_096) * 4_096),
  ],
  ['is empty', (path) => writeFileSync(path, '')],
  [
    'has pages of rubbish',
    (path) => {
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 4_096)
      writeFileSync(path, bytes)
    },
  ],
  [
    'is of another version',
    (path) => {
      const database = new DatabaseSync(path)
      database.exec('pragma user_version = 99')
      database.close()
    },
  ],
  [
    'lacks a table',
    (path) => {
      const database = new DatabaseSync(path)
      database.exec('drop table words')
      database.close()
    },
  ],
]
for (const [what, damage] of damages) {
  test(`an index that ${what} is made again, and nothing is missing from the answer`, async (t) => {
    const box = await memoryHome(t)
    const lane = await box.lane('main')
    const brief = briefDelivered({ text: 'the needle' })
    await lane.emit(brief)
    for (let n = 0; n < 40; n++) await lane.emit(...oneTurn(n))
    await box.memory.settle()
    await box.memory.close()
    for (const end of ['-wal', '-shm']) {
      assert.equal(statSync(searchPath(box.home) + end, { throwIfNoEntry: false }), undefined)
    }
    damage(searchPath(box.home))
    const memory = box.again()
    const asked = { query: 'needle', kinds: null, agent_id: null, limit: 5 }
    const found = await memory.search('main', asked)
    assert.ok(found.ok)
    const { complete, hits } = found.answer
    assert.deepEqual([complete, hits.map(({ source_ref }) => source_ref)], [true, [brief.id]])
    await memory.settle()
    await memory.close()
    const again = indexedIn(box.home)
    assert.deepEqual(again, await fromNothing(box))
  })
}

test('what retention took is found no more at once, and leaves the index behind it', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  const turn = turnStarted()
  const call = { ...callRecorded(turn.id, 1, 0), input: { cmd: 'old walrus' } }
  await lane.emit(
    turn,
    requestSent(turn.id, 1),
    { ...roundRecorded(`${turn.id}:1`), parts: [{ type: 'text', text: 'walrus thoughts' }] },
    call,
    { type: 'call_started', id: call.id, intent: {}, task_id: null, work_item_id: null },
    callFinished(call.id),
    turnEnded(turn.id),
    messageAdmitted({ body: 'walrus?', consumed_because: 'answered' }),
  )
  await lane.emit(briefDelivered({ text: 'the last event stays' }))
  const before = await box.refs('main', 'walrus')
  assert.equal(before.length, 3)
  const taken = await box.ledger.retain({ before: '2026-06-01T00:00:00.000Z', dry_run: false })
  assert.ok((taken.rows.calls ?? 0) > 0, JSON.stringify(taken))
  assert.deepEqual(await box.refs('main', 'walrus'), [])
  const got = await box.memory.get('main', call.id, 'seed')
  assert.equal(!got.ok && got.code, 'source_not_found')
  await box.memory.settle()
  const swept = indexedIn(box.home)
  assert.ok(!swept.some((line) => line.includes('walrus')))
  assert.deepEqual(swept, await fromNothing(box))
})

test('an index that retention has overtaken is made again: what it missed is gone or in it', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  await box.memory.settle()
  const open = itemCreated({ objective: 'a narwhal stays open' })
  await lane.emit(open)
  for (let n = 0; n < 5; n++) await lane.emit(...oneTurn(n))
  await lane.emit(briefDelivered({ text: 'last' }))
  await box.ledger.retain({ before: '2026-06-01T00:00:00.000Z', dry_run: false })
  assert.deepEqual(await box.refs('main', 'narwhal'), [open.id])
})

test('an index of another ledger, or of a later state of this one, is not answered from', async (t) => {
  const [one, two] = [await memoryHome(t), await memoryHome(t)]
  for (const [box, word] of [
    [one, 'badger'],
    [two, 'ferret'],
  ] as const) {
    const lane = await box.lane('main')
    await lane.emit(briefDelivered({ text: word }))
    await box.memory.settle()
    await box.memory.close()
  }
  writeFileSync(searchPath(one.home), readFileSync(searchPath(two.home)))
  const memory = one.again()
  const found = async (query: string) => {
    const answer = await memory.search('main', { query, kinds: null, agent_id: null, limit: 5 })
    return answer.ok ? answer.answer.hits.length : answer.code
  }
  assert.deepEqual([await found('ferret'), await found('badger')], [0, 1])
})

test('two processes that index one home at once leave one index', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  for (let n = 0; n < 40; n++) await lane.emit(...oneTurn(n))
  const other = box.again()
  await Promise.all([box.memory.settle(), other.settle()])
  await lane.emit(briefDelivered({ text: 'and one more' }))
  await Promise.all([other.settle(), box.memory.settle()])
  await other.close()
  const both = indexedIn(box.home)
  assert.deepEqual(both, await fromNothing(box))
})

test('a record that changes again and again, with others between, is one entry as it is now', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  const items = Array.from({ length: 8 }, (_, n) => itemCreated({ objective: `born ${n}` }))
  await lane.emit(...items)
  for (let n = 0; n < 60; n++) {
    const { id } = items[n % items.length] ?? itemCreated()
    const changed = { objective: `changed number${n}` }
    await lane.emit({ type: 'work_item_updated', id, by: 'agent', changed }, ...oneTurn(n))
    await box.memory.settle()
  }
  assert.equal((await box.refs('main', 'changed')).length, items.length)
  assert.deepEqual(await box.refs('main', 'born'), [])
  const followed = indexedIn(box.home)
  assert.deepEqual(followed, await fromNothing(box))
})

const canaries = ['sk-canary-0aB9xY7zRaw', 'ghp_0123456789abcdefCANARY']

test('no secret is in the index or an answer, of rows or files from before it was known', async (t) => {
  const { redactor } = createRedactor()
  const box = await memoryHome(t, { redactor })
  const lane = await box.lane('main')
  const text = `before ${canaries.join(' between ')} after`
  const sha256 = lane.blob(text)
  const plan = { path: '/plan.md', sha256, bytes: text.length, good_sha256: sha256 }
  const message = messageAdmitted({ body: text, provenance: timerTick })
  await lane.emit(itemCreated({ objective: text, plan }), message)
  box.file('main', 'memory/keys.md', text)
  for (const [n, value] of canaries.entries()) {
    assert.deepEqual(redactor.register(`canary-${n}`, value), { ok: true })
  }
  const hits = await box.found('main', 'before')
  assert.equal(hits.length, 4)
  for (const { source_ref } of hits) {
    const got = await box.memory.get('main', source_ref, 'seed')
    assert.ok(got.ok && got.record.text.includes('{{secret:canary-0}}'), source_ref)
    for (const canary of canaries) assert.ok(!JSON.stringify(got).includes(canary))
  }
  await box.memory.close()
  const words = indexedIn(box.home).join('\n')
  const stored = ['', '-wal'].map((end) => {
    const path = searchPath(box.home) + end
    return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path).toString('latin1') : ''
  })
  const parts = canaries.flatMap((canary) => canary.toLowerCase().split(/[^a-z0-9]+/))
  for (const part of parts.filter((one) => one.length > 6)) {
    for (const all of [words, ...stored]) assert.ok(!all.toLowerCase().includes(part), part)
  }
})

test('a search that may wait no longer answers with what there is and says why it is not all', async (t) => {
  const box = await memoryHome(t)
  const lane = await box.lane('main')
  for (let n = 0; n < 30; n++) await lane.emit(...oneTurn(n))
  let now = 0
  const late = box.again({ clock: { monotonic: () => (now += 2_000), after: () => () => {} } })
  const asked = { query: 'thought', kinds: null, agent_id: null, limit: 5 }
  const found = await late.search('main', asked)
  assert.ok(found.ok)
  assert.deepEqual(
    [found.answer.complete, found.answer.incomplete_because],
    [false, 'the index is being made'],
  )
})
