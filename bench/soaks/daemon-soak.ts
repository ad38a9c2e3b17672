/**
 * The soak by hand: `node bench/soaks/daemon-soak.ts [--kills 100] [--seed 1] [--items 10000]
 * [--agents 3] [--pace 60] [--life 1000] [--sources] [--keep]`. Kills a real daemon that often on
 * one home with that many open items, and says what was lost, doubled or broken, which must be
 * nothing. `--pace` is the mean of milliseconds between two ids of each sender, `--life` the most
 * that pass between ready and kill. The same line repeats a run; `--keep` leaves its home.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { soak } from '../../test/soak/soak.ts'
import { load, openBench, quantile, root, spread } from '../fixtures/machine.ts'
import { writeWaitingHome } from '../fixtures/waiting-home.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    items: { type: 'string', default: '10000' },
    agents: { type: 'string', default: '3' },
    pace: { type: 'string', default: '60' },
    life: { type: 'string', default: '1000' },
    sources: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})
const [kills, seed, items] = [Number(values.kills), Number(values.seed), Number(values.items)]
const [pace, longest_life] = [Number(values.pace), Number(values.life)]
const agents = Array.from({ length: Number(values.agents) }, (_, i) => `agent-${i}`)
const given = (['kills', 'seed', 'items', 'agents', 'pace', 'life'] as const)
  .map((name) => `--${name} ${values[name]}`)
  .join(' ')
const repeat = `node bench/soaks/daemon-soak.ts ${given}${values.sources ? ' --sources' : ''}`

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holon-soak-')))
const bench = values.sources ? null : openBench('')
const program = bench === null ? 'src/main.ts' : join(bench.installed, 'bin/holon.mjs')
const model = 'openai-compatible/soak'
let clean = false
try {
  console.log(repeat)
  mkdirSync(join(folder, 'home'), { mode: 0o700 })
  if (items > 0) await writeWaitingHome(join(folder, 'home'), { agents, items, model })
  const before = load()
  const done = await soak({
    seed,
    kills,
    folder,
    program: [process.execPath, bench === null ? join(root, program) : program],
    agents,
    model,
    pace,
    longest_life,
    on_life: (line) => console.error(line),
  })
  const { problems, ready_ms, first_request_ms, ...counts } = done
  console.log(JSON.stringify(counts, null, 2))
  const times = (ms: number[]) =>
    `${spread(ms)} ms, p95 ${quantile(ms, 0.95).toFixed(0)} ms, of ${ms.length}`
  console.log(`ready: ${times(ready_ms)}`)
  console.log(`first model request: ${times(first_request_ms)}`)
  console.log(`load ${before} before, ${load()} after`)
  for (const problem of problems) console.log(`problem: ${problem}`)
  clean = problems.length === 0
  console.log(clean ? 'no problem' : `${problems.length} problems; again: ${repeat}`)
} finally {
  bench?.close()
  if (clean && !values.keep) rmSync(folder, { recursive: true, force: true })
  else console.log(`the home is kept: ${folder}`)
}
process.exitCode = clean ? 0 : 1
