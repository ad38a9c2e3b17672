/**
 * The files of the daemon's log, written at once and in order (contract: `LogFiles` in
 * src/telemetry/log-file.ts). Synchronous on purpose: what a dying process says last is what
 * people look for.
 */
import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs'

export const systemLogFiles = {
  append(path: string, text: string): void {
    appendFileSync(path, text, { mode: 0o600 })
  },
  size(path: string): number {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  },
  rename(from: string, to: string): void {
    try {
      renameSync(from, to)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  },
  remove(path: string): void {
    rmSync(path, { force: true })
  },
}
