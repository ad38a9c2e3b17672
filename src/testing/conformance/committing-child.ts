/**
 * A process that owns a home and commits until somebody kills it, printing each global seq after
 * its commit returned. The kill tests start it: `node committing-child.ts <home>`.
 */
import { writeSync } from 'node:fs'
import { openLedger } from '../../ledger/store/open.ts'
import { laneOf } from '../world/ledger-world.ts'
import { freshMint, itemCompleted, itemCreated, messageAdmitted } from '../events.ts'

const [, , home] = process.argv
if (home === undefined) throw new Error('usage: committing-child.ts <home>')
const ledger = await openLedger(home, { clock_now: () => Date.now(), mint: freshMint })
const lane = await laneOf(ledger)
const acknowledge = (seq: number) => writeSync(1, `${seq}\n`)
acknowledge(lane.facts.seq)
for (;;) {
  const item = itemCreated()
  await lane.emit(item, messageAdmitted({ work_item_id: item.id }), itemCompleted(item.id))
  acknowledge(lane.facts.seq)
}
