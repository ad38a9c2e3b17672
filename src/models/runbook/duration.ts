/**
 * Durations as a runbook writes them: `500ms`, `2s`, `5m`, `1h30m`, `2d`. Units from large to
 * small, each at most once; whole numbers.
 */
import { limits } from '../../domain/limits.ts'

const units = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

const pattern =
  /^(?:(\d{1,9})d)?\s*(?:(\d{1,9})h)?\s*(?:(\d{1,9})m)?\s*(?:(\d{1,9})s)?\s*(?:(\d{1,9})ms)?$/

/** Milliseconds, or the sentence that says what is wrong with `text`. */
export function durationMs(text: string): { ms: number } | { wrong: string } {
  const found = text === '' ? null : pattern.exec(text)
  if (!found) return { wrong: `"${text}" is no duration: write 500ms, 2s, 5m, 1h30m or 2d.` }
  const sizes = [units.d, units.h, units.m, units.s, units.ms]
  const ms = sizes.reduce((sum, size, index) => sum + size * Number(found[index + 1] ?? 0), 0)
  if (ms === 0) return { wrong: 'A wait lasts at least 1ms.' }
  if (ms > limits.wait_max.value) {
    return { wrong: `A wait lasts at most ${limits.wait_max.value / units.d} days.` }
  }
  return { ms }
}
