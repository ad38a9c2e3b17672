/**
 * Repeats: rounds of a turn that brought nothing, because their calls and what came of them all
 * stood in a round shortly before. Worked out from the rows of the turn, so a restart counts alike.
 */
import type { Call } from '../state/call.ts'
import { roundViews, type Facts } from '../facts/facts.ts'
import { limits } from '../limits.ts'
import { between } from '../time.ts'
import type { Turn } from '../state/turn.ts'

/** How many of the turn's newest finished rounds, in a row, are repeats. */
export function repeatsInARow(facts: Facts, turn: Turn): number {
  const rounds = roundViews(facts, turn)
    .map(({ calls }) => calls)
    .filter((calls) => calls.length > 0 && calls.every((call) => call.state === 'finished'))
  let count = 0
  while (isRepeat(rounds, rounds.length - 1 - count)) count += 1
  return count
}

function isRepeat(rounds: readonly (readonly Call[])[], at: number): boolean {
  const round = rounds[at]
  if (round === undefined || round.some(tookTime)) return false
  const before = rounds.slice(Math.max(0, at - limits.repeat_window.value), at)
  return before.some((earlier) => round.every((call) => earlier.some((one) => isSame(one, call))))
}

/** Who waits for something that takes its time does not go in circles. */
const tookTime = ({ started_at, finished_at }: Call): boolean =>
  started_at !== null &&
  finished_at !== null &&
  between(started_at, finished_at) >= limits.repeat_waited.value

function isSame(a: Call, b: Call): boolean {
  if (a.tool_name !== b.tool_name || JSON.stringify(a.input) !== JSON.stringify(b.input)) {
    return false
  }
  if (a.result_hash !== null && b.result_hash !== null) return a.result_hash === b.result_hash
  return outcomeOf(a) === outcomeOf(b)
}

/** What came of a call, but for ids that are new each time, and times. */
const outcomeOf = ({ result }: Call): string =>
  JSON.stringify(result)
    .replaceAll(/\b([a-z]+)_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, '$1')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'then')
