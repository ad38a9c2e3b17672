/**
 * Homes as the program of schema 4 left them: the demonstration, ends of simulated runs and ends of
 * whole-system tests, chosen so that together they hold every event type and every noun in every
 * state that program could write. Kept compressed, as rows and files; the migrations of then, which
 * never change, make the tables.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { brotliDecompressSync } from 'node:zlib'
import { sql as first } from '../../ledger/migrations/0001.ts'
import { after, before } from '../../ledger/migrations/0002.ts'
import { sql as third } from '../../ledger/migrations/0003.ts'
import { sql as fourth } from '../../ledger/migrations/0004.ts'
import { databasePath } from '../../ledger/sqlite/sqlite.ts'

type Cell = string | number | null | { hex: string }
export type EarlierHome = {
  name: string
  tables: Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>
  files: Readonly<Record<string, { text: string } | { hex: string }>>
}

const path = join(import.meta.dirname, '../../../test/fixtures/homes-of-schema-4.json.br')
let homes: readonly EarlierHome[] | null = null

export function homesOfSchema4(): readonly EarlierHome[] {
  homes ??= JSON.parse(brotliDecompressSync(readFileSync(path)).toString()) as EarlierHome[]
  return homes
}

const bytesOf = (file: { text: string } | { hex: string }): Buffer =>
  'hex' in file ? Buffer.from(file.hex, 'hex') : Buffer.from(file.text)

/** Writes the home into a folder that is not there yet. */
export function writeEarlierHome(home: EarlierHome, folder: string): void {
  mkdirSync(join(folder, 'ledger', 'blobs'), { recursive: true, mode: 0o700 })
  for (const [name, file] of Object.entries(home.files)) {
    const at = join(folder, name)
    mkdirSync(dirname(at), { recursive: true, mode: 0o700 })
    writeFileSync(at, bytesOf(file), { mode: 0o600 })
  }
  const database = new DatabaseSync(databasePath(folder))
  database.exec('pragma journal_mode = wal')
  database.exec(`begin; ${first}; ${before}; ${after}; ${third}; ${fourth}`)
  for (const [table, rows] of Object.entries(home.tables)) {
    for (const row of rows) insert(database, table, row)
  }
  database.exec('pragma user_version = 4; commit')
  database.close()
}

function insert(database: DatabaseSync, table: string, row: Readonly<Record<string, Cell>>): void {
  const names = Object.keys(row)
  const places = names.map(() => '?').join(', ')
  const values = Object.values(row).map((cell): SQLInputValue =>
    cell !== null && typeof cell === 'object' ? Buffer.from(cell.hex, 'hex') : cell,
  )
  database.prepare(`insert into ${table} (${names.join(', ')}) values (${places})`).run(...values)
}
