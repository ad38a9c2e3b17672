/**
 * Schema 3: delegations, worktrees and meters; agents that were forked, and tasks that take input
 * or ask. The new fields are null or none in every row there is, and in the baselines rows are
 * folded on.
 */

const tables = `
create table delegations (
  born           integer primary key,
  changed        integer not null,
  id             text not null unique,
  agent_id       text not null,
  work_item_id   text,
  child_agent_id text not null unique,
  state          text not null
    check (state in ('active', 'completed', 'failed', 'cancelled', 'interrupted')),
  data           text not null
) strict;

create table worktrees (
  born     integer primary key,
  changed  integer not null,
  id       text not null unique,
  agent_id text not null,
  state    text not null check (state in ('planned', 'ready', 'kept', 'removed', 'discarded')),
  data     text not null
) strict;

create table meters (
  born     integer primary key,
  changed  integer not null,
  id       text not null unique,
  agent_id text not null,
  kind     text not null check (kind in ('item', 'agent')),
  reserved integer not null check (reserved in (0, 1)),
  data     text not null
) strict;

create index delegations_by_agent on delegations (agent_id, state);
create index delegations_by_item on delegations (work_item_id);
create index delegations_by_tail on delegations (substr(id, -4));
create index worktrees_by_agent on worktrees (agent_id, state);
create index meters_reserved on meters (agent_id) where reserved = 1;
create index worktrees_by_tail on worktrees (substr(id, -4));

create trigger delegations_end before update of state on delegations
when old.state <> 'active' and new.state <> old.state
begin select raise(abort, 'an ended delegation never goes on'); end;
create trigger delegations_never_go before delete on delegations
begin select raise(abort, 'delegations are never deleted'); end;
create trigger meters_never_go before delete on meters
begin select raise(abort, 'meters are never deleted'); end;
create trigger worktrees_never_go before delete on worktrees
begin select raise(abort, 'worktrees are never deleted'); end;
`

/** What the fold of the same events now says of rows that an earlier program folded. */
const fields = [
  `update agents set data = json_insert(data, '$.inherited_sha256', null);`,
  `update tasks set data = json_insert(data, '$.input', 'none', '$.asking', null);`,
  `update baselines set data = json_insert(data, '$.inherited_sha256', null)
    where subject_table = 'agents';`,
  `update baselines set data = json_insert(data, '$.input', 'none', '$.asking', null)
    where subject_table = 'tasks';`,
]

export const sql = [tables, ...fields].join('\n')
