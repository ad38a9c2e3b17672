/**
 * The search index of a home: `ledger/search.sqlite`, full-text tables of SQLite in a file of their
 * own, so that no commit of the ledger waits for them. The tables hold words and places, no text.
 * Words that ever stood in a text are kept once each, to find those that have a part.
 *
 * Promises: what a batch says and how far it came are one transaction; a kill leaves the batch
 * before it; a file that is damaged or of another version is never answered from.
 */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { guarded } from '../sqlite/fault.ts'
import { createPrivate } from '../sqlite/owner.ts'
import { LedgerFault } from '../port.ts'
import { matchOf, matchOfScope, scopeOf, wordsOf } from './match.ts'
import type { IndexBatch, IndexEntry, IndexFound, IndexQuery, SearchIndex } from './port.ts'
import { wholesOf, type Term } from '../../domain/memory/words.ts'
import { openDatabase } from '../sqlite/sqlite.ts'

/** Raised when the tables or what stands in them change: an older index is made again. */
const version = 2

/** Matches of which the best are chosen, the newest: words that stand everywhere rank nothing. */
export const SEARCH_COMPETING = 1_000
/** Words that have what is looked for as a part, the shortest first: some must do. */
const SEARCH_INSIDE = 64
/** Words of a query that are looked for as a part: each goes over all that are kept. */
const SEARCH_PARTS = 4
/** Words that are kept for it, the first ones: they are gone over in 30 ms. */
const SEARCH_WHOLES = 200_000
/** Entries of one millisecond keep their order by that many further places. */
const placesOfOneMs = 1_024

const tables = `
create table if not exists progress (
  id integer primary key check (id = 1), state text not null
) strict;
create table if not exists entries (
  place integer primary key, agent_id text not null, ref text not null, kind text not null,
  at text not null, stamp text, unique (ref, agent_id)
) strict;
create index if not exists entries_files on entries (agent_id) where stamp is not null;
create table if not exists wholes (word text primary key) strict, without rowid;
create virtual table if not exists words using fts5(
  text, scope, content = '', contentless_delete = 1, prefix = '3 4 5',
  tokenize = "unicode61 remove_diacritics 2"
);`

export const searchPath = (home: string): string => join(home, 'ledger', 'search.sqlite')

/** Opens nothing yet: the first use does. The folder of the ledger must be there. */
export function searchIndexIn(home: string): SearchIndex {
  const opened = new Opened(searchPath(home))
  const during = <T>(doing: string, body: (open: Open) => T): Promise<T> =>
    guarded(doing, async () => {
      try {
        return body(opened.get())
      } catch (error) {
        if (!isDamage(error)) throw error
        const says = 'the search index is damaged: it is made again'
        throw new LedgerFault('corrupt', says, 'now', { cause: error })
      }
    })
  return {
    state: () => during('Reading the search index', stateIn),
    write: (batch) => during('Writing the search index', (open) => writeIn(open, batch)),
    find: (query) => during('Searching', (open) => findIn(open, query)),
    newest: (scope) => during('Searching', (open) => newestIn(open, scope)),
    stamps: (agent_id) =>
      during('Reading the search index', (open) => {
        const asked = 'select ref, stamp from entries where agent_id = ? and stamp is not null'
        const rows = open.all(asked, agent_id) as { ref: string; stamp: string }[]
        return new Map(rows.map(({ ref, stamp }) => [ref, stamp]))
      }),
    walk: (after, limit) =>
      during('Reading the search index', (open) => {
        const asked =
          'select place, agent_id, ref from entries where place > ? order by place limit ?'
        return open.all(asked, after, limit) as { place: number; agent_id: string; ref: string }[]
      }),
    stats: () =>
      during('Reading the search index', (open) => {
        const [row] = open.all('select count(*) as n from entries')
        const [size] = open.all(
          'select page_count * page_size as n from pragma_page_count, pragma_page_size',
        )
        return { entries: Number(row?.['n']), bytes: Number(size?.['n']) }
      }),
    reset: () => guarded('Making the search index anew', async () => opened.remove()),
    close: () => guarded('Closing the search index', async () => opened.close()),
  }
}

/** The file, opened at its first use and again after it was removed. */
class Opened {
  readonly #path: string
  #open: Open | null = null

  constructor(path: string) {
    this.#path = path
  }

  get(): Open {
    this.#open ??= new Open(this.#path)
    return this.#open
  }

  close(): void {
    const open = this.#open
    this.#open = null
    open?.database.close()
  }

  remove(): void {
    this.close()
    for (const end of ['', '-wal', '-shm']) rmSync(this.#path + end, { force: true })
  }
}

class Open {
  readonly database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()

