/**
 * The torture: `npm run torture [-- --wire messages] [--cut "1 byte"] [--case "<its words>"]
 * [--seed 1]`. Every answer of the corpus, over each wire format, in each way of cutting it, is one
 * turn of a real host; then one answer byte by byte through the adapter. No crash, no call of an
 * answer that is not whole, one result for every call, bounded memory, and the turn comes to its
 * end. The figures come last; it exits 1 when something should not be.
 */
import { execFile } from 'node:child_process'
import { parseArgs } from 'node:util'
import { wires, type Endpoint } from '../../src/testing/model-server/server.ts'
import { tortureOf, type Tortured } from './driver.ts'
import { chunkings } from './served.ts'
import { sweepsOf, type Swept } from './sweeps.ts'

const { values } = parseArgs({
  options: {
    wire: { type: 'string' },
    cut: { type: 'string' },
    case: { type: 'string' },
    seed: { type: 'string', default: '1' },
    changes: { type: 'string', default: '1000' },
    /** Of this program itself: one wire, its figures as JSON. */
    part: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
type Part = Tortured & Swept & { wire: string }

async function part(endpoint: Endpoint): Promise<Part> {
  const unhandled: string[] = []
  process.on('unhandledRejection', (error) => unhandled.push(`unhandled: ${String(error)}`))
  const total: Part = {
    wire: endpoint,
    ...{ cases: 0, turns: 0, calls: 0, ran: 0, peak_mib: 0, problems: [] },
    ...{ cut_off: 0, split: 0, changed: 0, rounds: 0, faults: 0 },
  }
  for (const cut of chunkings.filter((one) => (values.cut ?? one) === one)) {
    const done = await tortureOf(endpoint, cut, seed, values.case ?? null)
    for (const name of ['cases', 'turns', 'calls', 'ran'] as const) total[name] += done[name]
    total.peak_mib = Math.max(total.peak_mib, done.peak_mib)
    total.problems.push(...done.problems)
    console.error(`${endpoint}, ${cut}: ${done.cases} cases, ${done.problems.length} problems`)
  }
  if (values.case === undefined) {
    const { problems, ...swept } = await sweepsOf(endpoint, seed, Number(values.changes))
    Object.assign(total, swept)
    total.problems.push(...problems)
  }
  total.problems.push(...unhandled)
  return total
}

/** A process for each wire: what one of them holds is not counted against another. */
function apart(endpoint: Endpoint): Promise<Part> {
  const given = (['cut', 'case', 'seed', 'changes'] as const).flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const args = ['--expose-gc', import.meta.filename, '--part', '--wire', endpoint, ...given]
  return new Promise((resolve) => {
    const options = { maxBuffer: 64 * 1_048_576 }
    const child = execFile(process.execPath, args, options, (error, stdout) => {
      const none = { cases: 0, turns: 0, calls: 0, ran: 0, peak_mib: 0 }
      const swept = { cut_off: 0, split: 0, changed: 0, rounds: 0, faults: 0 }
      if (error === null) resolve(JSON.parse(stdout) as Part)
      else
        resolve({ wire: endpoint, ...none, ...swept, problems: [`it crashed: ${error.message}`] })
    })
    child.stderr?.pipe(process.stderr)
  })
}

if (values.part) {
  console.log(JSON.stringify(await part(values.wire as Endpoint)))
  process.exit(0)
}
const from = performance.now()
const chosen = wires.map(({ endpoint }) => endpoint).filter((one) => (values.wire ?? one) === one)
const waiting = [...chosen]
const parts: Part[] = []
await Promise.all(
  [1, 2].map(async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      parts.push(await apart(next))
    }
  }),
)
const problems = parts.flatMap((one) => one.problems)
const cuts = chunkings.filter((one) => (values.cut ?? one) === one)
console.table(
  Object.fromEntries(
    parts.map(({ wire, problems, ...figures }) => [
      wire,
      { ...figures, problems: problems.length },
    ]),
  ),
)
for (const problem of problems) console.log(`problem: ${problem}`)
const sum = (name: Exclude<keyof Part, 'wire' | 'problems'>) =>
  parts.reduce((all, one) => all + one[name], 0)
const peak = Math.max(...parts.map(({ peak_mib }) => peak_mib))
console.log(
  `${sum('cases')} cases over ${parts.length} wires and ${cuts.length} ways of cutting, ` +
    `${sum('cut_off') + sum('split') + sum('changed')} answers byte by byte, ` +
    `${sum('calls')} calls with ${sum('ran')} files made, at most ${peak} MiB held, ` +
    `${problems.length} problems, ${Math.round((performance.now() - from) / 1_000)} s`,
)
process.exitCode = problems.length === 0 ? 0 : 1
