/**
 * Conformance of `verify`: it says nothing about a healthy home, and finds each planted corruption.
 */
import assert from 'node:assert/strict'
import type { LedgerReads } from '../../ledger/port.ts'
import { schema } from '../../ledger/sqlite/schema.ts'
import type { Cases, ConformanceStore } from './case.ts'
import { LedgerWorld, laneOf } from '../world/ledger-world.ts'
import {
  agentCreated,
  itemCompleted,
  itemCreated,
  messageAdmitted,
  requestSent,
  turnStarted,
} from '../events.ts'

const item = itemCreated({ id: 'work_0001' })
const message = messageAdmitted({ id: 'msg_0001' })
const turn = turnStarted({ id: 'turn_0001' })
const plan = { path: 'plan.md', sha256: null, bytes: 4 }
const rename = (objective: string) =>
  ({ type: 'work_item_updated', id: item.id, by: 'agent', changed: { objective } }) as const

/** Nine events: 1 agent, 2 item, 3 message, 4 renamed, 5 renamed, 6 plan, 7 turn, 8 request, 9. */
async function healthy(
  store: ConformanceStore,
  home: string,
  texts = { plan: 'plan', opening: 'opening' },
): Promise<{ plan: string; opening: string }> {
  const ledger = await store.open(home)
  const lane = await laneOf(ledger)
  await lane.emit(item, message)
  await lane.emit(rename('water the roses'))
  await lane.emit(rename('water the lilies'))
  const good_sha256 = lane.blob(texts.plan)
  await lane.emit({ type: 'plan_changed', id: item.id, plan: { ...plan, good_sha256 } })
  const opening_sha256 = lane.blob(texts.opening)
  await lane.emit(turn, requestSent(turn.id, 1, { opening_sha256 }))
  await lane.emit(itemCompleted(item.id))
  assert.deepEqual(await ledger.verify(), { ok: true, events: 9, rows: 5, problems: [] })
  await ledger.close()
  return { plan: good_sha256, opening: opening_sha256 }
}

async function problemsOf(store: ConformanceStore, home: string): Promise<readonly string[]> {
  const reader: LedgerReads = await store.openReader(home)
  const { ok, problems } = await reader.verify()
  await reader.close()
  assert.equal(ok, problems.length === 0)
  return problems
}

/** What is done to the store, and the sentence that must be among what `verify` says. */
const planted: Readonly<Record<string, readonly [sql: string, found: RegExp]>> = {
  'a row edited by hand': [
    `update work_items set data = replace(data, 'lilies', 'tulips')`,
    /^work_items work_0001: differs .* objective \(stored ".* tulips", folded ".* lilies"\)$/,
  ],
  'a column that is not what its row says': [
    `update messages set status = 'claimed'`,
    /^messages msg_0001: differs .* column status \(stored "claimed", folded "queued"\)$/,
  ],
  'a field added to a row': [
    `update messages set data = replace(data, '"attempts":0', '"attempts":0,"extra":1')`,
    /^messages msg_0001: differs .* extra \(stored 1, folded nothing\)$/,
  ],
  'a row that is no JSON': [
    `update messages set data = '{'`,
    /^messages msg_0001: differs .* data, which is not JSON$/,
  ],
  'a row that was removed': [`delete from messages`, /^messages msg_0001: has events but no row$/],
  'a row that no event made': [
    `insert into decisions (born, changed, id, agent_id, data)
      values (4, 4, 'dec_1', 'main', '{}')`,
    /^decisions dec_1: a row that no event made$/,
  ],
  'an event dropped in the middle': [
    `delete from events where seq = 4`,
    /^events evt_\S+: seq 5 of main follows seq 3$/,
  ],
  'the gap it leaves in the global order': [
    `delete from events where seq = 4`,
    /^events: global_seq 5 follows 3, so something is missing$/,
  ],
  'the last event dropped': [
    `delete from events where seq = 9`,
    /^work_items work_0001: differs .* state \(stored "completed", folded "open"\)/,
  ],
  'the first event of a row dropped': [
    `delete from events where seq = 2`,
    /^work_items work_0001: seq 4 does not fold: work_item_updated before work_item_created/,
  ],
  'an event that is there twice': [
    `insert into events select 10, 'evt_copy', agent_id, 10, at, type, v, subject_table, subject_id,
      work_item_id, turn_id, causation_id, data, hash from events where seq = 5`,
    /^work_items work_0001: seq 10 does not fold: work_item_updated after the completion/,
  ],
  'an event edited by hand': [
    `update events set data = replace(data, 'lilies', 'tulips')`,
    /^work_items work_0001: differs .* objective /,
  ],
  'an event whose columns name another row': [
    `update events set subject_id = 'work_0002' where seq = 5`,
    /^events evt_\S+ \(seq 5 of main\): the columns name another event than the JSON$/,
  ],
  'an event that is no JSON': [
    `update events set data = '{' where seq = 5`,
    /^events evt_\S+ \(seq 5 of main\): the JSON cannot be read/,
  ],
  'an event of a kind nobody knows': [
    `update events set type = 'x', data = '{"type":"x","id":"y"}' where seq = 5`,
    /^events evt_\S+ \(seq 5 of main\): no such event as x$/,
  ],
  'an event that names no blob where one belongs': [
    `update events set data = replace(data, 'opening_sha256', 'openinh_sha256')`,
    /^rounds \S+: its blob undefined is missing$/,
  ],
  'an event whose row has lost a part': [
    `update events set data = replace(data, '"plan":', '"plax":')`,
    /^work_items work_0001: its events make no row of it: /,
  ],
  'time that goes back': [
    `update events set at = '2020-01-01T00:00:00.000Z' where seq = 5`,
    /^events evt_\S+: seq 5 of main is earlier than the one before it$/,
  ],
}

