import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import { writerOf } from '../store/commit.ts'
import { readEventPage, readEventRange, readEvents, readLastGlobalSeq } from './events.ts'
import { readDeliveryBySender, readMessageByKey, readTriggerByToken } from './dedupe.ts'
import { readLive } from './live.ts'
import { migrate } from '../migrations/migrate.ts'
import { readList, readPage } from './pages.ts'
import { readRoundsAbout, readRoundsOfTurn } from './rounds.ts'
import { readIdsLike } from './rows.ts'
import { readIdOfShort, readShortIds } from './short-ids.ts'
import type { Database } from '../sqlite/schema.ts'
import { readCounts, readSpend } from './spend.ts'
import { kyselyOver } from '../sqlite/sqlite.ts'

type Asks = (db: Kysely<Database>, database: DatabaseSync) => unknown

/** The steps SQLite takes for the queries of `body`. */
async function stepsOf(body: Asks): Promise<string[]> {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  database.exec(`
    insert into meta values (1, 'home_1', 1, 0, 6);
    insert into events values (1, 'evt_1', 'main', 1, '', '', 1, '', '', null, null, null, '{}', '');
    insert into agents values (1, 'main', 'active', '{}', 1);
    insert into turns values (2, 'turn_1', 'main', null, 'open', '{"id":"turn_1","input_cut":1}',
      2);
    insert into rounds values (3, 'turn_1:1', 'main', 'turn_1', 'work_1', 'recorded',
      '{"id":"turn_1:1"}', null, null, null, null, null, null, null, 3);
  `)
  const asked = new Set<string>()
  const prepare = database.prepare.bind(database)
  database.prepare = (sql) => {
    asked.add(sql)
    return prepare(sql)
  }
  await body(kyselyOver(database, 'write'), database)
  const steps = [...asked]
    .filter((sql) => /select/i.test(sql))
    .flatMap((sql) => prepare(`explain query plan ${sql}`).all())
    .map(({ detail }) => String(detail))
  database.close()
  assert.ok(
    steps.some((step) => step.startsWith('SEARCH')),
    `no query was seen to search: ${steps.join(', ')}`,
  )
  return steps
}

test('what starts a turn is read by indexes only, however long the history is', async () => {
  const steps = await stepsOf((db) => readLive(db, 'main'))
  // What is left is how the parts are put together, and the one row of what was given.
  const walks = steps.filter(
    (step) => /^(SEARCH|SCAN)/.test(step) && !/given|subq|CONST/.test(step),
  )
  assert.deepEqual(walks, [
    'SEARCH last USING INDEX sqlite_autoindex_events_2 (agent_id=? AND seq=?)',
    'SEARCH events USING COVERING INDEX sqlite_autoindex_events_2 (agent_id=?)',
    'SEARCH agents USING INDEX sqlite_autoindex_agents_1 (id=?)',
    'SEARCH turns USING INDEX turns_one_open (agent_id=?) LEFT-JOIN',
    'SEARCH work_items USING INDEX work_items_by_life (agent_id=? AND state=?)',
    'SEARCH work_items USING INDEX work_items_by_state (agent_id=? AND state=? AND changed_seq<?)',
    'SEARCH work_items USING INDEX work_items_by_state (agent_id=? AND state=? AND changed_seq>?)',
    'SEARCH pacing USING INDEX sqlite_autoindex_pacing_1 (id=?)',
    'SEARCH work_items USING INDEX work_items_by_life (agent_id=? AND state=?)',
    'SEARCH meters USING INDEX sqlite_autoindex_meters_1 (id=?)',
    'SEARCH work_items USING INDEX work_items_by_life (agent_id=? AND state=?)',
    'SEARCH work_items USING INDEX work_items_by_state (agent_id=? AND state=? AND changed_seq<?)',
    'SEARCH work_items USING INDEX work_items_by_state (agent_id=? AND state=? AND changed_seq>?)',
    'SEARCH meters USING INDEX meters_reserved (agent_id=?)',
    'SEARCH waits USING INDEX waits_live (agent_id=?)',
    'SEARCH messages USING INDEX messages_by_status (agent_id=? AND status=?)',
    'SEARCH messages USING INDEX messages_by_inbox_seq (agent_id=? AND inbox_seq>?)',
    'SEARCH messages USING INDEX messages_by_turn (turn_id=?)',
    'SEARCH tasks USING INDEX tasks_by_status (agent_id=? AND status=?)',
    'SEARCH grants USING INDEX grants_by_status (agent_id=? AND status=?)',
    'SEARCH triggers USING INDEX triggers_by_status (agent_id=? AND status=?)',
    'SEARCH schedules USING INDEX schedules_by_status (agent_id=? AND status=?)',
    'SEARCH snoozes USING INDEX snoozes_by_until (agent_id=? AND until=?)',
    'SEARCH snoozes USING INDEX snoozes_by_until (agent_id=? AND until>?)',
    'SEARCH delegations USING INDEX delegations_by_agent (agent_id=? AND state=?)',
    'SEARCH worktrees USING INDEX worktrees_by_agent (agent_id=? AND state=?)',
    'SEARCH rounds USING INDEX rounds_by_turn (turn_id=?)',
    'SEARCH calls USING INDEX calls_by_turn (turn_id=?)',
  ])
})

