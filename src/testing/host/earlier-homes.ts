/**
 * Homes as the programs of earlier schemas left them: the demonstration, ends of simulated runs and
 * ends of whole-system tests, chosen so that together those of a schema hold every event type that
 * its program could write, and the nouns in their states. Kept compressed, as rows and files; the
 * migrations of then, which never change, make the tables.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { brotliDecompressSync } from 'node:zlib'
import { sql as first } from '../../ledger/migrations/0001.ts'
import { after as afterSecond, before as beforeSecond } from '../../ledger/migrations/0002.ts'
import { sql as third } from '../../ledger/migrations/0003.ts'
import { sql as fourth } from '../../ledger/migrations/0004.ts'
import { after as afterFifth, before as beforeFifth } from '../../ledger/migrations/0005.ts'
import { databasePath } from '../../ledger/sqlite/sqlite.ts'

type Cell = string | number | null | { hex: string }
export type EarlierHome = {
  schema: EarlierSchema
  name: string
  tables: Readonly<Record<string, readonly Readonly<Record<string, Cell>>[]>>
  files: Readonly<Record<string, { text: string } | { hex: string }>>
}

const ofSchema4 = [first, beforeSecond, afterSecond, third, fourth]
/** What makes the tables of each schema there are homes of. */
const tablesOf = {
  4: ofSchema4,
  5: [...ofSchema4, beforeFifth, afterFifth],
} as const satisfies Readonly<Record<number, readonly string[]>>
export type EarlierSchema = keyof typeof tablesOf
export const earlierSchemas: readonly EarlierSchema[] = [4, 5]

const fixtures = join(import.meta.dirname, '../../../test/fixtures')
const read = new Map<EarlierSchema, readonly EarlierHome[]>()

export function homesOfSchema(schema: EarlierSchema): readonly EarlierHome[] {
  const known = read.get(schema)
  if (known !== undefined) return known
  const bytes = readFileSync(join(fixtures, `homes-of-schema-${schema}.json.br`))
  const rows = JSON.parse(brotliDecompressSync(bytes).toString()) as Omit<EarlierHome, 'schema'>[]
  const homes = rows.map((home) => ({ ...home, schema }))
  read.set(schema, homes)
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
  database.exec(['begin', ...tablesOf[home.schema]].join(';\n'))
  for (const [table, rows] of Object.entries(home.tables)) {
    for (const row of rows) insert(database, table, row)
  }
  database.exec(`pragma user_version = ${home.schema}; commit`)
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
