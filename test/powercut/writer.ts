/**
 * A process that owns a home and writes until the power goes: `writer.ts <home> <full|normal>`.
 * Each commit is acknowledged on its output after it returned, with its number; every tenth has a
 * blob, half of them as a file, and a plan file that is written before it. `normal` is the control:
 * SQLite as most use it.
 */
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemFiles } from '../../src/exec/files/files.ts'
import { openLedger } from '../../src/ledger/store/open.ts'
import { laneOf } from '../../src/testing/world/ledger-world.ts'
import { freshMint, itemCompleted, itemCreated, messageAdmitted } from '../../src/testing/events.ts'

const [, , home = '', sync] = process.argv
if (sync === 'normal') {
  const exec = Reflect.get(DatabaseSync.prototype, 'exec')
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    exec.call(this, sql.replace('synchronous = full', 'synchronous = normal'))
  }
}
const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
const lane = await laneOf(ledger)
const plans = join(home, 'agents', 'main')
mkdirSync(plans, { recursive: true, mode: 0o700 })
const files = systemFiles()
for (let n = 1; ; n += 1) {
  const item = itemCreated()
  const message = messageAdmitted({ work_item_id: item.id, body: `number ${n}` })
  if (n % 10 !== 0) await lane.emit(item, message, itemCompleted(item.id))
  else {
    const text = `plan ${n}\n${'what to do\n'.repeat(n % 20 === 0 ? 200 : 7_000)}`
    const path = join(plans, `plan-${n}.md`)
    await files.write_atomic(path, new TextEncoder().encode(text), 0o600)
    const good_sha256 = lane.blob(text)
    const plan = { path, sha256: good_sha256, bytes: text.length, good_sha256 }
    const changed = { type: 'plan_changed', id: item.id, plan } as const
    await lane.emit(item, message, changed, itemCompleted(item.id))
  }
  writeSync(1, `${n}\n`)
}
