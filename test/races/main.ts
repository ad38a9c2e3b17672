/**
 * `npm run races`: every order of a few things around each kind of wait, orders chosen by
 * fast-check's scheduler where there are too many, and whatever may happen while the runtime waits
 * for one thing: every 100th of it, or `--every 1`. The figures come last; 1 on a violation.
 */
import { parseArgs } from 'node:util'
import { explore } from './explore.ts'
import { interleave } from './meanwhile.ts'
import { scheduled } from './scheduled.ts'
import { crowded, scenes } from './scenes.ts'

const { values } = parseArgs({
  options: {
    scene: { type: 'string', default: '' },
    most: { type: 'string', default: '20000' },
    runs: { type: 'string', default: '40' },
    every: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
})
const given = [values.most, values.runs, values.every, values.seed].map(Number)
const [most, runs, every = 0, seed] = given
if (!given.every((number) => Number.isSafeInteger(number)) || every < 1) {
  const usage = '[--scene timer] [--most 20000] [--runs 40] [--every 100] [--seed 1]'
  console.error(`usage: npm run races -- ${usage}`)
  process.exit(2)
}

let [orders, deaths, broken, chosen] = [0, 0, 0, 0]
for (const scene of scenes.filter(({ name }) => name.includes(values.scene))) {
  const explored = await explore(scene, most ?? 0)
  console.log(`${explored.orders} orders, ${explored.longest} choices at most: ${scene.name}`)
  orders += explored.orders
  deaths += explored.deaths
  broken += explored.violations.length
  for (const violation of explored.violations) console.log(`  ${violation}`)
}
for (const scene of crowded.filter(({ name }) => name.includes(values.scene))) {
  try {
    await scheduled(scene, runs ?? 0, seed ?? 0)
    chosen += runs ?? 0
  } catch (error) {
    broken += 1
    console.log(error instanceof Error ? error.message : String(error))
  }
}
if (values.scene === '') {
  const met = await interleave(every, seed ?? 0)
  broken += met.violations.length
  for (const violation of met.violations) console.log(violation)
  console.log(
    `${met.points} calls of ports, in whose midst ${met.possible} things may happen: ` +
      `${met.tried} tried`,
  )
}
const { user, system } = process.cpuUsage()
console.log(
  `all ${orders} orders of ${scenes.length} scenes, ${deaths} with a death; ` +
    `${chosen} orders by the scheduler; ${Math.round((user + system) / 1e6)} s of processor: ` +
    `${broken} violations`,
)
process.exitCode = broken === 0 ? 0 : 1
