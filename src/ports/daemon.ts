/** How a daemon is started and what it writes down. Types only. */

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** How a process ended. Both null: it was never started, and `problem` says why. */
export type LaunchEnd = { code: number | null; signal: string | null; problem: string | null }
