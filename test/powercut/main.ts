/**
 * Power cuts: `npm run powercut [-- --cuts 25] [--seed 1]`. A writer commits through the real
 * ledger on a file system in a file; at a random moment the disk is what was synced until then.
 * With FULL, as the ledger writes, no acknowledged commit may be gone; the control with NORMAL must
 * lose some, or the rig proves nothing. The figures come last; it exits 1 when either fails. Where
 * no disk can be mounted it says so and does nothing.
 */
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { randomOf } from '../soak/random.ts'
import { powerCut, type CutDone, type Sync } from './cuts.ts'
import { makeImage, newFolder, whyNot } from './disk.ts'

const { values } = parseArgs({
  options: { cuts: { type: 'string', default: '25' }, seed: { type: 'string', default: '1' } },
})
const cuts = Number(values.cuts)

async function series(folder: string, sync: Sync): Promise<CutDone[]> {
  const empty = makeImage(folder)
  const random = randomOf(Number(values.seed), sync)
  const done: CutDone[] = []
  for (let n = 1; n <= cuts; n += 1) {
    const one = await powerCut(folder, empty, sync, random)
    done.push(one)
    console.error(`${sync} ${n}: ${one.acknowledged} acknowledged, ${one.lost} lost`)
  }
  return done
}

const sum = (all: readonly CutDone[], name: 'acknowledged' | 'lost'): number =>
  all.reduce((total, one) => total + one[name], 0)

const reason = whyNot()
if (reason !== null) console.log(`SKIPPED, nothing was shown: ${reason}`)
else {
  const folder = newFolder()
  try {
    const full = await series(folder, 'full')
    const normal = await series(folder, 'normal')
    const problems = full.flatMap(({ problems }) => problems)
    for (const problem of problems) console.log(`problem: ${problem}`)
    // NORMAL promises a whole database too, only an older one.
    for (const { problems } of normal) for (const one of problems) console.log(`NORMAL: ${one}`)
    const lossy = normal.filter(({ lost }) => lost > 0).length
    const broken = full.filter(({ lost }) => lost > 0).length
    const shown = broken === 0 && problems.length === 0 && lossy > 0
    console.log(
      `FULL: ${cuts} cuts, ${sum(full, 'acknowledged')} commits acknowledged, ` +
        `${sum(full, 'lost')} lost, ${problems.length} problems; NORMAL, the control: ` +
        `${cuts} cuts, ${sum(normal, 'acknowledged')} acknowledged, ${sum(normal, 'lost')} lost ` +
        `in ${lossy} cuts${shown ? '' : ': this is not what is promised'}`,
    )
    process.exitCode = shown ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
