/**
 * Upkeep of a home that is served: one piece of it at a time, whoever asked, and none any more once
 * the daemon stops. `stop` waits for the piece under way; a kill in it would be as good.
 */
import type { Ledger } from '../../ledger/port.ts'
import type { UpkeepPort } from '../../http/request/ports.ts'
import type { Config } from '../../protocol/config.ts'
import type { UpkeepEnd } from '../../protocol/upkeep.ts'
import { backupOf, retainIn } from './upkeep.ts'

export class UpkeepDesk {
  #running: { what: string; ended: Promise<void> } | null = null
  #stopped = false

  /** Refused with `upkeep_running` while there is another. Rejects as the work does. */
  async run<T>(what: string, work: () => Promise<UpkeepEnd<T>>): Promise<UpkeepEnd<T>> {
    if (this.#stopped) return busy('The daemon is stopping.')
    if (this.#running !== null) return busy(`A ${this.#running.what} is running.`)
    const ended = Promise.withResolvers<void>()
    this.#running = { what, ended: ended.promise }
    try {
      return await work()
    } finally {
      this.#running = null
      ended.resolve()
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running?.ended
  }
}

const busy = (message: string): UpkeepEnd<never> => ({
  ok: false,
  code: 'upkeep_running',
  message,
})

/** The desk as the HTTP surface has it. */
export function upkeepPort(
  desk: UpkeepDesk,
  ledger: Ledger,
  { home, config }: { home: string; config: Config },
): UpkeepPort {
  return {
    keep_days: config.retention?.keep_days ?? null,
    retain: (options) =>
      desk.run('retention', async () => ({ ok: true, value: await retainIn(ledger, options) })),
    backup: (asked) => desk.run('backup', () => backupOf(ledger, home, asked)),
  }
}
