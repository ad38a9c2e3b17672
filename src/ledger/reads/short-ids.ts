/**
 * The short forms of ids: written in the commit that mints the id, read by both ends.
 */
import type { StatementSync } from 'node:sqlite'
import { sql, type CompiledQuery, type Kysely } from 'kysely'
import type { Event } from '../../domain/state/event.ts'
import { mintedBy, partsOfId, tailsOf } from '../../domain/state/short-id.ts'
import type { Database } from '../sqlite/schema.ts'

/** A row, unless another id has that short form. */
export const shortIdStatement = (db: Kysely<Database>): CompiledQuery =>
  db
    .insertInto('short_ids')
    .values({ agent_id: '', kind: '', short: '', id: '' })
    .onConflict((conflict) => conflict.doNothing())
    .compile()

/** Fixes the short form of the id that the event mints, if it mints one: the first that is free. */
export function writeShortId(statement: StatementSync, agent_id: string, event: Event): void {
  const kind = mintedBy(event)
  if (kind === null) return
  for (const tail of tailsOf(event.id)) {
    if (statement.run(agent_id, kind, tail, event.id).changes === 1) return
  }
  throw new Error(`all of ${event.id} is the short form of another id`)
}

/**
 * Short forms of an agent's ids, by the whole id; of another's ids there are none. The cross join
 * keeps SQLite from going through all ids of the agent.
 */
export async function readShortIds(
  db: Kysely<Database>,
  agent_id: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = ids.flatMap((id) => {
    const kind = partsOfId(id)?.kind
    return kind === undefined ? [] : tailsOf(id).map((tail) => ({ kind, tail, id }))
  })
  const { rows } = await sql<{ kind: string; short: string; id: string }>`
    select s.kind, s.short, s.id
    from json_each(${JSON.stringify(asked)}) as one
      cross join short_ids as s on s.agent_id = ${agent_id} and s.kind = one.value ->> 'kind'
        and s.short = one.value ->> 'tail' and s.id = one.value ->> 'id'`.execute(db)
  return new Map(rows.map(({ kind, short, id }) => [id, `${kind}_${short}`]))
}

/** The id of which this is the short form, exactly. */
export async function readIdOfShort(
  db: Kysely<Database>,
  agent_id: string,
  text: string,
): Promise<string | null> {
  const parts = partsOfId(text)
  if (parts === null) return null
  const found = await db
    .selectFrom('short_ids')
    .select('id')
    .where('agent_id', '=', agent_id)
    .where('kind', '=', parts.kind)
    .where('short', '=', parts.tail)
    .executeTakeFirst()
  return found?.id ?? null
}
