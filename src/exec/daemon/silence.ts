/**
 * Whether somebody who gives signs of life has been silent for too long. What could have come while
 * this process was itself held up (stopped, starved, the machine asleep) is read before it judges.
 */
import type { Clock } from '../ports.ts'

export type SilenceOptions = {
  clock: Pick<Clock, 'monotonic' | 'after'>
  /** Milliseconds without a sign. */
  limit_ms: number
  /** Calls once everything that has come in by now is read. */
  afterReading: (fn: () => void) => void
  /** Called once. */
  onSilent: () => void
}

/** Contract: `heard` is a sign; `lasts` is milliseconds since the last one, or since the start. */
export type Silence = { heard(): void; lasts(): number }

export function watchSilence({ clock, limit_ms, afterReading, onSilent }: SilenceOptions): Silence {
  let since = clock.monotonic()
  const lasts = () => Math.round(clock.monotonic() - since)
  const look = () => {
    clock.after(Math.max(0, limit_ms - lasts()), () =>
      afterReading(() => {
        if (lasts() < limit_ms) look()
        else onSilent()
      }),
    )
  }
  look()
  return { heard: () => void (since = clock.monotonic()), lasts }
}
