/**
 * SQLite as this ledger uses it: how a file is opened, and the Kysely dialect over node:sqlite.
 *
 * Promises: a commit is on the disk when it resolves (WAL with synchronous=FULL: NORMAL loses
 * acknowledged rows at a power cut); one connection runs one transaction at a time; statements are
 * compiled once. node:sqlite is synchronous, so nothing slow may stand inside a transaction.
 */
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { LedgerFault } from '../port.ts'
import type { Database } from './schema.ts'

/** Older ones can lose a WAL that is being reset while it is read. */
const oldestSqlite = [3, 51, 3] as const

/** Milliseconds one connection waits for a lock; only checkpoints and recoveries take one. */
const patience = 2_000

/**
 * Bytes of a page of a new database; one that is there keeps its own. A commit appends every page
 * that it changes to the log, whole, and of most of them it changes a line: smaller pages are a
 * third of the bytes for each round of an agent. Smaller ones still would split most rows.
 */
const pageBytes = 1_024

/**
 * Bytes of the log after which it is written back into the database. More is a longer look at the
 * log by the start after a kill; less writes back the pages that change all the time more often.
 */
const logBytes = 4 * 1_024 * 1_024

/** Bytes of the log that stay on the disk when it was written back, after a long reader. */
const keptLogBytes = 64 * 1_024 * 1_024

/** Statements kept compiled; the ledger has about a hundred, `in` lists make some more. */
const statementsKept = 256

export function assertSqlite(version: string): void {
  const parts = version.split('.').map(Number)
  const differing = oldestSqlite.findIndex((least, i) => least !== (parts[i] ?? 0))
  if (differing === -1 || (parts[differing] ?? 0) > (oldestSqlite[differing] ?? 0)) return
  throw new LedgerFault(
    'old_sqlite',
    `SQLite ${version} can lose committed work; ${oldestSqlite.join('.')} or newer is needed: ` +
      'run holon with its own Node',
    'never',
  )
}

export type OpenMode = 'write' | 'read'

export const databasePath = (home: string): string => join(home, 'ledger', 'ledger.sqlite')

/** Opens the file, which must exist. The caller closes it. */
export function openDatabase(path: string, mode: OpenMode): DatabaseSync {
  const database = new DatabaseSync(path, {
    readOnly: mode === 'read',
    timeout: patience,
    enableForeignKeyConstraints: false,
    enableDoubleQuotedStringLiterals: false,
  })
  try {
    assertSqlite(textOf(database, 'select sqlite_version() as value'))
    // A mapped file turns a failing disk into a signal that kills the process.
    database.exec('pragma mmap_size = 0')
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/** How the owner writes; after the schema was looked at, because the first line writes. */
export function setDurability(database: DatabaseSync): void {
  // Of a database that has pages it changes nothing.
  database.exec(`pragma page_size = ${pageBytes}`)
  database.exec('pragma journal_mode = wal')
  database.exec('pragma synchronous = full')
  const page = Number(database.prepare('pragma page_size').get()?.['page_size'])
  database.exec(`pragma wal_autocheckpoint = ${logBytes / page}`)
  database.exec(`pragma journal_size_limit = ${keptLogBytes}`)
}

export const schemaOf = (database: DatabaseSync): number =>
  Number(database.prepare('pragma user_version').get()?.['user_version'])

const textOf = (database: DatabaseSync, query: string): string =>
  String(database.prepare(query).get()?.['value'])

/** Kysely over an open database; `destroy` closes the database. */
export function kyselyOver(database: DatabaseSync, mode: OpenMode): Kysely<Database> {
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new NodeSqliteDriver(database, mode),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}

class NodeSqliteDriver implements Driver {
  readonly #database: DatabaseSync
  readonly #connection: NodeSqliteConnection
  readonly #mode: OpenMode
  /** Settles when the last one in line has released the connection. */
  #line: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(database: DatabaseSync, mode: OpenMode) {
    this.#database = database
    this.#connection = new NodeSqliteConnection(database)
    this.#mode = mode
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#line
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#line = promise
    await before
    this.#release = resolve
    return this.#connection
  }

  async releaseConnection(): Promise<void> {
    this.#release()
  }

  /** `immediate` takes the write lock first: a transaction never fails halfway for want of it. */
  async beginTransaction(_: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const reads = this.#mode === 'read' || settings.accessMode === 'read only'
    this.#connection.run(reads ? 'begin' : 'begin immediate')
  }

  async commitTransaction(): Promise<void> {
    this.#connection.run('commit')
  }

  /** After a full disk SQLite has rolled back by itself. */
  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) this.#connection.run('rollback')
  }

  async destroy(): Promise<void> {
    if (this.#database.isOpen) this.#database.close()
  }
}

type Prepared = { statement: StatementSync; answers: boolean }

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  run(sql: string): void {
    this.#prepare(sql).statement.run()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, answers } = this.#prepare(query.sql)
    const parameters = query.parameters as SQLInputValue[]
    if (answers) return { rows: statement.all(...parameters) as R[] }
    const { changes, lastInsertRowid } = statement.run(...parameters)
    return {
      rows: [],
      numAffectedRows: BigInt(changes),
      insertId: BigInt(lastInsertRowid),
    }
  }

  /** Row by row, with a statement of its own: the same query may run again meanwhile. */
  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const statement = this.#database.prepare(query.sql)
    const parameters = query.parameters as SQLInputValue[]
    for (const row of statement.iterate(...parameters)) yield { rows: [row as R] }
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    const prepared = { statement, answers: statement.columns().length > 0 }
    if (this.#prepared.size >= statementsKept) {
      const [oldest] = this.#prepared.keys()
      if (oldest !== undefined) this.#prepared.delete(oldest)
    }
    this.#prepared.set(sql, prepared)
    return prepared
  }
}
