/**
 * The application of a home, made when the first request of it comes: who listens takes its port at
 * once and loads no schemas before somebody asks.
 */
import type { Answering } from './answering.ts'
import type { Application } from './app.ts'

/** Contract: `answering` makes it at the first call; rejects as making it does. */
export type LateApp = { answering(): Promise<Answering>; close(): Promise<void> }

/** The application from its first use on. */
export function lateApp(build: () => Application | Promise<Application>): LateApp {
  let made: Promise<{ app: Application; answering: Answering }> | null = null
  let closed = false
  const make = async () => {
    const [app, { answeringOf }] = await Promise.all([build(), import('./answering.ts')])
    if (closed) app.close()
    return { app, answering: answeringOf(app) }
  }
  return {
    answering: async () => (await (made ??= make())).answering,
    close: async () => {
      closed = true
      // One that could not be made has nothing to close.
      const found = await made?.catch(() => null)
      found?.app.close()
    },
  }
}

/** Where there is no application the connection ends; whoever waits for `answers` is told why. */
export async function answered(
  late: LateApp,
  connection: { destroy(): unknown },
  by: (answering: Answering) => void,
): Promise<void> {
  const answering = await late.answering().catch(() => null)
  if (answering === null) connection.destroy()
  else by(answering)
}
