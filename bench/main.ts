/**
 * The benchmarks, by hand:
 * `npm run bench -- [start|rounds|agents|restart|wake|streaming|projection|bookkeeping|policy|
 * daemon|scale|cold] [--quick] [--report] [--on-a-slow-disk]`.
 * `daemon`, `policy`, `scale` and `cold` run only when they are asked for, whole or in parts
 * (`daemon-wake`, …), or with `everything`. Builds the bundle, runs what was asked for against
 * floors interleaved with it, and prints the table of docs/benchmarks.md, where it is written what
 * each number means.
 * `--report` keeps it as docs/benchmarks/<date>.md, with the machine and every goal.
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import {
  holon,
  inodeCreateUs,
  load,
  mustEndWell,
  openBench,
  runNode,
  unfitToMeasure,
} from './fixtures/machine.ts'
import { nameFor, startModel } from './fixtures/model-fixture.ts'
import { agents } from './agents.ts'
import { bookkeeping } from './bookkeeping.ts'
import { cold } from './cold.ts'
import { daemonHistory } from './daemon-history.ts'
import { daemonIdle } from './daemon-idle.ts'
import { daemonRestart } from './daemon-restart.ts'
import { daemonWake } from './daemon-wake.ts'
import { syncMs, writeReport } from './dated-report.ts'
import { policyJudging, policyPast, policyRounds } from './policy.ts'
import { projection } from './projection.ts'
import { restart } from './restart.ts'
import { ourRun, rounds } from './rounds.ts'
import { scaleAgents } from './scale-agents.ts'
import { scaleEvents } from './scale-events.ts'
import { start } from './start.ts'
import { streaming } from './streaming.ts'
import { table, type Line } from './report.ts'
import { wake } from './wake.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    times: { type: 'string' },
    report: { type: 'boolean', default: false },
    'on-a-slow-disk': { type: 'boolean', default: false },
  },
})
const times = (usual: number): number =>
  Number(values.times ?? (values.quick ? Math.ceil(usual / 4) : usual))
const asked = (name: string) =>
  positionals.includes(name) ||
  positionals.includes('everything') ||
  (/^(daemon|scale|policy)-/.test(name)
    ? positionals.includes(name.split('-')[0] ?? '')
    : positionals.length === 0 && name !== 'cold')

const model = await startModel()
const bench = openBench(model.base_url)
const lines: Line[] = []
const measure = async (name: string, run: () => Promise<Line[]>) => {
  if (!asked(name)) return
  console.error(`${name}, load ${load()}, inode create ${inodeCreateUs(bench)} µs`)
  const found = await run()
  console.error(table(found))
  lines.push(...found)
}
/** The model process parses nothing: a server that does sees once that what it is sent is right. */
async function judged(): Promise<void> {
  const judge = await startModel('judge')
  const home = bench.folder('judged-home')
  const words = ['run', '--model', `openai-compatible/${nameFor({ kind: 'rounds', rounds: 8 })}`]
  words.push('--workspace', bench.folder('judged-work'), 'Go round.')
  const at = { ...bench, base_url: judge.base_url }
  await mustEndWell(runNode(at, holon(at, home, words)))
  const { arrivals, violations } = await judge.take()
  // An item made, picked, eight commands, and its completion.
  judge.close()
  if (violations.length > 0 || arrivals.length !== 11) {
    throw new Error(
      `${arrivals.length} requests, wrong in ${violations.join('; ') || 'their number'}`,
    )
  }
}

try {
  const unfit = unfitToMeasure(inodeCreateUs(bench))
  if (unfit !== null && !values['on-a-slow-disk']) throw new Error(unfit)
  await judged()
  console.log(`Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model ?? ''}`)
  await measure('start', () => start(bench, model, times(21)))
  await measure('rounds', () => rounds(bench, model, { counts: [200, 400], times: times(4) }))
  await measure('agents', async () => {
    const like = await ourRun(bench, model, 20)
    return agents(bench, model, { count: 16, rounds: 40, times: times(4), like })
  })
  await measure('restart', () => restart(bench, model, { rounds: 200, times: times(5) }))
  await measure('wake', () => wake(bench, model, values.quick ? 60 : 220))
  await measure('streaming', () => streaming(bench, times(15)))
  for (const rounds of [200, 1_000, 10_000]) {
    await measure('projection', () => projection(bench, { rounds, times: times(200) }))
  }
  await measure('bookkeeping', () => bookkeeping(bench, times(5)))
  const items = 10_000
  for (const agents of [1, 100, 1_000]) {
    await measure('daemon-restart', () =>
      daemonRestart(bench, model, { agents, items, times: times(15) }),
    )
  }
  const homes = [
    { what: 'one agent', agents: 1, items: 0 },
    { what: '1,000 agents, 10,000 items', agents: 1_000, items },
    { what: 'one agent, 10,000 items', agents: 1, items },
  ]
  for (const home of homes) {
    const count = times(200)
    await measure('daemon-wake', () => daemonWake(bench, model, { ...home, times: count }))
  }
  const seconds = values.quick ? 20 : 60
  await measure('daemon-idle', () => daemonIdle(bench, { agents: 1_000, items, seconds }))
  for (const events of values.quick ? [10_000, 100_000] : [10_000, 100_000, 1_000_000]) {
    await measure('daemon-history', () => daemonHistory(bench, { events, times: times(300) }))
  }
  for (const agents of values.quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]) {
    await measure('scale-agents', () => scaleAgents(bench, model, { agents, times: times(100) }))
  }
  for (const events of [100, 1_000, 10_000, 100_000, ...(values.quick ? [] : [1_000_000])]) {
    await measure('scale-events', () => scaleEvents(bench, { events, times: times(400) }))
  }
  await measure('policy-judging', () => policyJudging(bench, times(10_000)))
  for (const each of [1, 10]) {
    const calls = values.quick ? 10_000 : 100_000
    await measure('policy-past', () => policyPast(bench, { calls, each, times: times(5) }))
  }
  await measure('policy-rounds', () => policyRounds(bench, model, { rounds: 40, pairs: times(48) }))
  await measure('cold', () => cold(bench, model, times(7)))
  console.error(`inode create at the end ${inodeCreateUs(bench)} µs`)
  console.log(table(lines))
  if (values.report) {
    const now = new Date()
    const words = process.argv.slice(2)
    const probe = { sync_ms: syncMs(bench), inode_us: inodeCreateUs(bench) }
    console.log(`written: ${writeReport({ now, words, lines, ...probe })}`)
  }
} finally {
  model.close()
  bench.close()
}
