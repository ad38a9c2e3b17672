/**
 * Where the program is that gives commands a terminal (`terminal.ts`), and whether it can: the
 * native part it needs is made for some systems only, and a container may have no terminals.
 */
import { execFile } from 'node:child_process'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { TERMINAL_CHECK_MS } from './limits.ts'
import type { TerminalProgram } from './run-file.ts'

/** Beside this file: a source beside sources, an entry of its own beside the bundle's chunks. */
export function terminalProgram(): TerminalProgram {
  const name = import.meta.url.endsWith('.ts') ? 'terminal.ts' : 'terminal.js'
  return { node: execPath, script: fileURLToPath(new URL(name, import.meta.url)) }
}

/**
 * Why no terminal can be made, in words, or null. Asked of a process of its own: what does not
 * load here must not take the daemon with it.
 */
export function terminalProblem({ node, script }: TerminalProgram, path: string) {
  return new Promise<string | null>((resolve) => {
    const options = { env: { PATH: path }, cwd: '/', timeout: TERMINAL_CHECK_MS }
    execFile(node, [script, '--check'], options, (error, _, stderr) => {
      if (error === null) resolve(null)
      else resolve(stderr.trim().split('\n', 1)[0] || 'the program for it could not be run')
    })
  })
}
