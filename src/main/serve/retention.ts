/**
 * What the daemon lets go of by itself: a while after it began, and every day from then on, what
 * ended longer ago than the configuration keeps. A failure is logged and tried again the next day;
 * other upkeep that is under way goes first.
 */
import type { Clock } from '../../exec/ports.ts'
import type { UpkeepPort } from '../../http/request/ports.ts'
import type { Log } from '../../telemetry/log.ts'

const day = 86_400_000
/** Milliseconds after the start: recovery and whoever waited for it go first. */
const firstAfter = 60_000
/** Milliseconds until it is tried again when other upkeep was running. */
const busyFor = 600_000

export type RetentionPorts = {
  clock: Pick<Clock, 'now' | 'after'>
  upkeep: Pick<UpkeepPort, 'keep_days' | 'retain'>
  log: Pick<Log, 'info' | 'error'>
}

/** Begins none any more when `stop` was called; the one under way is the desk's to wait for. */
export function startRetention({ clock, upkeep, log }: RetentionPorts): { stop(): void } | null {
  const { keep_days } = upkeep
  if (keep_days === null) return null
  let stopped = false
  let cancel = () => {}
  /** Milliseconds until the next. */
  const once = async (): Promise<number> => {
    const before = new Date(clock.now() - keep_days * day).toISOString()
    try {
      const done = await upkeep.retain({ before, dry_run: false })
      if (!done.ok) return busyFor
      const { events, blobs, bytes } = done.value
      log.info('retention', { before, events, blobs, bytes })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.error('retention failed', { before, reason })
    }
    return day
  }
  const due = async () => {
    const next = await once()
    if (!stopped) arm(next)
  }
  const arm = (ms: number) => {
    // It never rejects: what fails is logged.
    cancel = clock.after(ms, () => void due())
  }
  arm(firstAfter)
  return {
    stop() {
      stopped = true
      cancel()
    },
  }
}
