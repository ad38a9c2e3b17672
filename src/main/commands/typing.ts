/**
 * Lines that are typed while the program prints: read key by key, so that the terminal echoes
 * nothing into what is printed and who prints can draw the line again. A program in the background
 * has no keyboard: it reads nothing then, for the system would stop it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Typing, TypingListener } from '../../cli/command/ports.ts'

/** `interrupted` is what ctrl+c does, which is a key as any other while keys are read. */
export function typing(listener: TypingListener, interrupted: () => void): Typing {
  const { createInterface } = process.getBuiltinModule('node:readline')
  const { Writable } = process.getBuiltinModule('node:stream')
  let stopReading: (() => string) | null = null
  const read = () => {
    if (stopReading !== null || !isInForeground()) return
    const { stdin: input } = process
    // It edits the line; what it would draw goes nowhere.
    const output = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({ input, output, terminal: true, historySize: 0 })
    const changed = () => listener.changed(lines.line, lines.cursor)
    const stop = () => {
      stopReading = null
      input.off('keypress', changed)
      const left = lines.line
      lines.close()
      return left
    }
    stopReading = stop
    lines.on('line', (text) => listener.line(text))
    lines.on('SIGINT', interrupted)
    lines.on('SIGTSTP', () => {
      stop()
      listener.changed('', 0)
      process.kill(process.pid, 'SIGTSTP')
    })
    lines.on('close', () => {
      if (stopReading !== stop) return
      stopReading = null
      input.off('keypress', changed)
      process.off('SIGCONT', read)
      listener.ended()
    })
    input.on('keypress', changed)
  }
  process.on('SIGCONT', read)
  read()
  return {
    stop() {
      process.off('SIGCONT', read)
      return stopReading?.() ?? ''
    },
  }
}

/** Whether the terminal belongs to the processes of this one; where nobody says, it does not. */
function isInForeground(): boolean {
  try {
    if (process.platform === 'linux') {
      // Behind the name, which may be anything: state, parent, group, session, tty, its group.
      const stat = readFileSync('/proc/self/stat', 'utf8')
      const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return group === foreground
    }
    const asked = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)]
    const [group, foreground] = execFileSync('ps', asked, { encoding: 'utf8' }).trim().split(/\s+/)
    return group === foreground
  } catch {
    return false
  }
}
