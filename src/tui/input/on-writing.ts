/** Keys while something is written. Enter sends only text, and only while connected. Pure. */
import { asksForName, onAid, without } from '../writing/completion.ts'
import { snoozeAct, approvalAct } from './requests.ts'
import { budgetAct } from './settle.ts'
import { draftKey } from '../model/draft-key.ts'
import {
  isLive,
  viewOf,
  type Act,
  type Aid,
  type TuiModel,
  type PromptPurpose,
} from '../model/model.ts'
import { unfolded, whole, withPaste } from '../writing/pastes.ts'
import type { Effect, Transition } from '../model/step.ts'
import { makesAgent, noModel } from '../writing/first-agent.ts'
import { takeBack } from '../writing/take-back.ts'
import { unsettledOf } from '../writing/undone.ts'
import { changed, edited, inserted, moved, nothing, undone, written } from '../writing/writing.ts'

type Open = NonNullable<TuiModel['writing']>

/** Texts that were sent and can be had again. */
const historyHeld = 100

export function onWriting(
  model: TuiModel,
  open: Open,
  { key, text }: { key: string; text: string },
): Transition {
  const { prompt, aid } = open
  if (aid !== undefined) {
    const next = onAid(model, open, { aid, key, text })
    if (next === null) return onWriting(model, without(open), { key, text })
    return to(model, changed({ ...next, text: open.text }, next.text))
  }
  switch (key) {
    case 'ctrl+r':
      return to(model, { ...open, aid: { kind: 'history', words: '', at: 0 } })
    case 'ctrl+g':
      return [model, [{ do: 'edit', text: whole(open.text) }]]
    case 'ctrl+o':
      return to(model, { ...open, text: unfolded(open.text) })
    case 'ctrl+_':
      return to(model, undone(open))
    case 'esc':
      return left(model, open)
    case 'enter':
      return sent(model, open)
    case 'tab':
      if (prompt.for !== 'message') return [model, []]
      return to(model, {
        ...open,
        prompt: { ...prompt, delivery: prompt.delivery === 'now' ? 'next' : 'now' },
      })
    case 'ctrl+s':
      return left(model, open)
    case 'up':
    case 'down':
      return (key === 'up' ? takeBack(model, open) : null) ?? upOrDown(model, open, key)
  }
  const names: Aid | null =
    prompt.for === 'message' && asksForName(open.text, text)
      ? { kind: 'names', words: '', at: 0 }
      : null
  const next = edited(open.text, key) ?? (text === '' ? null : withPaste(open.text, text))
  if (next === null) return [model, []]
  return to(model, { ...changed(open, next), ...(names === null ? {} : { aid: names }) })
}

const to = (model: TuiModel, writing: Open): Transition => [
  { ...model, writing, notice: null },
  writing.prompt.for === 'message' ? [{ do: 'keep_drafts' }] : [],
]

/** At the edge of the text, through what was sent before; the draft is the newest of it. */
function upOrDown(model: TuiModel, open: Open, key: 'up' | 'down'): Transition {
  const step = key === 'up' ? -1 : 1
  const within = moved(open.text, step)
  if (within !== null) return to(model, { ...open, text: within })
  const all = [...model.history, model.drafts.get(draftKey(open.prompt)) ?? '']
  const at = all.lastIndexOf(open.text.text)
  const next = all[(at < 0 ? all.length - 1 : at) + step]
  return next === undefined ? [model, []] : to(model, { ...open, text: written(next) })
}

/** What is written stays with what it was written to. */
function left(model: TuiModel, { prompt, text }: Open): Transition {
  const drafts = new Map(model.drafts)
  const key = draftKey(prompt)
  const words = whole(text)
  if (words.trim() === '') drafts.delete(key)
  else drafts.set(key, words)
  return [{ ...model, writing: null, drafts, notice: null }, [{ do: 'keep_drafts' }]]
}

function sent(model: TuiModel, open: Open): Transition {
  const { prompt, text } = open
  if (prompt.for === 'find') return [{ ...left(model, open)[0] }, []]
  // A backslash at the end asks for another line.
  if (text.text.endsWith('\\') && text.cursor === text.text.length) {
    return to(model, changed(open, inserted(edited(text, 'backspace') ?? text, '\n')))
  }
  if (text.text.trim() === '') return said(model, 'nothing is written; esc leaves')
  const again = unsettledOf(model, { prompt, text: whole(text) })
  if (!isLive(model)) {
    const what = again === null ? 'not sent' : 'not sent again'
    return said(model, `${what}: no connection. It stays in this box.`)
  }
  if (prompt.for === 'snooze') {
    const reply = snoozeAct(prompt.entry, whole(text), model.now)
    if (reply.do !== 'act') return said(model, reply.do === 'refuse' ? reply.why : '')
    return done(model, prompt, whole(text), { do: 'act', act: reply.act })
  }
  if (prompt.for === 'budget') {
    const reply = budgetAct(prompt, whole(text), model.now)
    if (reply.do !== 'act') return said(model, reply.do === 'refuse' ? reply.why : '')
    return done(model, prompt, whole(text), { do: 'act', act: reply.act })
  }
  const makes = makesFor(model, prompt)
  if (makes === 'no_model') return said(model, noModel)
  const effect = { ...effectOf(prompt, whole(text)), ...(makes === null ? {} : { makes }) }
  return done(model, prompt, whole(text), again === null ? effect : { ...effect, act: again.act })
}

