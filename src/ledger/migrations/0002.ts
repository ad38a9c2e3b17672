/**
 * Schema 2: triggers, deliveries, schedules, slots, receipts and snoozes; the hash chain; a floor
 * below which retention has taken the events; and what is spent, by column.
 *
 * What schema 1 forbade for ever, deleting, is now allowed to retention, and the store still says
 * what it may never take: an event above the floor, the last event of an agent, a row whose last
 * event is kept, a row that has not ended, a result.
 */

const newTables = `
alter table meta add column pruned_global_seq integer not null default 0;
alter table events add column hash text not null default '';

create table floors (
  agent_id   text primary key,
  seq        integer not null,
  global_seq integer not null,
  at         text not null,
  hash       text not null
) strict;

create table baselines (
  born          integer primary key,
  changed       integer not null,
  agent_id      text not null,
  subject_table text not null,
  subject_id    text not null,
  data          text not null,
  unique (subject_table, subject_id)
) strict;

create table spent (
  agent_id            text not null,
  day                 text not null,
  work_item_id        text not null,
  requests            integer not null,
  unpriced            integer not null,
  input_tokens        integer not null,
  output_tokens       integer not null,
  cached_input_tokens integer not null,
  cache_write_tokens  integer not null,
  reasoning_tokens    integer not null,
  usd                 real,
  primary key (agent_id, day, work_item_id)
) strict;

alter table rounds add column day text;
alter table rounds add column input_tokens integer;
alter table rounds add column output_tokens integer;
alter table rounds add column cached_input_tokens integer;
alter table rounds add column cache_write_tokens integer;
alter table rounds add column reasoning_tokens integer;
alter table rounds add column usd real;

create table triggers (
  born         integer primary key,
  changed      integer not null default 0,
  id           text not null unique,
  agent_id     text not null,
  status       text not null check (status in ('active', 'revoked')),
  token_sha256 text not null unique,
  data         text not null
) strict;

create table deliveries (
  born      integer primary key,
  changed   integer not null default 0,
  id        text not null unique,
  agent_id  text not null,
  status    text not null check (status in ('accepted', 'dead')),
  source    text,
  sender_id text,
  data      text not null
) strict;

create table schedules (
  born     integer primary key,
  changed  integer not null default 0,
  id       text not null unique,
  agent_id text not null,
  status   text not null check (status in ('active', 'paused', 'ended', 'removed')),
  data     text not null
) strict;

create table slots (
  born        integer primary key,
  changed     integer not null default 0,
  id          text not null unique,
  agent_id    text not null,
  schedule_id text not null,
  status      text not null check (status in ('fired', 'missed', 'skipped')),
  data        text not null
) strict;

create table receipts (
  born     integer primary key,
  changed  integer not null default 0,
  id       text not null unique,
  agent_id text not null,
  data     text not null
) strict;

create table snoozes (
  born     integer primary key,
  changed  integer not null default 0,
  id       text not null unique,
  agent_id text not null,
  until    text,
  data     text not null
) strict;
`

const firstTables = [
  'agents',
  'work_items',
  'waits',
  'messages',
  'turns',
  'rounds',
  'calls',
  'tasks',
  'briefs',
  'decisions',
  'pacing',
]

const changed = firstTables.map(
  (table) => `alter table ${table} add column changed integer not null default 0;`,
)

