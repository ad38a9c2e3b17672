/**
 * Durations as a runbook writes them: `500ms`, `2s`, `5m`, `1h30m`, `2d`. Units from large to
 * small, each at most once; whole numbers. Read from left to right, once: the text may be anything.
 */
import { limits } from '../../domain/limits.ts'

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** Milliseconds, or the sentence that says what is wrong with `text`. */
export function durationMs(text: string): { ms: number } | { wrong: string } {
  const ms = sumOf(text)
  if (ms === null) return { wrong: `"${text}" is no duration: write 500ms, 2s, 5m, 1h30m or 2d.` }
  if (ms === 0) return { wrong: 'A wait lasts at least 1ms.' }
  if (ms > limits.wait_max.value) {
    return { wrong: `A wait lasts at most ${limits.wait_max.value / units.d} days.` }
  }
  return { ms }
}

/** Null: it is no duration. */
function sumOf(text: string): number | null {
  const written = text.trim()
  const part = /(\d{1,9})(d|h|ms|m|s)\s*/y
  let sum = 0
  let before: number = Number.POSITIVE_INFINITY
  while (part.lastIndex < written.length) {
    const found = part.exec(written)
    const size = found === null ? null : units[found[2] as keyof typeof units]
    if (size === null || size >= before) return null
    sum += size * Number(found?.[1])
    before = size
  }
  return written === '' ? null : sum
}
