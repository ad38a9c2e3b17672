/** `npm run worlds -- --seed N`: each line of a world, and after it what its digest is made of. */
import { parseArgs } from 'node:util'
import { tellWorld } from './run.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } })
const { violations } = await tellWorld(Number(values.seed), (one) =>
  console.log(typeof one === 'string' ? one : JSON.stringify(one, null, 1)),
)
if (violations.length > 0) {
  console.log(violations)
  process.exitCode = 1
}
