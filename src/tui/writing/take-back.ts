/**
 * Taking back what was written: `up` in an empty box, while the newest message to the same place
 * waits for a turn. Its text returns to the box when the server has said that no turn will read it;
 * a turn that was faster keeps it, and the server says which. Pure.
 */
import { newestWaiting } from '../../present/history/unclaimed.ts'
import { isLive, type Act, type TuiModel, type MessageTarget } from '../model/model.ts'
import type { Transition } from '../model/step.ts'
import { returned } from './undone.ts'

type Open = NonNullable<TuiModel['writing']>

const underWay = 'it is being taken back …'

/** Null: nothing there can be taken back, so the key means what it means in any text. */
export function takeBack(model: TuiModel, { prompt, text }: Open): Transition | null {
  if (prompt.for !== 'message' || text.text !== '' || model.p === null) return null
  const newest = newestWaiting(model.p, prompt.target)
  if (newest === null) return null
  if (model.notice?.text === underWay) return [model, []]
  if (newest === 'sending') return said(model, 'not taken back yet: it is still on its way')
  if (!isLive(model)) return said(model, 'not taken back: no connection')
  const { target } = prompt
  const act: Act = {
    route: 'POST /agents/{agent}/messages/{message}/take-back',
    given: { agent: target.agent_id, message: newest.id },
    says: '',
  }
  const notice = { text: underWay, bad: false }
  return [{ ...model, notice }, [{ do: 'act', act, returns_to: target }]]
}

export const tookBack = (model: TuiModel, target: MessageTarget, text: string): Transition =>
  returned(
    { ...model, notice: { text: 'taken back: no turn has read it', bad: false } },
    { for: 'message', target, delivery: 'next' },
    text,
  )

const said = (model: TuiModel, why: string): Transition => [
  { ...model, notice: { text: why, bad: true } },
  [],
]
