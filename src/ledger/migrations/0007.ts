/**
 * Schema 7: a task may be a call of a tool, which the runtime carries out after a yes. A column's
 * check is part of its table, which is therefore made anew with the rows as they are.
 */
const live = `'held', 'queued', 'running', 'cancelling'`
const ended = `'completed', 'failed', 'cancelled', 'interrupted'`

export const sql = `
create table tasks_with_calls (
  born         integer primary key,
  id           text not null unique,
  agent_id     text not null,
  work_item_id text,
  status       text not null check (status in (${live}, ${ended})),
  kind         text not null check (kind in ('command', 'tool_call', 'child_agent')),
  data         text not null,
  changed      integer not null default 0
) strict;

insert into tasks_with_calls (born, id, agent_id, work_item_id, status, kind, data, changed)
select born, id, agent_id, work_item_id, status, kind, data, changed from tasks;

drop table tasks;
alter table tasks_with_calls rename to tasks;

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
`
