/**
 * The screen from its first byte to the last. A skeleton stands at once, before anything else of
 * it is loaded. On every way out the terminal is given back as it was.
 */
import { skeleton, turnedOff } from './drawing/escapes.ts'
import type { TuiOptions, TuiPorts } from './ports.ts'
import type { SessionEnd } from './session.ts'

/** Resolves when the person has left. */
export async function runTui(ports: TuiPorts, options: TuiOptions): Promise<SessionEnd> {
  const { stdin, stdout } = ports
  const size = { columns: stdout.columns || 80, rows: stdout.rows || 24 }
  stdout.write(skeleton(size, options))
  // What is typed from now on is for the screen: it is read, and not echoed.
  stdin.setRawMode(true)
  try {
    const { follow } = await import('./follow.ts')
    return await follow(ports, options, size)
  } finally {
    stdin.setRawMode(false)
    // What draws lets go of the input: whoever asks there next would keep no process alive.
    stdin.pause()
    stdin.ref()
    stdout.write(turnedOff)
  }
}