/** Only words make an agent; what has an item or a wait has its agent. */
function makesFor(model: TuiModel, prompt: PromptPurpose): ReturnType<typeof makesAgent> {
  if (prompt.for === 'message') {
    const { agent_id, work_item_id } = prompt.target
    return work_item_id === null ? makesAgent(model, agent_id) : null
  }
  return prompt.for === 'new_item' ? makesAgent(model, prompt.agent_id) : null
}

const said = (model: TuiModel, why: string): Transition => [
  { ...model, notice: { text: why, bad: true } },
  [],
]

function done(model: TuiModel, prompt: PromptPurpose, text: string, effect: ActEffect): Transition {
  const [drafts, unsettled] = [new Map(model.drafts), new Map(model.unsettled)]
  drafts.delete(draftKey(prompt))
  unsettled.delete(draftKey(prompt))
  const history = [...model.history.filter((one) => one !== text), text].slice(-historyHeld)
  // In the thread of what it is to the box stays open for the next message; elsewhere what comes
  // of it stands at the foot, and keys are keys again.
  const isInThread = viewOf(model).place.at === 'item'
  const writing = prompt.for === 'message' && isInThread ? { prompt, text: nothing } : null
  const sends: Effect = { ...effect, box: { prompt, text } }
  return [
    { ...model, writing, drafts, unsettled, history, notice: null, receipt: null },
    [sends, { do: 'keep_drafts' }],
  ]
}

type ActEffect = Extract<Effect, { do: 'act' }>

type Sending = Exclude<PromptPurpose, { for: 'find' | 'snooze' | 'budget' }>

function effectOf(prompt: Sending, text: string): ActEffect {
  switch (prompt.for) {
    case 'message': {
      const { agent_id, work_item_id } = prompt.target
      const body = {
        text,
        ...(work_item_id === null ? {} : { work_item_id }),
        ...(prompt.delivery === 'now' ? { priority: 'interject' } : {}),
      }
      const act: Act = {
        route: 'POST /agents/{agent}/messages',
        given: { agent: agent_id, body },
        says: '',
      }
      return { do: 'act', act, sent: { key: '', text, agent_id, work_item_id } }
    }
    case 'new_item': {
      const [objective = '', ...rest] = text.trim().split('\n')
      const plan = rest.join('\n').trim()
      const body = { objective, ...(plan === '' ? {} : { plan: `${plan}\n` }) }
      const given = { agent: prompt.agent_id, body }
      return {
        do: 'act',
        act: { route: 'POST /agents/{agent}/work-items', given, says: 'the item is made' },
      }
    }
    case 'answer': {
      const { agent_id: agent, wait_id: wait, bound_hash } = prompt
      const given = { agent, wait, body: { text, bound_hash } }
      const route = 'POST /agents/{agent}/waits/{wait}/answer'
      return { do: 'act', act: { route, given, says: 'answered' } }
    }
    case 'refusal':
      return {
        do: 'act',
        act: approvalAct({ ...prompt, id: prompt.task_id }, { choice: 'no', text }),
      }
    case 'focus': {
      const { agent_id: agent, work_item_id: item } = prompt
      const given = { agent, item, body: { reason: text } }
      return {
        do: 'act',
        act: {
          route: 'POST /agents/{agent}/work-items/{item}/pick',
          given,
          says: 'it is in focus',
        },
      }
    }
    case 'model': {
      const given = { agent: prompt.agent_id, body: { model: text.trim() } }
      const says = `${prompt.agent_id} works with ${text.trim()}`
      return { do: 'act', act: { route: 'PATCH /agents/{agent}', given, says } }
    }
    case 'objective': {
      const { agent_id: agent, work_item_id: item } = prompt
      const given = { agent, item, body: { objective: text.trim() } }
      const route = 'PATCH /agents/{agent}/work-items/{item}'
      return { do: 'act', act: { route, given, says: 'its objective is changed' } }
    }
    case 'task_input': {
      const { agent_id: agent, task_id: task } = prompt
      const given = { agent, task, body: { text: `${text}\n` } }
      const route = 'POST /agents/{agent}/tasks/{task}/input'
      return { do: 'act', act: { route, given, says: 'written' } }
    }
  }
}
