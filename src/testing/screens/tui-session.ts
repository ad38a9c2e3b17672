/** A screen's session over a stage, and what a test does with it: keys, and frames it waits for. */
import type { StateRecord } from '../../protocol/views/state-record.ts'
import { textOf } from '../../tui/drawing/line.ts'
import type { TuiOptions } from '../../tui/ports.ts'
import { Session } from '../../tui/session.ts'
import type { Scope } from '../host/host-fixture.ts'
import { aStage, options, type Answers, type TuiStage } from './tui-stage.ts'

export type Opened = {
  session: Session
  stage: TuiStage
  text: () => string
  lines: () => string[]
}
type Asked = { answers?: Answers; size?: readonly [number, number]; options?: Partial<TuiOptions> }

/** A session that is live; it is closed with its test. */
export async function openSession(
  t: Scope,
  state: () => StateRecord,
  { answers = {}, size: [columns, rows] = [80, 24], options: more = {} }: Asked = {},
): Promise<Opened> {
  const stage = aStage(state, answers)
  const session = new Session(stage.ports, { ...options, ...more }, { columns, rows })
  t.after(() => session.close())
  void session.run()
  const text = () => session.frame().map(textOf).join('\n')
  await until(session, () => session.model.p?.link.kind === 'live')
  return { session, stage, text, lines: () => text().split('\n') }
}

/** Resolves with the first frame that `is` accepts. */
export function until(session: Session, is: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = () => {
    if (!is()) return
    stop()
    resolve()
  }
  const stop = session.subscribe(look)
  look()
  return promise
}

export const press = (session: Session, ...keys: string[]): void => {
  for (const key of keys) session.key(key, key.length === 1 ? key : '')
}
/** Letter by letter. */
export const type = (session: Session, text: string): void => {
  for (const one of text) session.key(one === ' ' ? 'space' : one, one)
}
