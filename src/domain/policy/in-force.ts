/**
 * What holds in a home where its operator has said nothing, or only a part: whether commands are
 * confined, and by which preset an agent is judged. A home that was made before this keeps what it
 * does until somebody chooses.
 */
import type { PresetName } from './rule.ts'

/** By the ledger, which keeps the schema it was made at. */
export type HomeAge = 'new' | 'existing'

/** The first schema whose homes confine by themselves. */
const CONFINING_SCHEMA = 6

export const homeAge = (made_at_schema: number): HomeAge =>
  made_at_schema >= CONFINING_SCHEMA ? 'new' : 'existing'

/** What `sandbox` in `config.json` says. */
export type SandboxChoice = 'unset' | 'off' | 'asked'

/**
 * Whose commands are confined. `everyone`: the operator asked for it, and where it cannot be no
 * command runs. `models`: agents that a language model thinks for, where it can be done.
 */
export type Confining =
  | { whom: 'everyone' }
  | { whom: 'models' }
  | { whom: 'nobody'; because: 'chosen' | 'existing_home' }

export function confiningOf(age: HomeAge, choice: SandboxChoice): Confining {
  switch (choice) {
    case 'asked':
      return { whom: 'everyone' }
    case 'off':
      return { whom: 'nobody', because: 'chosen' }
    case 'unset':
      return age === 'new' ? { whom: 'models' } : { whom: 'nobody', because: 'existing_home' }
  }
}

/** What the home's `policy.json` says of a preset; null: there is no such file. */
export type PresetFile = { preset: PresetName | null } | null

/**
 * The preset of a home; null: nothing is judged. Where commands were to be confined, cannot be, and
 * nobody chose to go without, everything is asked.
 */
export function homePreset(
  age: HomeAge,
  choice: SandboxChoice,
  isConfined: boolean,
  file: PresetFile,
): PresetName | null {
  if (file !== null && file.preset !== null) return file.preset
  if (age === 'existing') return file === null ? null : 'work'
  return choice === 'unset' && !isConfined ? 'watch' : 'work'
}

/**
 * The presets that an agent is judged by, its own first; none: nothing is judged. `chain` has what
 * was set for the agent, for the one it was made by, and so on up. Each of them decides and the
 * strictest counts, so that none is looser than whoever made it; what the home says is for those at
 * the top that have none of their own.
 */
export function presetsInForce(
  chain: readonly (PresetName | null)[],
  home: PresetName | null,
): PresetName[] {
  const top = chain.at(-1) ?? null
  const all = top === null ? [...chain, home] : chain
  return [...new Set(all.filter((one) => one !== null))]
}
