/** Whether this machine has what confined commands need: a reason to skip, said aloud, or false. */
import { findProgram } from '../exec/program.ts'

export const noBubblewrap: string | false =
  process.platform !== 'linux'
    ? 'confinement is for Linux'
    : findProgram(['bwrap'], '/usr/bin') === null
      ? 'bubblewrap is not installed: apt-get install bubblewrap'
      : false

if (noBubblewrap !== false) process.stderr.write(`SKIPPED, ${noBubblewrap}\n`)
