/**
 * Standard output and standard error as this process loses them. A reader that went away ends a
 * command, which has nobody to tell; for a daemon these are a log, and a log that cannot be written
 * costs nothing but the line. What a command could not write makes its exit 1.
 */
import { fstatSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

type Outputs = {
  /** A daemon goes on without them. */
  is_daemon: boolean
  /** What the system said when a text could not be written, the first time. */
  lost: string | null
}

const outputs: Outputs = { is_daemon: false, lost: null }

/** From now on a stream that fails is noted instead of being thrown. */
export function watchOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' && !outputs.is_daemon) process.exit(0)
      outputs.lost ??= error.message
    })
  }
}

/** The exit of a command whose own is `exit`, when its output has been written or is lost. */
export function exitOf(exit: number): number {
  if (outputs.lost === null || outputs.is_daemon || exit !== 0) return exit
  process.stderr.write(`holon: not all output could be written (${outputs.lost})\n`)
  return 1
}

/**
 * Lines of a daemon's log on standard error. A file is written at once and tried again with each
 * line, since a stream that failed once stays closed although the disk has room again.
 */
export function logToStandardError(): { write: (line: string) => void; lost: () => number } {
  outputs.is_daemon = true
  let lost = 0
  const descriptor = 2
  if (isatty(descriptor) || fstatSync(descriptor).isFIFO() || fstatSync(descriptor).isSocket()) {
    process.stderr.on('error', () => (lost += 1))
    return { write: (line) => void process.stderr.write(line), lost: () => lost }
  }
  const write = (line: string) => {
    try {
      writeSync(descriptor, line)
    } catch {
      lost += 1
    }
  }
  return { write, lost: () => lost }
}
