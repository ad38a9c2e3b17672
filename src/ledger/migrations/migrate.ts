/**
 * Brings a store up to the schema of this program, one numbered step after the other, each in one
 * transaction together with its number: a kill leaves the store before a step or after it.
 * Loaded only when the number of the store is not the number of the program.
 */
import type { DatabaseSync } from 'node:sqlite'
import { sql as first } from './0001.ts'
import { after as afterSecond, before as beforeSecond } from './0002.ts'
import { sql as third } from './0003.ts'
import { sql as fourth } from './0004.ts'
import { chainAll, foldAll } from './refold.ts'

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
]

export function migrate(database: DatabaseSync, from: number): void {
  for (const [version, step] of steps.entries()) {
    if (version < from) continue
    database.exec('begin immediate')
    try {
      step(database)
      database.exec(`pragma user_version = ${version + 1}`)
      database.exec('commit')
    } catch (error) {
      if (database.isTransaction) database.exec('rollback')
      throw error
    }
  }
}
