/**
 * What one simulated run is asked to be. The same plan is the same run, event for event: seed,
 * number of steps, which kinds of fault may come, and which steps may bring anything from outside.
 */

/**
 * - `crash`: the process is gone between two effects. `crash_before`, `crash_after`: at an effect,
 *   just before it, or when it is done and nobody was told.
 * - `disk`: for a while nothing can be written. `files`: one look at a file fails.
 * - `process`: a command does not start, is lost, ends late or never, or survives its stop.
 * - `model`: errors, cut and malformed answers, silence. `clock`: the wall clock jumps.
 * - `duplicate`: a sender repeats itself.
 */
export const faults = [
  'crash',
  'crash_before',
  'crash_after',
  'disk',
  'files',
  'process',
  'model',
  'clock',
  'duplicate',
] as const
export type Fault = (typeof faults)[number]

export type Plan = {
  seed: number
  steps: number
  faults: readonly Fault[]
  /** The steps at which something may come from outside; null: every step. */
  only: readonly number[] | null
}

export const planOf = (seed: number, steps: number): Plan => ({ seed, steps, faults, only: null })

/** The command that repeats a run. */
export function commandOf({ seed, steps, faults: given, only }: Plan): string {
  const all = given.length === faults.length
  const which = all ? [] : ['--faults', given.length === 0 ? 'none' : given.join(',')]
  const when = only === null ? [] : ['--only', only.length === 0 ? 'none' : only.join(',')]
  const words = ['--seed', `${seed}`, '--steps', `${steps}`, ...which, ...when]
  return `npm run sim -- ${words.join(' ')}`
}
