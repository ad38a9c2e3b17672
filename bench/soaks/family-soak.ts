/**
 * The soak of supervised children by hand: `node bench/soaks/family-soak.ts [--kills 100] [--seed
 * 1] [--life 1500] [--keep]`. Kills a real daemon that often while a parent splits ship after ship
 * over three children in worktrees of a real repository, and says what was lost, doubled or left
 * behind, which must be nothing. `--life` is the most milliseconds that pass between ready and
 * kill. The same line repeats the moments; `--keep` leaves the home.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { familySoak } from '../../test/soak/family.ts'
import { root } from '../fixtures/machine.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    life: { type: 'string', default: '1500' },
    keep: { type: 'boolean', default: false },
  },
})
const moments = (['kills', 'seed', 'life'] as const).map((name) => `--${name} ${values[name]}`)
const repeat = `node bench/soaks/family-soak.ts ${moments.join(' ')}`
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-family-')))
let clean = false
try {
  console.log(repeat)
  const began = performance.now()
  const { problems, ...figures } = await familySoak({
    seed: Number(values.seed),
    kills: Number(values.kills),
    folder,
    program: [process.execPath, join(root, 'src/main.ts')],
    longest_life: Number(values.life),
    on_life: (line) => console.error(line),
  })
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(JSON.stringify({ kills: Number(values.kills), seconds, ...figures }, null, 2))
  for (const problem of problems) console.log(`problem: ${problem}`)
  clean = problems.length === 0
  console.log(clean ? 'no problem' : `${problems.length} problems; again: ${repeat}`)
} finally {
  if (clean && !values.keep) rmSync(folder, { recursive: true, force: true })
  else console.log(`the home is kept: ${folder}`)
}
process.exitCode = clean ? 0 : 1
