/**
 * Preloaded into a daemon that is measured: notes when each database commit began and when it was
 * done, on the clock all processes share, and writes them to HOLON_BENCH_STAMPS at the end. The
 * product knows nothing of it.
 */
import { writeFileSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const stamps: [began_us: number, done_us: number][] = []
const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)

const original = Reflect.get(DatabaseSync.prototype, 'prepare')
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string, ...rest) {
  const statement: StatementSync = original.call(this, sql, ...rest)
  if (sql !== 'commit') return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    const began = nowUs()
    const done = run()
    stamps.push([began, nowUs()])
    return done
  }
  return statement
}

process.on('exit', () => {
  const path = process.env['HOLON_BENCH_STAMPS']
  if (path !== undefined) writeFileSync(path, JSON.stringify(stamps))
})
