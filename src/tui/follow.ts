/**
 * The screen while it follows the daemon. What draws is loaded while the daemon is asked for the
 * state, and draws for the first time when there is something true to draw.
 */
import { withoutSkeleton } from './drawing/escapes.ts'
import type { TuiModel } from './model/model.ts'
import type { TuiOptions, TuiPorts } from './ports.ts'
import { Session, type SessionEnd } from './session.ts'
import { noSignals, signalsOf, signalsOff, signalsOn } from './signals.ts'

/** Milliseconds that may pass before the screen is drawn with what there is. */
const patience = 150

/** Resolves when the person has left. */
export async function follow(
  ports: TuiPorts,
  options: TuiOptions,
  size: TuiModel['size'],
): Promise<SessionEnd> {
  const { stdout } = ports
  const session = new Session(ports, options, size)
  const left = session.run()
  try {
    const [{ draw }] = await Promise.all([import('./app.ts'), firstFrame(session, ports)])
    stdout.write(withoutSkeleton)
    const drawn = draw(session, ports, options)
    const quiet = signalling(session, stdout)
    ports.at_work()
    try {
      return await left
    } finally {
      quiet()
      await drawn.end()
    }
  } finally {
    session.close()
  }
}

/** Tells the terminal with every change that is worth it; the answer ends that. */
function signalling(session: Session, stdout: TuiPorts['stdout']): () => void {
  let signals = noSignals
  const tell = () => {
    const { next, write } = signalsOf(signals, session.model, session.focused)
    signals = next
    if (write !== '') stdout.write(write)
  }
  stdout.write(signalsOn)
  tell()
  const stop = session.subscribe(tell)
  return () => {
    stop()
    stdout.write(signalsOff)
  }
}

/** Resolves when there is all that the first frame shows, or it is late. */
async function firstFrame(session: Session, { clock }: TuiPorts): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(patience, resolve)
  const stop = session.subscribe(() => session.isWhole() && resolve())
  await promise
  cancel()
  stop()
}
