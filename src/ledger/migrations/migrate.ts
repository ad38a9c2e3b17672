/**
 * Brings a store up to the schema of this program: the numbered steps that it lacks, in one
 * transaction together with the number: a kill leaves the store as it was or as it is to be.
 * Loaded only when the number of the store is not the number of the program.
 */
import type { DatabaseSync } from 'node:sqlite'
import { sql as first } from './0001.ts'
import { after as afterSecond, before as beforeSecond } from './0002.ts'
import { sql as third } from './0003.ts'
import { sql as fourth } from './0004.ts'
import { after as afterFifth, before as beforeFifth } from './0005.ts'
import { sql as sixth } from './0006.ts'
import { sql as seventh } from './0007.ts'
import { chainAll, foldAll, mintShortIds } from './refold.ts'

/** The n-th brings schema n to n + 1. */
const steps: readonly ((database: DatabaseSync) => void)[] = [
  (database) => database.exec(first),
  (database) => {
    database.exec(beforeSecond)
    chainAll(database)
    foldAll(database)
    database.exec(afterSecond)
  },
  (database) => database.exec(third),
  (database) => database.exec(fourth),
  (database) => {
    database.exec(beforeFifth)
    foldAll(database)
    mintShortIds(database)
    database.exec(afterFifth)
  },
  (database) => database.exec(sixth),
  (database) => database.exec(seventh),
]

/** `before_end` is called when all is written and nothing committed; what it throws undoes it. */
export function migrate(database: DatabaseSync, from: number, before_end?: () => void): void {
  database.exec('begin immediate')
  try {
    for (const step of steps.slice(from)) step(database)
    database.exec(`pragma user_version = ${steps.length}`)
    before_end?.()
    database.exec('commit')
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}
