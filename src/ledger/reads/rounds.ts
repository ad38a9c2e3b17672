/**
 * Reading rounds with their calls: what a prompt is rebuilt from, and what a turn's page shows.
 */
import type { Kysely } from 'kysely'
import type { Rows } from '../../domain/state/event.ts'
import type { TurnId, WorkItemId } from '../../domain/ids.ts'
import { roundId } from '../../domain/state/turn.ts'
import type { RoundWithCalls } from '../port.ts'
import type { Database } from '../sqlite/schema.ts'

/** Calls of one round at most, so many of the newest are looked at for each round wanted. */
const callsOfRound = 32

/**
 * The `limit` newest recorded rounds about the item, oldest first: those whose request was about
 * it, and those of which a call made it, picked it, waited on it or changed it.
 */
export async function readRoundsAbout(
  db: Kysely<Database>,
  work_item_id: WorkItemId,
  limit: number,
): Promise<RoundWithCalls[]> {
  const own = db
    .selectFrom('rounds')
    .select('id')
    .where('work_item_id', '=', work_item_id)
    .where('state', '=', 'recorded')
    .orderBy('born', 'desc')
    .limit(limit)
  const called = db
    .selectFrom('calls')
    .select('round_id as id')
    .where('work_item_id', '=', work_item_id)
    .orderBy('born', 'desc')
    .limit(limit * callsOfRound)
  const found = await db
    .selectFrom('rounds')
    .select('data')
    .where((eb) => eb.or([eb('id', 'in', own), eb('id', 'in', called)]))
    .where('state', '=', 'recorded')
    .orderBy('born', 'desc')
    .limit(limit)
    .execute()
  return withCalls(db, found.toReversed())
}

/** All rounds of a turn, recorded or not, in order. */
export async function readRoundsOfTurn(
  db: Kysely<Database>,
  turn_id: TurnId,
): Promise<RoundWithCalls[]> {
  const found = await db
    .selectFrom('rounds')
    .select('data')
    .where('turn_id', '=', turn_id)
    .orderBy('born')
    .execute()
  return withCalls(db, found)
}

/** Ids asked for in one query. */
const chunk = 100

async function withCalls(
  db: Kysely<Database>,
  found: readonly { data: string }[],
): Promise<RoundWithCalls[]> {
  const all = found.map(({ data }) => ({
    round: JSON.parse(data) as Rows['rounds'],
    calls: [] as Rows['calls'][],
  }))
  const byRound = new Map<string, Rows['calls'][]>(all.map(({ round, calls }) => [round.id, calls]))
  const ids = [...byRound.keys()]
  for (let from = 0; from < ids.length; from += chunk) {
    const calls = await db
      .selectFrom('calls')
      .select('data')
      .where('round_id', 'in', ids.slice(from, from + chunk))
      .execute()
    for (const { data } of calls) {
      const call = JSON.parse(data) as Rows['calls']
      byRound.get(roundId(call.turn_id, call.round))?.push(call)
    }
  }
  for (const { calls } of all) calls.sort((a, b) => a.index - b.index)
  return all
}
