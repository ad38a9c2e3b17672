/**
 * `npm run sim`: the real host under a deterministic simulator. Prints what was tried and, last,
 * the figure; ends with 1 when an invariant was broken, and says the line that repeats it.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { Batch, Told } from './batch.ts'
import { Coverage } from './coverage.ts'
import { commandOf, faults, type Fault, type Plan } from './plan.ts'
import { coverageTable, figure, type Total } from './report.ts'
import { simulate, type Outcome } from './run.ts'
import { shrink } from './shrink.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    steps: { type: 'string', default: '500' },
    workers: { type: 'string', default: `${availableParallelism()}` },
    release: { type: 'boolean', default: false },
    seed: { type: 'string' },
    faults: { type: 'string' },
    only: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
})

/** Failures that are made small; the others only name their seed. */
const shrunkAtMost = 3

function whole(name: 'seeds' | 'from' | 'steps' | 'workers' | 'seed'): number {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < 0) {
    usage(`--${name} wants a whole number, not "${values[name]}"`)
  }
  return number
}

function usage(problem: string): never {
  console.error(`${problem}
usage: npm run sim -- [--seeds 200] [--from 1] [--steps 500] [--workers 2] [--release]
       npm run sim -- --seed 7 [--steps 500] [--faults crash,disk] [--only 3,9] [--verbose]
faults: ${faults.join(', ')}, or none`)
  process.exit(2)
}

function chosenFaults(): readonly Fault[] {
  if (values.faults === undefined) return faults
  if (values.faults === 'none') return []
  return values.faults.split(',').map((name) => {
    const fault = faults.find((one) => one === name)
    return fault ?? usage(`there is no fault "${name}"`)
  })
}

function chosenSteps(): readonly number[] | null {
  if (values.only === undefined) return null
  if (values.only === 'none') return []
  return values.only.split(',').map((text) => {
    const step = Number(text)
    return Number.isSafeInteger(step) ? step : usage(`--only wants steps, not "${text}"`)
  })
}

async function explain(failed: Outcome, isShrunk: boolean): Promise<void> {
  console.log(`\nseed ${failed.plan.seed}, step ${failed.at}: ${failed.violations.join('\n  ')}`)
  if (!isShrunk) return console.log(`  ${commandOf(failed.plan)}`)
  const { plan, outcome, runs } = await shrink(failed)
  console.log(`  made small in ${runs} runs: ${outcome.violations[0]}`)
  console.log(`  ${commandOf(plan)}`)
}

async function one(plan: Plan): Promise<boolean> {
  const show = values.verbose ? (line: string) => console.log(line.slice(0, 400)) : undefined
  const coverage = new Coverage()
  const outcome = await simulate(plan, coverage, show)
  if (outcome.violations.length > 0) await explain(outcome, plan.only === null)
  const { steps, events, crashes, hash, violations } = outcome
  console.log(
    `seed ${plan.seed}: ${steps} steps, ${events} events, ${crashes} deaths, ` +
      `trace ${hash.slice(0, 16)}: ${violations.length} violations`,
  )
  return violations.length === 0
}

/** One thread per worker; the first failure of a thread is no reason to stop the others. */
function thread(batch: Batch, told: (part: Told) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./batch.ts', import.meta.url), { workerData: batch })
    worker.on('message', told)
    worker.on('error', reject)
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}`))))
  })
}

async function many(from: number, seeds: number, steps: number): Promise<boolean> {
  const workers = Math.max(1, Math.min(whole('workers'), seeds))
  const coverage = new Coverage()
  const failed: Outcome[] = []
  const total: Total = {
    runs: 0,
    steps: 0,
    calm: 0,
    events: 0,
    crashes: 0,
    cpu_us: 0,
    failures: 0,
  }
  const told = (part: Told): void => {
    for (const key of ['runs', 'steps', 'calm', 'events', 'crashes', 'cpu_us'] as const) {
      total[key] += part[key]
    }
    total.failures += part.failed.length
    failed.push(...part.failed)
    coverage.add(part.coverage)
    if (values.verbose) console.log(`${total.runs} of ${seeds}, ${total.failures} failed`)
  }
  const given = chosenFaults()
  const batches = Array.from({ length: workers }, (_, n): Batch => {
    const count = Math.floor(seeds / workers) + (n < seeds % workers ? 1 : 0)
    return { from: from + n, every: workers, count, steps, faults: given }
  })
  await Promise.all(batches.map((batch) => thread(batch, told)))
  for (const line of coverageTable(coverage)) console.log(line)
  const first = failed.toSorted((a, b) => a.plan.seed - b.plan.seed)
  for (const [n, outcome] of first.entries()) await explain(outcome, n < shrunkAtMost)
  console.log(figure(total, steps))
  return total.failures === 0
}

const steps = whole('steps')
if (values.seed !== undefined) {
  const plan = { seed: whole('seed'), steps, faults: chosenFaults(), only: chosenSteps() }
  process.exitCode = (await one(plan)) ? 0 : 1
} else if (values.release) {
  const short = await many(1, 100_000, 500)
  const long = await many(1_000_001, 200, 20_000)
  process.exitCode = short && long ? 0 : 1
} else {
  process.exitCode = (await many(whole('from'), whole('seeds'), steps)) ? 0 : 1
}
