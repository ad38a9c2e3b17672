/**
 * The dry run of retention: counts what a run would take, by the same rules, from a snapshot on a
 * connection of its own. Reads all there is below the horizon, a page at a time.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { tables, type Rows, type Table } from '../../domain/state/event.ts'
import type { Timestamp } from '../../domain/time.ts'
import { blobRows, namedIn } from './blob-sweep.ts'
import { isFleeting, Open } from './rules.ts'
import { sizeOf } from './step.ts'
import type { HomeStore } from '../reads/home-store.ts'
import type { Tally } from './tally.ts'

/** Rows of one query. */
const page = 500

type Old = { global_seq: number; agent_id: string; at: Timestamp; data: string }
type Horizon = {
  /** Global seq of the last event below the horizon. */
  end: number
  /** Global seqs of the last events of agents: they stay. */
  last: ReadonlySet<number>
}

/** Answers where the floor would be; what would go is in the tally. */
export async function survey(
  { files, beside, now }: Pick<HomeStore, 'files' | 'beside'> & { now: number },
  before: Timestamp,
  tally: Tally,
): Promise<number> {
  const database = await beside()
  try {
    database.exec('begin')
    const named = new Set<string>()
    const horizon = await surveyEvents(database, before, named, tally)
    const open = new Open(database, now)
    for (const table of tables) {
      await surveyTable(database, { table, open, horizon, named }, tally)
    }
    await files.eachOld((sha256, bytes) => {
      if (!named.has(sha256)) tally.blob(bytes)
    })
    await surveyBlobRows(database, named, tally)
    return horizon.floor
  } finally {
    database.close()
  }
}

async function surveyEvents(
  database: DatabaseSync,
  before: Timestamp,
  named: Set<string>,
  tally: Tally,
): Promise<Horizon & { floor: number }> {
  const last = new Set(
    database
      .prepare(
        `select (select global_seq from events where agent_id = agents.id
          order by seq desc limit 1) as last from agents`,
      )
      .all()
      .map((row) => Number(row['last'])),
  )
  const meta = database.prepare('select pruned_global_seq as floor from meta').get()
  let floor = Number(meta?.['floor'] ?? 0)
  let end: number | null = null
  const next = database.prepare(
    'select global_seq, agent_id, at, data from events where global_seq > ? order by 1 limit ?',
  )
  for (let from = 0; ; await breathe()) {
    const events = next.all(from, page) as Old[]
    for (const event of events) {
      if (event.at >= before) end ??= from
      from = event.global_seq
      if (end === null && !last.has(from)) {
        floor = Math.max(floor, from)
        tally.event(sizeOf(event))
      } else {
        namedIn(event.data, named)
      }
    }
    if (events.length < page) return { end: end ?? from, last, floor }
  }
}

async function surveyBlobRows(
  database: DatabaseSync,
  named: ReadonlySet<string>,
  tally: Tally,
): Promise<void> {
  for (let from = 0; ; await breathe()) {
    const rows = blobRows(database, from, page)
    for (const { place, sha256, bytes } of rows) {
      from = place
      if (!named.has(sha256)) tally.blob(bytes)
    }
    if (rows.length < page) return
  }
}

type Kept = { table: Table; open: Open; horizon: Horizon; named: Set<string> }

async function surveyTable(
  database: DatabaseSync,
  { table, open, horizon: { end, last }, named }: Kept,
  tally: Tally,
): Promise<void> {
  const next = database.prepare(
    `select born, changed, data from ${table} where born > ? order by born limit ?`,
  )
  for (let from = 0; ; await breathe()) {
    const rows = next.all(from, page) as { born: number; changed: number; data: string }[]
    for (const { born, changed, data } of rows) {
      from = born
      const isGone = changed <= end && !last.has(changed)
      const isTaken =
        isGone && isFleeting(table) && open.isOver(table, JSON.parse(data) as Rows[never])
      if (isTaken) tally.row(table, data.length)
      else namedIn(data, named)
    }
    if (rows.length < page) return
  }
}