/** One changed character, or number, of the event with global seq 5. */
function flip(column: string, type: 'text' | 'integer' | 'real'): string {
  const changed =
    type === 'text'
      ? `iif(${column} is null, 'x',
          substr(${column}, 1, length(${column}) - 1)
            || iif(substr(${column}, -1) = 'x', 'y', 'x'))`
      : `${column} + 100`
  return `update events set ${column} = ${changed} where global_seq = 5`
}

export const verifyCases: Cases = {
  'one changed column of one event is enough for the chain to name the event': async (
    store,
    home,
  ) => {
    for (const [column, { type }] of Object.entries(schema.events.columns)) {
      const folder = `${home}/${column}`
      await healthy(store, folder)
      const sql = flip(column, type)
      await store.damage(folder, sql)
      const problems = await problemsOf(store, folder)
      // Where the name itself was changed, it is the changed name.
      const seq = column === 'seq' ? 105 : 5
      const agent = column === 'agent_id' ? 'maix' : 'main'
      const named = `: seq ${seq} of ${agent} was changed: its hash is not that of it and the one`
      assert.ok(
        problems.some((problem) => problem.startsWith('events evt_') && problem.includes(named)),
        `${sql}\n${problems.join('\n')}`,
      )
    }
  },

  ...Object.fromEntries(
    Object.entries(planted).map(([what, [sql, found]]) => [
      `verify finds ${what}`,
      async (store: ConformanceStore, home: string) => {
        await healthy(store, home)
        await store.damage(home, sql)
        const problems = await problemsOf(store, home)
        assert.ok(
          problems.some((problem) => found.test(problem)),
          `${found} is not among\n${problems.join('\n')}`,
        )
      },
    ]),
  ),

  'verify finds two events that changed places': async (store, home) => {
    await healthy(store, home)
    await store.damage(home, `update events set seq = 100 where seq = 4`)
    await store.damage(home, `update events set seq = 4 where seq = 5`)
    await store.damage(home, `update events set seq = 5 where seq = 100`)
    const problems = await problemsOf(store, home)
    assert.match(problems.join('\n'), /seq 5 of main has a lower global_seq than the one before it/)
    assert.match(problems.join('\n'), /work_items work_0001: differs/)
  },

  'verify finds blobs that are gone or hold other bytes': async (store, home) => {
    const large = { plan: 'plan '.repeat(20_000), opening: 'opening '.repeat(20_000) }
    const files = await healthy(store, `${home}/files`, large)
    await store.hurtBlob(`${home}/files`, files.plan, null)
    await store.hurtBlob(`${home}/files`, files.opening, 'something else')
    const rows = await healthy(store, `${home}/rows`)
    await store.damage(`${home}/rows`, `delete from blobs where sha256 = '${rows.plan}'`)
    await store.damage(`${home}/rows`, `update blobs set bytes = x'6f70656e696e66'`)
    for (const [folder, { plan, opening }] of [
      ['files', files],
      ['rows', rows],
    ] as const) {
      assert.deepEqual((await problemsOf(store, `${home}/${folder}`)).toSorted(), [
        `rounds turn_0001:1: its blob ${opening} is damaged`,
        `work_items work_0001: its blob ${plan} is missing`,
      ])
    }
  },

  'verify finds one flipped bit anywhere in a blob that is a row': async (store, home) => {
    for (const at of [0, 3, 6]) {
      const folder = `${home}/${at}`
      const { opening } = await healthy(store, folder)
      const bytes = Buffer.from('opening')
      bytes[at] = (bytes[at] ?? 0) ^ 4
      const hex = bytes.toString('hex')
      await store.damage(folder, `update blobs set bytes = x'${hex}' where sha256 = '${opening}'`)
      assert.deepEqual(await problemsOf(store, folder), [
        `rounds turn_0001:1: its blob ${opening} is damaged`,
      ])
    }
  },

  'verify finds that what a fork or an imported item came with is gone': async (store, home) => {
    const ledger = await store.open(home)
    const lane = new LedgerWorld(ledger, 'fork')
    const inherited_sha256 = lane.blob('inherited')
    const file_sha256 = lane.blob('the file of an item')
    const from = {
      agent_id: 'other',
      work_item_id: item.id,
      exported_at: '2026-01-01T00:00:00.000Z',
    }
    const came = itemCreated({ id: item.id, imported: { ...from, file_sha256 } })
    await lane.emit(agentCreated('fork', { inherited_sha256 }), came)
    await ledger.close()
    await store.damage(home, 'delete from blobs')
    const problems = await problemsOf(store, home)
    assert.deepEqual(problems, [
      `agents fork: its blob ${inherited_sha256} is missing`,
      `work_items work_0001: its blob ${file_sha256} is missing`,
    ])
  },

  'verify names a hundred problems and counts the others': async (store, home) => {
    const ledger = await store.open(home)
    const lane = await laneOf(ledger)
    await lane.emit(...Array.from({ length: 1_200 }, () => messageAdmitted()))
    await ledger.close()
    await store.damage(home, `update messages set data = replace(data, 'hello', 'hullo')`)
    const problems = await problemsOf(store, home)
    assert.equal(problems.length, 101)
    assert.equal(problems.at(-1), 'and 1100 more')
  },
}
