/**
 * A hostile machine: `npm run hostile [-- --part flips|disk|clock|limits] [--flips 1000] [--seed 1]
 * [--step 1] [--only "48 descriptors"]`. Bits that flip in the files of a home, a disk that is full
 * at each of its sizes, a wall clock that jumps, a daemon with few descriptors or a small heap. The
 * figure comes last; it exits 1 when something should not be.
 */
import { parseArgs } from 'node:util'
import { randomOf } from '../soak/random.ts'
import { bitFlips } from './bit-flips.ts'
import { clockJumps } from './clock-jumps.ts'
import { diskFull } from './disk-full.ts'
import { limited, limitOf, sizes } from './limits.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string' },
    flips: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    /** Every n-th commit at which the clock jumps, and as many times 8 KiB of the disk. */
    step: { type: 'string', default: '3' },
    /** One size of the limits. */
    only: { type: 'string' },
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
if (wanted('limits')) {
  if (process.platform === 'linux') {
    const chosen = values.only === undefined ? sizes : [limitOf(values.only)]
    const done = await limited(chosen, Number(values.seed))
    problems.push(...done.problems)
    figures.push(
      `${done.runs} limits of descriptors and heap, ${done.no_node} too low for Node, ` +
        `${done.refused} refused in words, ${done.ended} ended by the heap, ` +
        `${done.came_back} came back, ${done.acknowledged} acknowledged, ` +
        `${done.problems.length} problems`,
    )
  } else figures.push('SKIPPED, nothing was shown: the limits need Linux, to see what is left')
}
for (const problem of problems) console.log(`problem: ${problem}`)
console.log(figures.join('; '))
process.exit(problems.length === 0 ? 0 : 1)