test('a commit looks at the newest event and nothing older', async () => {
  const commit: Asks = (db, database) =>
    writerOf({ db, database, boot_epoch: 1, mint: () => 'evt_2' })([])
  // `meta` has one row.
  assert.deepEqual(await stepsOf(commit), [
    'SCAN meta',
    'SCALAR SUBQUERY 1',
    'SEARCH events',
    'SCALAR SUBQUERY 2',
    'SEARCH events USING COVERING INDEX sqlite_autoindex_events_2 (agent_id=?)',
    'SCALAR SUBQUERY 3',
    'SEARCH events USING INDEX sqlite_autoindex_events_2 (agent_id=?)',
    'SCALAR SUBQUERY 4',
    'SEARCH events USING INDEX sqlite_autoindex_events_2 (agent_id=?)',
  ])
})

test('every other read walks the index that was made for it', async () => {
  const newest = { order: 'newest', limit: 10 } as const
  const reads: [(db: Kysely<Database>) => Promise<unknown>, ...string[]][] = [
    [readLastGlobalSeq, 'SEARCH events'],
    [
      (db) => readRoundsOfTurn(db, 'turn_1'),
      'rounds_by_turn (turn_id=?)',
      'calls_by_round (round_id=?)',
    ],
    [
      (db) => readRoundsAbout(db, 'work_1', 10),
      'MULTI-INDEX OR',
      'INDEX 1',
      'LIST SUBQUERY 1',
      'rounds_by_item (work_item_id=? AND state=?)',
      'sqlite_autoindex_rounds_1 (id=?)',
      'INDEX 2',
      'LIST SUBQUERY 2',
      'calls_by_item (work_item_id=?)',
      'sqlite_autoindex_rounds_1 (id=?)',
      'USE TEMP B-TREE FOR ORDER BY',
      'calls_by_round (round_id=?)',
    ],
    [
      (db) => readMessageByKey(db, 'main', 'key', ''),
      'messages_by_key (agent_id=? AND dedupe_key=?)',
    ],
    [
      (db) => readIdsLike(db, 'work_items', 'work_7f3a', 'main'),
      'work_items_by_tail (<expr>=?)',
      'SEARCH work_items USING INDEX sqlite_autoindex_work_items_1 (id>? AND id<?)',
    ],
    [
      (db) => readIdOfShort(db, 'main', 'work_7f3a'),
      'SEARCH short_ids USING PRIMARY KEY (agent_id=? AND kind=? AND short=?)',
    ],
    [
      (db) => readShortIds(db, 'main', ['work_7f3a']),
      'SCAN one VIRTUAL TABLE INDEX 1:',
      'SEARCH s USING PRIMARY KEY (agent_id=? AND kind=? AND short=?)',
    ],
    [
      (db) => readEvents(db, { after: 5, limit: 10 }),
      'SEARCH events USING INTEGER PRIMARY KEY (rowid>?)',
    ],
    [
      (db) => readEvents(db, { after: 5, limit: 10, agent_id: 'main' }),
      'events_by_agent (agent_id=? AND rowid>?)',
    ],
    [
      (db) => readEvents(db, { after: 5, limit: 10, work_item_id: 'work_1' }),
      'events_by_item (work_item_id=? AND rowid>?)',
    ],
    [
      (db) => readList(db, 'work_items', { agent_id: 'main', limit: 10 }),
      'work_items_by_agent (agent_id=?)',
    ],
    [
      (db) => readList(db, 'messages', { agent_id: 'main', limit: 10 }),
      'messages_by_agent (agent_id=?)',
    ],
    [
      (db) => readList(db, 'messages', { turn_id: 'turn_1', limit: 10 }),
      'messages_by_turn (turn_id=?)',
    ],
    [
      (db) => readList(db, 'tasks', { agent_id: 'main', status: ['running'], limit: 10 }),
      'tasks_by_status (agent_id=? AND status=?)',
    ],
    [
      (db) => readList(db, 'work_items', { agent_id: 'main', status: ['open'], limit: 10 }),
      'work_items_by_life (agent_id=? AND state=?)',
    ],
    [
      (db) => readList(db, 'briefs', { work_item_id: 'work_1', limit: 10 }),
      'briefs_by_item (work_item_id=?)',
    ],
    [
      (db) => readList(db, 'briefs', { agent_id: 'main', before: 'brief_1', limit: 10 }),
      'sqlite_autoindex_briefs_1 (id=?)',
      'briefs_by_agent (agent_id=? AND rowid<?)',
    ],
    [
      (db) => readPage(db, 'messages', { ...newest, agent_id: 'main', after: 3 }),
      'messages_by_agent (agent_id=? AND rowid>?)',
    ],
    [
      (db) => readPage(db, 'briefs', { ...newest, agent_id: 'main', kind: ['reply'], before: 9 }),
      'briefs_by_kind (agent_id=? AND kind=? AND rowid<?)',
    ],
    [
      (db) =>
        readPage(db, 'work_items', {
          ...newest,
          agent_id: 'main',
          status: ['open', 'completed'],
          before: 9,
        }),
      'work_items_by_life (agent_id=? AND state=? AND rowid<?)',
    ],
    [
      (db) => readPage(db, 'tasks', { ...newest, status: ['running'] }),
      'tasks_everywhere (status=?)',
    ],
    [
      (db) => readPage(db, 'waits', { ...newest, status: ['active'] }),
      'waits_everywhere (status=?)',
    ],
    [
      (db) => readPage(db, 'deliveries', { ...newest, status: ['dead'] }),
      'deliveries_dead (status=?)',
    ],
    [
      (db) => readPage(db, 'turns', { ...newest, agent_id: 'main', status: ['open'] }),
      'turns_one_open (agent_id=?)',
    ],
    [
      (db) => readPage(db, 'slots', { ...newest, schedule_id: 'sched_1' }),
      'slots_by_schedule (schedule_id=?)',
    ],
    [
      (db) => readEventPage(db, { agent_id: 'main', after: 3, limit: 10 }),
      'sqlite_autoindex_events_2 (agent_id=? AND seq>?)',
    ],
    [
      (db) => readEventPage(db, { agent_id: 'main', before: 3, limit: 10 }),
      'sqlite_autoindex_events_2 (agent_id=? AND seq>? AND seq<?)',
    ],
    [
      (db) => readEventPage(db, { before: 3, limit: 10 }),
      'SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)',
    ],
    [
      (db) => readEventRange(db, 'main'),
      'sqlite_autoindex_floors_1 (agent_id=?)',
      'sqlite_autoindex_events_2 (agent_id=?)',
    ],
    [(db) => readTriggerByToken(db, 'abc'), 'sqlite_autoindex_triggers_2 (token_sha256=?)'],
    [
      (db) => readDeliveryBySender(db, 'main', 'github', 'id', ''),
      'deliveries_by_sender (agent_id=? AND source=? AND sender_id=?)',
    ],
    [
      (db) => readDeliveryBySender(db, null, 'github', 'id', ''),
      'deliveries_by_sender (agent_id=? AND source=? AND sender_id=?)',
      'USING INDEX sqlite_autoindex_agents_1 FOR IN-OPERATOR',
      'USE TEMP B-TREE FOR ORDER BY',
    ],
  ]
  for (const [read, ...expected] of reads) {
    const steps = await stepsOf(read)
    assert.deepEqual(
      steps.map((step, i) => (step.endsWith(expected[i] ?? '?') ? expected[i] : step)),
      expected,
    )
  }
})