/** What lists, feeds and sums look for; each ends in the order it is read, which is `born`. */
const lookups = `
create index triggers_by_agent on triggers (agent_id);
create index triggers_by_status on triggers (agent_id, status);
create index deliveries_by_agent on deliveries (agent_id);
create index deliveries_by_status on deliveries (agent_id, status);
create index deliveries_by_sender on deliveries (agent_id, source, sender_id)
  where sender_id is not null;
create index deliveries_dead on deliveries (status) where status = 'dead';
create index schedules_by_agent on schedules (agent_id);
create index schedules_by_status on schedules (agent_id, status);
create index slots_by_agent on slots (agent_id);
create index slots_by_status on slots (agent_id, status);
create index slots_by_schedule on slots (schedule_id);
create index receipts_by_agent on receipts (agent_id);
create index snoozes_by_agent on snoozes (agent_id);
create index snoozes_by_until on snoozes (agent_id, until);
create index triggers_by_tail on triggers (substr(id, -4));
create index deliveries_by_tail on deliveries (substr(id, -4));
create index schedules_by_tail on schedules (substr(id, -4));
create index work_items_by_life on work_items (agent_id, state);
create index messages_by_kind on messages (agent_id, kind);
create index briefs_by_kind on briefs (agent_id, kind);
create index waits_everywhere on waits (status) where status = 'active';
create index tasks_everywhere on tasks (status);
create index rounds_by_cost on rounds (agent_id, day, work_item_id, input_tokens, output_tokens,
  cached_input_tokens, cache_write_tokens, reasoning_tokens, usd) where day is not null;
`

/** [table, the column that says how far a row is, its final values, what must never happen] */
const ends = [
  ['triggers', `'revoked'`, 'a revoked trigger never works again'],
  ['deliveries', `'accepted'`, 'an accepted delivery never dies'],
  ['schedules', `'removed'`, 'a removed schedule never comes back'],
] as const

const endsStay = [
  ...ends.map(
    ([table, final, never]) => `
create trigger ${table}_end before update of status on ${table}
when old.status = ${final} and new.status <> old.status
begin select raise(abort, '${never}'); end;`,
  ),
  `
create trigger schedules_end_once before update of status on schedules
when old.status = 'ended' and new.status not in ('ended', 'removed')
begin select raise(abort, 'an ended schedule never goes on'); end;
create trigger meta_floor_rises before update of pruned_global_seq on meta
when new.pruned_global_seq < old.pruned_global_seq
begin select raise(abort, 'the floor never sinks'); end;`,
]

const neverChange = (table: string) => `
create trigger ${table}_never_change before update on ${table}
begin select raise(abort, '${table} never change'); end;`

const neverDeleted = ['triggers', 'schedules', 'snoozes'].map(
  (table) => `
create trigger ${table}_never_go before delete on ${table}
begin select raise(abort, '${table} are never deleted'); end;`,
)

/** Of what retention may take, the rows that have not ended. */
const unfinished = {
  waits: `old.status = 'active'`,
  messages: `old.status in ('queued', 'claimed')`,
  turns: `old.state = 'open'`,
  rounds: 'false',
  calls: 'false',
  tasks: `old.status in ('queued', 'running', 'cancelling')`,
  briefs: `old.kind = 'result'`,
  decisions: 'false',
  deliveries: 'false',
  slots: 'false',
  receipts: 'false',
}

const goesAtTheEnd = Object.entries(unfinished).map(
  ([table, open]) => `
create trigger ${table}_go before delete on ${table}
when ${open} or exists (select 1 from events where global_seq = old.changed)
begin select raise(abort, '${table} that stand in kept events or go on are never deleted'); end;`,
)

const eventsGo = `
create trigger events_go before delete on events
when old.global_seq > (select pruned_global_seq from meta)
  or not exists (select 1 from events where agent_id = old.agent_id and seq > old.seq)
begin
  select raise(abort, 'events above the floor, and the last of an agent, are never deleted');
end;`

/** What stood for ever in schema 1 and now stands until retention. */
const guardsOfSchema1 = ['events', ...Object.keys(unfinished)]
  .filter((table) => table === 'events' || firstTables.includes(table))
  .map((table) => `drop trigger ${table}_never_go;`)

/** Before the rows are folded again: guards off, everything in place. */
export const before = [
  ...['events', 'briefs', 'decisions'].map((table) => `drop trigger ${table}_never_change;`),
  ...guardsOfSchema1,
  newTables,
  ...changed,
].join('\n')

/** After it: indexes are made once over what is there, and the guards stand again. */
export const after = [
  lookups,
  ...endsStay,
  ...['events', 'briefs', 'decisions', 'slots'].map(neverChange),
  ...neverDeleted,
  ...goesAtTheEnd,
  eventsGo,
].join('\n')
