/**
 * Makes a failing run small: as few steps, kinds of fault and things from outside as still break
 * the same invariant. Each try is a whole run, so their number is bounded.
 */
import { Coverage } from './coverage.ts'
import type { Plan } from './plan.ts'
import { simulate, type Outcome } from './run.ts'

/** Runs a shrink may take. */
const tries = 150

/** The invariant that broke first: the words before the colon. */
const numberOf = ({ violations }: Outcome): string => violations[0]?.split(':', 1)[0] ?? ''

export type Shrunk = { plan: Plan; outcome: Outcome; runs: number }

export type Simulate = (plan: Plan) => Promise<Outcome>

const anew: Simulate = (plan) => simulate(plan, new Coverage())

export async function shrink(failed: Outcome, run: Simulate = anew): Promise<Shrunk> {
  const wanted = numberOf(failed)
  let best = shorter(failed)
  let outcome = failed
  let runs = 0
  const still = async (plan: Plan): Promise<boolean> => {
    if (runs >= tries) return false
    runs += 1
    const tried = await run(plan)
    if (numberOf(tried) !== wanted) return false
    outcome = tried
    best = shorter(tried)
    return true
  }

  for (const fault of failed.plan.faults) {
    await still({ ...best, faults: best.faults.filter((one) => one !== fault) })
  }
  let parts = 2
  let only = [...outcome.outside]
  // `still` counts the runs.
  // oxlint-disable-next-line no-unmodified-loop-condition
  while (only.length > 0 && runs < tries) {
    const size = Math.ceil(only.length / parts)
    let found = false
    for (let from = 0; from < only.length; from += size) {
      const fewer = only.filter((_, n) => n < from || n >= from + size)
      if (!(await still({ ...best, only: fewer }))) continue
      only = outcome.outside.filter((step) => fewer.includes(step))
      found = true
      break
    }
    if (found) parts = Math.max(2, parts - 1)
    else if (size === 1) break
    else parts = Math.min(only.length, parts * 2)
  }
  return { plan: best, outcome, runs }
}

/** Without the steps after the one that broke it; in the calm all of them came before. */
function shorter({ plan, at }: Outcome): Plan {
  return { ...plan, steps: at === null ? plan.steps : Math.min(plan.steps, at) }
}
