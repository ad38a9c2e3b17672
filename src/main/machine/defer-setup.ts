/**
 * What a home goes on with comes before what nobody has asked for yet: the program's own set-up, a
 * tenth of a second of schemas and routes, waits until a lap has asked its model or come to rest.
 */
import type { Clock } from '../../exec/ports.ts'
import type { HostNotice } from '../../runtime/ports.ts'

/** Milliseconds it waits at most: a model may take long to answer. */
const patience = 100

export type HeadStart = { notice(notice: HostNotice): void; over(): Promise<void> }

/** Give it every notice from the start. `over` resolves at once where laps have begun already. */
export function headStart(clock: Clock): HeadStart {
  const begun = Promise.withResolvers<void>()
  return {
    // Word of a commit comes before its request is out; all other notices come after.
    notice: ({ kind }) => {
      if (kind !== 'committed') begun.resolve()
    },
    async over() {
      const giveUp = clock.after(patience, () => begun.resolve())
      await begun.promise
      giveUp()
    },
  }
}