  constructor(path: string) {
    if (!statSync(path, { throwIfNoEntry: false })) createPrivate(path)
    this.database = openDatabase(path, 'write')
    try {
      this.database.exec('pragma journal_mode = wal')
      // A lost power may take the last batches: they are found again by where the state stands.
      this.database.exec('pragma synchronous = normal')
      this.database.exec('pragma journal_size_limit = 16777216')
      this.database.exec('pragma cache_size = -8192')
      this.#reachVersion()
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  #reachVersion(): void {
    this.transaction(() => {
      const found = Number(this.database.prepare('pragma user_version').get()?.['user_version'])
      if (found === version) return
      const drop = ['words', 'wholes', 'entries', 'progress'].map(
        (name) => `drop table if exists ${name};`,
      )
      if (found !== 0) this.database.exec(drop.join('\n'))
      this.database.exec(tables)
      this.database.exec(`pragma user_version = ${version}`)
    })
  }

  transaction<T>(body: () => T): T {
    this.database.exec('begin immediate')
    try {
      const value = body()
      this.database.exec('commit')
      return value
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('rollback')
      throw error
    }
  }

  all(query: string, ...values: SQLInputValue[]): Record<string, unknown>[] {
    return this.#prepared(query).all(...values)
  }

  run(query: string, ...values: SQLInputValue[]): void {
    const statement = this.#prepared(query)
    // The full-text tables number pages of their own beyond what a number can hold, and the last
    // of these is read back as the row that was inserted.
    statement.setReadBigInts(true)
    statement.run(...values)
  }

  #prepared(query: string): StatementSync {
    const known = this.#statements.get(query) ?? this.database.prepare(query)
    this.#statements.set(query, known)
    return known
  }
}

function stateIn(open: Open): string | null {
  const [row] = open.all('select state from progress')
  return row === undefined ? null : String(row['state'])
}

function writeIn(open: Open, batch: IndexBatch): 'written' | 'conflict' {
  return open.transaction(() => {
    if (stateIn(open) !== batch.expected) return 'conflict'
    for (const key of batch.remove) take(open, key.agent_id, key.ref)
    for (const entry of batch.put) {
      take(open, entry.agent_id, entry.ref)
      put(open, entry)
    }
    const wholes = batch.put.flatMap((entry) => [...wholesOf(wordsOf(entry))])
    const words = JSON.stringify([...new Set(wholes)])
    const room = '(select count(*) from wholes) < ?'
    const kept = `insert or ignore into wholes select value from json_each(?) where ${room}`
    open.run(kept, words, SEARCH_WHOLES)
    open.run('insert or replace into progress (id, state) values (1, ?)', batch.state)
    return 'written'
  })
}

function take(open: Open, agent_id: string, ref: string): void {
  const asked = 'select place from entries where ref = ? and agent_id = ?'
  const [found] = open.all(asked, ref, agent_id)
  if (found === undefined) return
  const place = Number(found['place'])
  open.run('delete from words where rowid = ?', place)
  open.run('delete from entries where place = ?', place)
}

function put(open: Open, entry: IndexEntry): void {
  const { agent_id, ref, kind, at, stamp } = entry
  const place = freePlace(open, Date.parse(at))
  open.run('insert into entries values (?, ?, ?, ?, ?, ?)', place, agent_id, ref, kind, at, stamp)
  const words = 'insert into words (rowid, text, scope) values (?, ?, ?)'
  open.run(words, place, wordsOf(entry), scopeOf(entry))
}

/** Places go by time, so that the newest matches are the last of the index. */
function freePlace(open: Open, ms: number): number {
  const asked = 'select max(place) as last from entries where place between ? and ?'
  for (let from = ms * placesOfOneMs; ; from += placesOfOneMs) {
    const to = from + placesOfOneMs - 1
    const last = open.all(asked, from, to)[0]?.['last'] ?? null
    if (last === null) return from
    if (Number(last) < to) return Number(last) + 1
  }
}

const competing = 'select rowid from words where words match ? order by rowid desc limit ?'
/** Entries are looked up once it is known which of them are shown. */
const best = `
select entries.agent_id, entries.ref, entries.kind, entries.at from (
  select place, score from (
    select rowid as place, bm25(words, 1.0, 0.0) as score from words
    where words match ? order by rowid desc limit ${SEARCH_COMPETING}
  ) order by score, place desc limit ?
) as found join entries on entries.place = found.place
order by found.score, found.place desc`

function findIn(open: Open, query: IndexQuery): IndexFound[] {
  const terms = query.match === 'all' ? query.terms : rareOf(open, query)
  const parts = terms.filter(({ reach }) => reach === 'part').slice(0, SEARCH_PARTS)
  const match = matchOf({ ...query, terms }, (term) =>
    parts.includes(term) ? insideOf(open, term) : [],
  )
  return open.all(best, match, query.limit) as IndexFound[]
}

function insideOf(open: Open, { words }: Term): string[] {
  const asked =
    'select word from wholes where instr(word, ?) > 1 order by length(word), word limit ?'
  return open.all(asked, words[0] ?? '', SEARCH_INSIDE).map(({ word }) => String(word))
}

/** Places go by time, so these are the last of the index. */
function newestIn(open: Open, scope: Omit<IndexQuery, 'terms' | 'match'>): IndexFound[] {
  const match = matchOfScope(scope)
  const named = 'select agent_id, ref, kind, at from entries'
  if (match === null) {
    // As `matchOfScope` would leave out what is no agent's.
    const all = `${named} where agent_id not glob '/*' order by place desc limit ?`
    return open.all(all, scope.limit) as IndexFound[]
  }
  const query = `${named} where place in (${competing}) order by place desc`
  return open.all(query, match, scope.limit) as IndexFound[]
}

/** Of several words, any of which will do: words that stand everywhere would crowd out the rest. */
function rareOf(open: Open, query: IndexQuery): IndexQuery['terms'] {
  const rare = query.terms.filter((term) => {
    const match = matchOf({ ...query, terms: [term] }, () => [])
    return open.all(competing, match, SEARCH_COMPETING).length < SEARCH_COMPETING
  })
  return rare.length > 0 ? rare : query.terms
}

/** CORRUPT and NOTADB; and a table that is not as this version made it. */
function isDamage(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  const code = Number(error.errcode) & 0xff
  return code === 11 || code === 26 || /no such (table|column)|malformed/.test(error.message)
}
