import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Kysely, type CompiledQuery } from 'kysely'
import { readEvents, readLastGlobalSeq } from './events.ts'
import { readMessageByKey } from './inbox.ts'
import { readLive } from './live.ts'
import { migrate } from './migrations/migrate.ts'
import { readRoundsAbout, readRoundsOfTurn } from './rounds.ts'
import { readIdsLike, readList } from './rows.ts'
import type { Database } from './schema.ts'
import { kyselyOver } from './sqlite.ts'

/** Every step SQLite would take for the queries of `body`, on a store with an open turn. */
async function plansOf(body: (db: Kysely<Database>) => Promise<unknown>): Promise<string[]> {
  const database = new DatabaseSync(':memory:')
  migrate(database, 0)
  database.exec(`
    insert into events values (1, 'evt_1', 'main', 1, '', '', 1, '', '', null, null, null, '');
    insert into agents values (1, 'main', 'active', '{}');
    insert into turns values (2, 'turn_1', 'main', null, 'open', '{"id":"turn_1","input_cut":1}');
    insert into rounds values (3, 'turn_1:1', 'main', 'turn_1', 'work_1', 'recorded',
      '{"id":"turn_1:1"}');
  `)
  const asked: CompiledQuery[] = []
  const logging = kyselyOver(database, 'write').withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => result,
  })
  const executor = logging.getExecutor()
  const compile = executor.compileQuery.bind(executor)
  executor.compileQuery = (...given) => {
    const query = compile(...given)
    asked.push(query)
    return query
  }
  await body(logging)
  const plans = asked.flatMap(({ sql, parameters }) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all(...(parameters as string[]))
      .map(({ detail }) => String(detail)),
  )
  database.close()
  return plans
}
