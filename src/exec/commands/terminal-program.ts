/**
 * Whether commands can be given a terminal (`terminal.ts`): the native part it needs is made for
 * some systems only, and a container may have no terminals.
 */
import { execFile } from 'node:child_process'
import { TERMINAL_CHECK_MS } from '../limits.ts'
import type { NodeProgram } from '../program.ts'

/**
 * Why no terminal can be made, in words, or null. Asked of a process of its own: what does not
 * load here must not take the daemon with it.
 */
export function terminalProblem({ node, script }: NodeProgram, path: string) {
  return new Promise<string | null>((resolve) => {
    const options = { env: { PATH: path }, cwd: '/', timeout: TERMINAL_CHECK_MS }
    execFile(node, [script, '--check'], options, (error, _, stderr) => {
      if (error === null) resolve(null)
      else resolve(stderr.trim().split('\n', 1)[0] || 'the program for it could not be run')
    })
  })
}
