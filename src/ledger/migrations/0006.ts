/**
 * Schema 6: a task may be held, before it is queued, and a yes may stand for longer than once. A
 * column's check is part of its table, which is therefore made anew with the rows as they are; its
 * guards and indexes are those it had, and what is held counts among what goes on. And a home knows
 * the schema it was made at: what an upgrade brings up to date was made before that was kept.
 */
const live = `'held', 'queued', 'running', 'cancelling'`
const ended = `'completed', 'failed', 'cancelled', 'interrupted'`

const grants = `
create table grants (
  born         integer primary key,
  changed      integer not null,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  status       text not null check (status in ('active', 'ended')),
  data         text not null
) strict;

create index grants_by_agent on grants (agent_id);
create index grants_by_status on grants (agent_id, status);
create index grants_by_tail on grants (substr(id, -4));

create trigger grants_end before update of status on grants
when old.status = 'ended' and new.status <> old.status
begin select raise(abort, 'an ended grant never holds again'); end;
create trigger grants_never_go before delete on grants
begin select raise(abort, 'grants are never deleted'); end;
`

const tasks = `
create table tasks_with_held (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  status       text not null check (status in (${live}, ${ended})),
  kind         text not null check (kind in ('command', 'child_agent')),
  data         text not null,
  changed      integer not null default 0
) strict;

insert into tasks_with_held (born, id, agent_id, work_item_id, status, kind, data, changed)
select born, id, agent_id, work_item_id, status, kind, data, changed from tasks;

drop table tasks;
alter table tasks_with_held rename to tasks;

create index tasks_by_agent on tasks (agent_id);
create index tasks_by_status on tasks (agent_id, status);
create index tasks_by_item on tasks (work_item_id) where work_item_id is not null;
create index tasks_by_tail on tasks (substr(id, -4));
create index tasks_everywhere on tasks (status);

create trigger tasks_end before update of status on tasks
when old.status in (${ended}) and new.status <> old.status
begin select raise(abort, 'an ended task never changes its status'); end;

create trigger tasks_go before delete on tasks
when old.status in (${live}) or exists (select 1 from events where global_seq = old.changed)
begin select raise(abort, 'tasks that stand in kept events or go on are never deleted'); end;

alter table meta add column made_at_schema integer not null default 0;
`

export const sql = tasks + grants
