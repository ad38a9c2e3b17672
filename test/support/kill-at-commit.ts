/**
 * Preloaded into a real `holon run`: ends the process with SIGKILL just before or just after its
 * nth database commit, as HOLON_TEST_KILL says (`before:7`). The product knows nothing of it.
 */
import { DatabaseSync, type StatementSync } from 'node:sqlite'

const [when, nth] = (process.env['HOLON_TEST_KILL'] ?? ':0').split(':')
let commits = 0

const kill = (): void => {
  process.kill(process.pid, 'SIGKILL')
  // The signal ends the process before this returns; should it ever not, nothing goes on.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

const original = Reflect.get(DatabaseSync.prototype, 'prepare')
DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string, ...rest) {
  const statement: StatementSync = original.call(this, sql, ...rest)
  if (sql !== 'commit') return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    commits += 1
    if (when === 'before' && commits === Number(nth)) kill()
    const done = run()
    if (when === 'after' && commits === Number(nth)) kill()
    return done
  }
  return statement
}

process.on('exit', () => {
  if (process.env['HOLON_TEST_COUNT']) process.stderr.write(`\ncommits: ${commits}\n`)
})