test('counts and sums are read from indexes and not from rows', async () => {
  const walks = (steps: readonly string[], table: string) =>
    steps.flatMap((step) => (step.includes(` ${table} `) ? [step.replace(/^.* USING /, '')] : []))
  const counted = await stepsOf((db) => readCounts(db, 'main'))
  assert.deepEqual(
    ['work_items', 'waits', 'tasks', 'messages'].map((table) => walks(counted, table)[0]),
    [
      'COVERING INDEX work_items_by_life (agent_id=? AND state=?)',
      'COVERING INDEX waits_by_status (agent_id=? AND status=?)',
      'COVERING INDEX tasks_by_status (agent_id=? AND status=?)',
      'COVERING INDEX messages_by_status (agent_id=? AND status=?)',
    ],
  )
  const spent = await stepsOf((db) => readSpend(db, { by: ['day'], agent_id: 'main' }))
  assert.deepEqual(walks(spent, 'rounds'), ['COVERING INDEX rounds_by_cost (agent_id=? AND day>?)'])
  const today = { from: '2026-01-02', to: '2026-01-02' }
  const ofDays = await stepsOf((db) => readSpend(db, { by: ['agent'], ...today }))
  assert.deepEqual(walks(ofDays, 'rounds'), [
    'COVERING INDEX rounds_by_cost (agent_id=? AND day>? AND day<?)',
  ])
})
