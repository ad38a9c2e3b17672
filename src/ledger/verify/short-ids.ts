/**
 * The short forms of ids as what they say they are: each row's is the shortest tail that no earlier
 * id had when the row was made, and it has no other. What an id that retention took was called is
 * never given again, so one whose row is gone counts as earlier.
 */
import { sql, type Kysely } from 'kysely'
import { shortKinds, tableOfShort, tailsOf, type ShortKind } from '../../domain/state/short-id.ts'
import type { Database } from '../sqlite/schema.ts'
import { mostProblems, type Report } from './report.ts'

/** Rows read with one query. */
const page = 1_000

type Minted = { born: number; agent_id: string; id: string }
/** Who has a tail; `born` is null where its row is gone. */
type Holder = { at: number; id: string; born: number | null }

export async function checkShortIds(db: Kysely<Database>, report: Report): Promise<void> {
  for (const kind of shortKinds) {
    const table = tableOfShort[kind] as 'work_items'
    for (let after = 0; ;) {
      const rows = await db
        .selectFrom(table)
        .select(['born', 'agent_id', 'id'])
        .where('born', '>', after)
        .orderBy('born')
        .limit(page)
        .execute()
      await checkPage(db, kind, rows, report)
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.born
    }
  }
  await strayForms(db, report)
}

/** Tail by tail, until each row has met its own. */
async function checkPage(
  db: Kysely<Database>,
  kind: ShortKind,
  rows: readonly Minted[],
  report: Report,
): Promise<void> {
  let open = rows.map((row) => ({ row, tails: tailsOf(row.id) }))
  for (let n = 0; open.length > 0; n += 1) {
    const asked = open.map(({ row, tails }) => ({ agent: row.agent_id, tail: tails[n] ?? '' }))
    const holders = await holdersOf(db, kind, asked)
    open = open.filter(({ row, tails }, at) => {
      const holder = holders.get(at)
      if (holder?.id === row.id) return false
      if (holder !== undefined && (holder.born === null || holder.born < row.born)) {
        return true
      }
      const of = `${tableOfShort[kind]} ${row.id}: its short form is not ${kind}_${tails[n] ?? ''}`
      report.add(holder === undefined ? of : `${of}, which a later id has`)
      return false
    })
  }
}

async function holdersOf(
  db: Kysely<Database>,
  kind: ShortKind,
  asked: readonly { agent: string; tail: string }[],
): Promise<ReadonlyMap<number, Holder>> {
  const { rows } = await sql<Holder>`
    select one.key as at, s.id, row.born
    from json_each(${JSON.stringify(asked)}) as one
      cross join short_ids as s on s.agent_id = one.value ->> 'agent' and s.kind = ${kind}
        and s.short = one.value ->> 'tail'
      left join ${sql.table(tableOfShort[kind])} as row on row.id = s.id`.execute(db)
  return new Map(rows.map((holder) => [holder.at, holder]))
}

/** A second form of an id, and one that is not its end. */
async function strayForms(db: Kysely<Database>, report: Report): Promise<void> {
  const { rows } = await sql<{ kind: string; short: string; id: string }>`
    select kind, max(short) as short, id from short_ids group by agent_id, kind, id
    having count(*) > 1 or substr(id, -length(short)) <> short limit ${mostProblems}`.execute(db)
  for (const { kind, short, id } of rows) {
    report.add(`short_ids ${kind}_${short}: it is not the one short form of ${id}`)
  }
}
