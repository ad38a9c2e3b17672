/**
 * A hostile machine: `npm run hostile [-- --part flips|disk|clock] [--flips 1000] [--seed 1]
 * [--step 1]`. Bits that flip in the files of a home, a disk that is full at each of its sizes, a
 * wall clock that jumps. The figures come last; it exits 1 when something should not be.
 */
import { parseArgs } from 'node:util'
import { randomOf } from '../soak/random.ts'
import { bitFlips } from './bit-flips.ts'
import { clockJumps } from './clock-jumps.ts'
import { diskFull } from './disk-full.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    flips: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    /** Every n-th commit at which the clock jumps, and as many times 8 KiB of the disk. */
    step: { type: 'string', default: '3' },
  },
})
const step = Number(values.step)
const problems: string[] = []
const figures: string[] = []
const wanted = (part: string): boolean => (values.part ?? part) === part

if (wanted('flips')) {
  const done = await bitFlips(Number(values.flips), randomOf(Number(values.seed), 'flips'))
  problems.push(...done.problems)
  console.table(done.by)
  figures.push(`${done.flips} bits flipped, ${done.problems.length} in silence or unforeseen`)
}
if (wanted('disk')) {
  if (process.platform === 'linux' && process.getuid?.() === 0) {
    const done = await diskFull(step * 8)
    problems.push(...done.problems)
    figures.push(
      `${done.runs} sizes of a full disk, ${done.stopped} runs stopped and went on with room, ` +
        `${done.problems.length} problems`,
    )
  } else figures.push('SKIPPED, nothing was shown: a full disk needs Linux and root, to mount one')
}
if (wanted('clock')) {
  const done = await clockJumps(step)
  problems.push(...done.problems)
  figures.push(`${done.runs} jumps of the clock by a day, ${done.problems.length} problems`)
}
for (const problem of problems) console.log(`problem: ${problem}`)
for (const figure of figures) console.log(figure)
process.exit(problems.length === 0 ? 0 : 1)
