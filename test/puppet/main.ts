/** `npm run puppet`: every channel, every goal, the figure last; exit 1 where one is reached. */
import { spawnSync } from 'node:child_process'
import { channels } from './channels.ts'
import { goals } from './goals.ts'

const args = ['scripts/test.mjs', 'test/puppet.test.ts']
const env = { ...process.env, HOLON_PUPPET: 'all' }
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env })
const cases = Object.keys(channels).length * goals.length
const said = status === 0 ? 'none reached' : 'NOT PASSED, see above'
process.stdout.write(`puppet: ${cases} cases, ${goals.length} goals: ${said}\n`)
process.exitCode = status === 0 ? 0 : 1
