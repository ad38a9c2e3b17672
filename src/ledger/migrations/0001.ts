/**
 * Schema 1: the first. A migration is frozen once released; the next change is the next number.
 * What each column means is in ../schema.ts.
 *
 * Two rules live here and not in any caller, because a caller can be wrong: what ended stays
 * ended, and nothing appended is ever changed or removed.
 */

const rowTables = `
create table agents (
  born  integer primary key,
  id    text not null unique,
  state text not null check (state in ('active', 'stopped', 'deleted')),
  data  text not null
) strict;

create table work_items (
  born        integer primary key,
  id          text not null unique,
  agent_id    text not null,
  state       text not null check (state in ('open', 'completed')),
  changed_seq integer not null,
  data        text not null
) strict;

create table waits (
  born           integer primary key,
  id             text not null unique,
  agent_id       text not null,
  work_item_id   text,
  status         text not null check (status in ('active', 'resolved', 'cancelled')),
  wake           text not null,
  released_focus integer not null,
  focus_settled  integer not null,
  data           text not null
) strict;

create table messages (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  turn_id      text,
  status       text not null check (status in ('queued', 'claimed', 'consumed', 'aborted',
                 'failed', 'interjected', 'coalesced', 'dropped', 'dead')),
  kind         text not null,
  inbox_seq    integer not null,
  dedupe_key   text,
  data         text not null
) strict;

create table turns (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  state        text not null check (state in ('open', 'ended')),
  data         text not null
) strict;

create table rounds (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  turn_id      text not null,
  work_item_id text,
  state        text not null check (state in ('requested', 'recorded')),
  data         text not null
) strict;

create table calls (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  turn_id      text not null,
  round_id     text not null,
  work_item_id text,
  state        text not null check (state in ('recorded', 'started', 'finished')),
  data         text not null
) strict;

create table tasks (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  status       text not null check (status in ('queued', 'running', 'cancelling', 'completed',
                 'failed', 'cancelled', 'interrupted')),
  kind         text not null check (kind in ('command', 'child_agent')),
  data         text not null
) strict;

create table briefs (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  turn_id      text,
  kind         text not null,
  data         text not null
) strict;

create table decisions (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  data         text not null
) strict;

create table pacing (
  born     integer primary key,
  id       text not null unique,
  agent_id text not null,
  kind     text not null check (kind in ('item', 'agent')),
  data     text not null
) strict;
`

/** What the reads look for, and two rules that an index can keep: one open turn, one result. */
const lookups = `
create index work_items_by_state on work_items (agent_id, state, changed_seq);
create index waits_live on waits (agent_id) where status = 'active'
  or (status = 'resolved' and focus_settled = 0
    and (released_focus = 1 or (work_item_id is null and wake in ('timer', 'task_result'))));
create index waits_by_status on waits (agent_id, status);
create index waits_by_item on waits (work_item_id) where work_item_id is not null;
create index messages_by_status on messages (agent_id, status);
create unique index messages_by_inbox_seq on messages (agent_id, inbox_seq);
create index messages_by_item on messages (work_item_id) where work_item_id is not null;
create index messages_by_turn on messages (turn_id) where turn_id is not null;
create index messages_by_key on messages (agent_id, dedupe_key) where dedupe_key is not null;
create unique index turns_one_open on turns (agent_id) where state = 'open';
create index turns_by_item on turns (work_item_id) where work_item_id is not null;
create index rounds_by_turn on rounds (turn_id);
create index rounds_by_item on rounds (work_item_id, state) where work_item_id is not null;
create index calls_by_turn on calls (turn_id);
create index calls_by_round on calls (round_id);
create index calls_by_item on calls (work_item_id) where work_item_id is not null;
create index tasks_by_status on tasks (agent_id, status);
create index tasks_by_item on tasks (work_item_id) where work_item_id is not null;
create unique index briefs_one_result on briefs (work_item_id) where kind = 'result';
create index briefs_by_item on briefs (work_item_id) where work_item_id is not null;
create index briefs_by_turn on briefs (turn_id) where turn_id is not null;
create index decisions_by_item on decisions (work_item_id) where work_item_id is not null;
`

/**
 * Rows of one agent in the order they were made: what every list without a status reads. They come
 * before the others: where two indexes look as good, SQLite takes the one made later.
 */
const byAgent = [
  'work_items',
  'waits',
  'turns',
  'rounds',
  'calls',
  'tasks',
  'messages',
  'briefs',
  'decisions',
  'pacing',
].map((table) => `create index ${table}_by_agent on ${table} (agent_id);`)

/** Short ids (`work_7f3a`) are the last characters of an id. */
const byTail = [
  'work_items',
  'waits',
  'messages',
  'turns',
  'calls',
  'tasks',
  'briefs',
  'decisions',
].map((table) => `create index ${table}_by_tail on ${table} (substr(id, -4));`)

/** [table, the column that says how far a row is, its final values, what must never happen] */
const ends = [
  ['agents', 'state', ['deleted'], 'a deleted agent never comes back'],
  ['work_items', 'state', ['completed'], 'a completed work item never reopens'],
  ['waits', 'status', ['resolved', 'cancelled'], 'an ended wait never changes its status'],
  [
    'messages',
    'status',
    ['consumed', 'aborted', 'failed', 'interjected', 'coalesced', 'dropped', 'dead'],
    'a message in a final status never changes it',
  ],
  ['turns', 'state', ['ended'], 'an ended turn never reopens'],
  ['rounds', 'state', ['recorded'], 'a recorded round is never requested again'],
  ['calls', 'state', ['finished'], 'a finished call never runs again'],
  [
    'tasks',
    'status',
    ['completed', 'failed', 'cancelled', 'interrupted'],
    'an ended task never changes its status',
  ],
] as const

const endsStay = ends.map(
  ([table, column, final, never]) => `
create trigger ${table}_end before update of ${column} on ${table}
when old.${column} in (${final.map((value) => `'${value}'`).join(', ')})
 and new.${column} <> old.${column}
begin select raise(abort, '${never}'); end;`,
)

const neverChanged = (['events', 'briefs', 'decisions'] as const).map(
  (table) => `
create trigger ${table}_never_change before update on ${table}
begin select raise(abort, '${table} never change'); end;`,
)

const neverDeleted = ['meta', 'events', 'agents', 'work_items', 'waits', 'messages', 'turns']
  .concat(['rounds', 'calls', 'tasks', 'briefs', 'decisions', 'pacing'])
  .map(
    (table) => `
create trigger ${table}_never_go before delete on ${table}
begin select raise(abort, '${table} are never deleted'); end;`,
  )

export const sql = [
  `
create table meta (
  id         integer primary key check (id = 1),
  home_id    text not null,
  boot_epoch integer not null
) strict;

create table events (
  global_seq    integer primary key,
  id            text not null unique,
  agent_id      text not null,
  seq           integer not null,
  at            text not null,
  type          text not null,
  v             integer not null,
  subject_table text not null,
  subject_id    text not null,
  work_item_id  text,
  turn_id       text,
  causation_id  text,
  data          text not null,
  unique (agent_id, seq)
) strict;
create index events_by_agent on events (agent_id);
create index events_by_item on events (work_item_id) where work_item_id is not null;
`,
  rowTables,
  ...byAgent,
  lookups,
  ...byTail,
  ...endsStay,
  ...neverChanged,
  ...neverDeleted,
].join('\n')
