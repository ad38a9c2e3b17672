/**
 * The daemon's log: JSON lines by pino, each with `time` (RFC 3339 UTC), `level`, `msg` and
 * snake_case fields. Where lines go, what time it is and what is secret comes from outside. Loaded
 * by the daemon only; a line never holds a body, a token or a raw path.
 */
import { pino } from 'pino'
import type { LogLevel } from '../ports/daemon.ts'
import type { Clock } from '../exec/ports.ts'
import { finishLine, redactFields, type LogFields, type Redact } from './log-line.ts'

/** Contract: never throws, may be called at any time; below the level it costs nothing. */
export type Log = {
  readonly [L in LogLevel]: (msg: string, fields?: LogFields) => void
} & { write(level: LogLevel, msg: string, fields?: LogFields): void }

export type LogPorts = {
  clock: Pick<Clock, 'now'>
  level: LogLevel
  redact: Redact
  /** Takes one line with its newline, in order; must not throw (a full disk is its own matter). */
  write: (line: string) => void
}

export function createLog({ clock, level, redact, write: writeLine }: LogPorts): Log {
  const lines = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => writeLine(finishLine(line, redact)) },
  )
  const write = (at: LogLevel, msg: string, fields: LogFields = {}): void => {
    if (lines.isLevelEnabled(at)) lines[at](redactFields(fields, redact), redact(msg))
  }
  return {
    write,
    debug: (msg, fields) => write('debug', msg, fields),
    info: (msg, fields) => write('info', msg, fields),
    warn: (msg, fields) => write('warn', msg, fields),
    error: (msg, fields) => write('error', msg, fields),
  }
}
