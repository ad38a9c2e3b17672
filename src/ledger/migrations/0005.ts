/**
 * Schema 5: rows as the fold of today makes them, with the fields that domain/state/upcast.ts gives
 * to what an earlier program stored; and the short forms of their ids, minted in the order of the
 * events. A column that is new is added in `columns`.
 */

const folded = ['briefs', 'decisions', 'slots']

const columns: readonly string[] = []

/** Which turns made or changed an item: what was said in them constrains it. */
const indexes = [
  `create index if not exists events_of_items on events (subject_id, turn_id)
    where subject_table = 'work_items' and turn_id is not null;`,
]

const shortIds = `
create table short_ids (
  agent_id text not null,
  kind     text not null,
  short    text not null,
  id       text not null,
  primary key (agent_id, kind, short)
) strict, without rowid;

create trigger short_ids_never_change before update on short_ids
begin select raise(abort, 'short ids never change'); end;
create trigger short_ids_never_go before delete on short_ids
begin select raise(abort, 'short ids are never deleted'); end;
`

/** Before the rows are folded again: the guards of rows that never change are off. */
export const before = [
  ...folded.map((table) => `drop trigger ${table}_never_change;`),
  ...columns,
  ...indexes,
  shortIds,
].join('\n')

/** After it they stand again. */
export const after = folded
  .map(
    (table) => `
create trigger ${table}_never_change before update on ${table}
begin select raise(abort, '${table} never change'); end;`,
  )
  .join('\n')
