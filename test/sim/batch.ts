/**
 * Many runs, one after the other, in a thread of its own: what they did together, and the few that
 * failed. The thread's own processor time is measured, so a busy machine makes no figure worse.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Coverage, type CoverageCounts } from './coverage.ts'
import type { Fault } from './plan.ts'
import { simulate, type Outcome } from './run.ts'

/** Seeds from `from` in steps of `every`, `count` of them. */
export type Batch = {
  from: number
  every: number
  count: number
  steps: number
  faults: readonly Fault[]
}

export type Told = {
  runs: number
  steps: number
  calm: number
  events: number
  crashes: number
  cpu_us: number
  failed: Outcome[]
  coverage: CoverageCounts
}

/** Runs between two words to the parent. */
const chunk = 10

async function work({ from, every, count, steps, faults }: Batch): Promise<void> {
  for (let done = 0; done < count; done += chunk) {
    const coverage = new Coverage()
    const before = process.threadCpuUsage()
    const told: Told = {
      runs: 0,
      steps: 0,
      calm: 0,
      events: 0,
      crashes: 0,
      cpu_us: 0,
      failed: [],
      coverage: coverage.counts,
    }
    for (let n = done; n < Math.min(count, done + chunk); n += 1) {
      const seed = from + n * every
      const outcome = await simulate({ seed, steps, faults, only: null }, coverage)
      told.runs += 1
      const planned = Math.min(outcome.steps, steps)
      told.steps += planned
      told.calm += outcome.steps - planned
      told.events += outcome.events
      told.crashes += outcome.crashes
      if (outcome.violations.length > 0) told.failed.push(outcome)
    }
    const { user, system } = process.threadCpuUsage(before)
    told.cpu_us = user + system
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    parentPort?.postMessage(told)
  }
}

if (parentPort !== null) await work(workerData as Batch)
