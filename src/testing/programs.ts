/**
 * Programs that some tests need and npm does not bring; `.ci/debian` installs each. Where one is
 * missing its tests skip with that reason. In CI (`CI` is set there) a missing one throws instead:
 * a suite that was to run and did not is no pass.
 */
import { env, platform } from 'node:process'
import { findProgram } from '../exec/program.ts'

/** Each program with the package of Debian that has it. */
export const packages = {
  bwrap: 'bubblewrap',
  curl: 'curl',
  fish: 'fish',
  python3: 'python3',
  tmux: 'tmux',
  zsh: 'zsh',
} as const

/** Why the tests of this program cannot run here; false when they can. */
export function without(program: keyof typeof packages): string | false {
  if (findProgram([program], env['PATH'] ?? '') !== null) return false
  const reason = `${program} is not installed: apt-get install ${packages[program]}`
  if (env['CI'] !== undefined) throw new Error(`${reason}; in CI nothing may skip for it`)
  return reason
}

/** What confined commands need; nothing installs it where there is no Linux. */
export const noBubblewrap: string | false =
  platform === 'linux' ? without('bwrap') : 'confinement is for Linux'
