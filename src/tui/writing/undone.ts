/**
 * Words that were sent and not taken: they return to where they were written. Where no answer says
 * whether they were, they may have arrived; sent again as they stand, they go under their first
 * key, so that the server has them once. Pure.
 */
import { draftKey } from '../model/draft-key.ts'
import type { Act, TuiModel, PromptPurpose, Unsettled } from '../model/model.ts'
import { whole } from './pastes.ts'
import type { PromptText, Transition } from '../model/step.ts'
import { changed, written } from './writing.ts'

type Undone = { box: PromptText; failure: string; unsettled: Act | null }

export function undone(model: TuiModel, { box, failure, unsettled: act }: Undone): Transition {
  const key = draftKey(box.prompt)
  const unsettled = new Map(model.unsettled)
  unsettled.delete(key)
  if (act !== null) unsettled.set(key, { text: box.text, act })
  const notice = { text: failure, bad: true }
  return returned({ ...model, unsettled, notice }, box.prompt, box.text)
}

/** The text stands before what was typed meanwhile; where nobody writes there, it is the draft. */
export function returned(model: TuiModel, prompt: PromptPurpose, text: string): Transition {
  const before = (typed: string) => (typed === '' ? text : `${text}\n${typed}`)
  const { writing } = model
  const key = draftKey(prompt)
  if (writing !== null && draftKey(writing.prompt) === key) {
    const next = changed(writing, written(before(whole(writing.text))))
    return [{ ...model, writing: next }, [{ do: 'keep_drafts' }]]
  }
  const drafts = new Map(model.drafts).set(key, before(model.drafts.get(key) ?? ''))
  return [{ ...model, drafts }, [{ do: 'keep_drafts' }]]
}

/** The first sending of these very words from this box, while its outcome is unknown. */
export function unsettledOf(model: TuiModel, { prompt, text }: PromptText): Unsettled | null {
  const found = model.unsettled.get(draftKey(prompt))
  return found?.text === text ? found : null
}

export type SendState = 'unsent' | 'on_its_way' | 'unknown'

/** What became of the words of the box that is open. */
export function standingOf(model: TuiModel, box: PromptText): SendState {
  if (unsettledOf(model, box) !== null) return 'unknown'
  const { prompt, text } = box
  if (prompt.for !== 'message' || text !== '') return 'unsent'
  const { agent_id, work_item_id } = prompt.target
  const isOut = model.p?.sent.some(
    (one) =>
      one.agent_id === agent_id &&
      one.work_item_id === work_item_id &&
      one.state.kind === 'sending',
  )
  return isOut === true ? 'on_its_way' : 'unsent'
}
