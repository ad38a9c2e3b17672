/**
 * The daemon's log file: lines are added until it is LOG_FILE_BYTES long, then it becomes
 * `daemon.log.1`, that one `daemon.log.2`, and so on; LOG_FILES are kept. A line that cannot be
 * written is counted, never thrown: a full disk must not stop what is logged about.
 */
import { LOG_FILE_BYTES, LOG_FILES } from './limits.ts'

/**
 * Contract: synchronous, so that the last line before a death is there; each may throw what the
 * machine says. `append` makes the file (0600) when it is missing. `size` is in bytes, 0 when
 * missing. `rename` replaces. A missing file to remove or rename is nothing.
 */
export interface LogFiles {
  append(path: string, text: string): void
  size(path: string): number
  rename(from: string, to: string): void
  remove(path: string): void
}

export type LogFile = {
  write: (line: string) => void
  /** Lines that could not be written so far. */
  lost: () => number
}

/** `max_bytes` and `keep` are the limits unless a test says otherwise. */
export function openLogFile(
  path: string,
  files: LogFiles,
  { max_bytes = LOG_FILE_BYTES, keep = LOG_FILES } = {},
): LogFile {
  let lost = 0
  /** Bytes in the file; null: not known, look. */
  let bytes: number | null = null

  const rotate = (): void => {
    files.remove(`${path}.${keep - 1}`)
    for (let n = keep - 2; n >= 1; n -= 1) files.rename(`${path}.${n}`, `${path}.${n + 1}`)
    files.rename(path, `${path}.1`)
  }

  return {
    write(line) {
      const length = Buffer.byteLength(line)
      try {
        bytes ??= files.size(path)
        if (bytes > 0 && bytes + length > max_bytes) {
          rotate()
          bytes = 0
        }
        files.append(path, line)
        bytes += length
      } catch {
        // Somebody may have moved or removed it, or the disk is full: look again next time.
        bytes = null
        lost += 1
      }
    },
    lost: () => lost,
  }
}
