/**
 * Scripts for agents behind the HTTP application: a model that answers in order, and agents that
 * made an item, took it up and asked something about it.
 */
import type { TestContext } from 'node:test'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import type { WaitRecord } from '../../protocol/records/wait-record.ts'
import { openApi, type ApiBox, type ApiBoxOptions } from './api.ts'
import { calls, scriptedModel, type ScriptedModel } from '../scripted-model.ts'

type Scripted = Parameters<typeof scriptedModel>[0] extends (...given: never) => infer R ? R : never

/** The n-th answer to the n-th request; one too many is a broken test. */
export function inOrder(...answers: readonly (() => Scripted)[]): ScriptedModel {
  return scriptedModel((_request, n) => {
    const answer = answers[n - 1]
    if (answer === undefined) throw new Error(`request ${n} was not expected`)
    return answer()
  })
}

export const call = (name: string, input: Record<string, string | number | boolean>) =>
  calls({ name, input })

export type PendingQuestion = {
  api: ApiBox
  item: WorkItemRecord
  wait: WaitRecord
  model: ScriptedModel
}

/** An agent that works on one item and has asked `question` about it; its laps run. */
export async function asked(
  t: TestContext,
  question = 'Ship it?',
  then: readonly (() => Scripted)[] = [],
  options: ApiBoxOptions = {},
): Promise<PendingQuestion> {
  const made = { id: '' }
  const model = inOrder(
    () => call('PickWorkItem', { work_item_id: made.id }),
    () => call('WaitFor', { wake: 'operator_input', reason: question }),
    ...then,
  )
  const api = await openApi(t, { models: { default: model }, ...options })
  const body = { objective: 'Release 2.4.0', plan: '# Plan\nbuild, then ship\n' }
  const { work_item } = await api.post<{ work_item: WorkItemRecord }>(
    '/agents/main/work-items',
    body,
  )
  made.id = work_item.id
  // Said before the laps begin, so that the first turn is about these words.
  await api.post('/agents/main/messages', { text: 'Release it.' })
  const resting = api.box.rests('main', ({ next }) => next.do === 'wait')
  await api.box.host.open()
  await resting
  const { waits } = await api.get<{ waits: WaitRecord[] }>('/agents/main/waits')
  const [wait] = waits
  if (wait === undefined) throw new Error('the agent asked nothing')
  const item = await api.get<WorkItemRecord>(`/agents/main/work-items/${made.id}`)
  return { api, item, wait, model }
}
