/** The end of a command at once, for tests that take a machine down. */
import { signalled } from '../exec/signalled.ts'

/**
 * SIGKILL for a command and all of its group. A command has no group of its own until its `setsid`
 * ran, a moment after its pid stands in its state: both are told. That a process is gone already is
 * what was wanted; any other failure throws.
 */
export function endCommand(pid: number): void {
  for (const target of [pid, -pid]) signalled(target, 'SIGKILL')
}
