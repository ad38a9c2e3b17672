/** `POST …/messages/{message}/take-back` over a real host: before a turn claims it, and after. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Can } from '../../protocol/actions/action.ts'
import type { MessageRecord } from '../../protocol/records/message-record.ts'
import type { WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { openApi, type ApiBox } from '../../testing/http/api.ts'
import { call } from '../../testing/http/api-scripts.ts'
import { says, scriptedModel } from '../../testing/scripted-model.ts'

const inbox = '/agents/main/messages'
type TakenBack = { message: MessageRecord; said: string; message_id: string }
type Accepted = { message_id: string }

/** An agent that is in the middle of its first turn until `goOn` is called. */
async function atWork(t: Parameters<typeof openApi>[0]) {
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const model = scriptedModel(async () => {
    asked.resolve()
    await gate.promise
    return says('Done.')
  })
  const api = await openApi(t, { models: { default: model } })
  const { message_id: first } = await api.post<Accepted>(inbox, { text: 'Begin.' })
  await api.box.host.open()
  await asked.promise
  return { api, model, first, goOn: gate.resolve }
}

const one = (api: ApiBox, id: string) => api.get<MessageRecord>(`${inbox}/${id}`)
const canOf = ({ can }: { can: readonly Can[] }) =>
  can.map(({ key, allowed, method, path, cli, code }) => ({
    key,
    allowed,
    method,
    path,
    cli,
    code,
  }))

test('what waits while a turn runs is taken back, and no request ever shows it', async (t) => {
  const { api, model, goOn } = await atWork(t)
  const bodies = [
    { text: 'Use the red one.' },
    { text: 'At once: the blue one.', priority: 'interject' },
  ]
  for (const body of bodies) {
    const { message_id: id } = await api.post<Accepted>(inbox, body)
    const doors = {
      key: 'take_back',
      method: 'POST',
      path: `${inbox}/${id}/take-back`,
      cli: `holon take-back ${id}`,
    }
    assert.deepEqual(canOf(await one(api, id)), [{ ...doors, allowed: true, code: null }])
    const path = `${inbox}/${id}/take-back`
    const { message, said } = await api.post<TakenBack>(path)
    assert.equal(said, `${id} is taken back; no turn has read it.`)
    assert.deepEqual(
      [message.body, message.status, message.turn_id, message.receipt.said],
      [body.text, 'dropped', null, 'dropped: taken back by the operator'],
    )
    assert.deepEqual(canOf(message), [{ ...doors, allowed: false, code: 'no_change' }])
    const again = await api.post<TakenBack>(path)
    assert.deepEqual([again.said, again.message], [`${id} was taken back before.`, message])
  }
  const resting = api.box.rests('main')
  goOn()
  await resting
  const dropped = await api.get<{ messages: MessageRecord[] }>(`${inbox}?status=dropped`)
  assert.deepEqual(
    dropped.messages.map(({ body }) => body),
    bodies.map(({ text }) => text),
  )
  assert.equal(model.requests.length, 1)
  assert.doesNotMatch(JSON.stringify(model.requests), /red one|blue one/)
  const log = await api.box.ledger.events({ after: 0, limit: 1_000 })
  const taken = log.filter(({ event }) => event.type === 'message_taken_back')
  assert.deepEqual(
    taken.map(({ event, causation_id }) => [Object(event).surface, causation_id]),
    [
      ['http_control', 'operator'],
      ['http_control', 'operator'],
    ],
  )
})

test('two that take it back at once get the same answer, and it is one event', async (t) => {
  const { api, goOn } = await atWork(t)
  const { message_id: id } = await api.post<Accepted>(inbox, { text: 'No, wait.' })
  const path = `${inbox}/${id}/take-back`
  const answers = await Promise.all([1, 2, 3].map(() => api.ask<TakenBack>('POST', path)))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.message.status]),
    answers.map(() => [200, 'dropped']),
  )
  const log = await api.box.ledger.events({ after: 0, limit: 1_000 })
  assert.equal(log.filter(({ event }) => event.type === 'message_taken_back').length, 1)
  goOn()
})

test('what a turn has, what is not the operator’s, and what is not there is refused', async (t) => {
  const { api, first, goOn } = await atWork(t)
  const back = (id: string) => api.refused('POST', `${inbox}/${id}/take-back`)
  const taken = await back(first)
  const turn = (await one(api, first)).turn_id
  assert.deepEqual(
    [taken.status, taken.code, taken.detail],
    [409, 'message_in_turn', `${first} is in turn ${turn} already.`],
  )
  const [can] = (await one(api, first)).can
  assert.deepEqual([can?.allowed, can?.code, can?.why], [false, taken.code, taken.detail])
  const delivered = await api.box.host.act({ do: 'trigger', agent_id: 'main', body: 'green' })
  assert.ok(delivered.ok)
  const event = await back(delivered.message_id ?? '')
  assert.deepEqual([event.status, event.code], [409, 'message_not_yours'])
  assert.deepEqual((await back('msg_nothere')).status, 404)
  assert.deepEqual((await back('nonsense')).status, 422)
  const resting = api.box.rests('main')
  goOn()
  await resting
  assert.equal((await back(first)).detail, `${first} was in turn ${turn}.`)
})

test('words that met a question asked after them have answered it', async (t) => {
  const at = { item: '', words: '', other: '' }
  const asked = Promise.withResolvers<void>()
  const send = async (api: ApiBox, text: string) =>
    (await api.post<Accepted>(inbox, { text, work_item_id: at.item })).message_id
  const model = scriptedModel(async (_request, n) => {
    if (n === 1) return call('PickWorkItem', { work_item_id: at.item })
    if (n > 2) {
      asked.resolve()
      return says('Painted.')
    }
    at.words = await send(api, 'Red.')
    at.other = await send(api, 'And soon.')
    return call('WaitFor', { wake: 'operator_input', reason: 'Red or blue?' })
  })
  const api = await openApi(t, { models: { default: model } })
  const given = { objective: 'Paint it', budget: { max_rounds: 2 } }
  const made = await api.post<{ work_item: WorkItemRecord }>('/agents/main/work-items', given)
  at.item = made.work_item.id
  await api.post(inbox, { text: 'Begin.' })
  const resting = api.box.rests('main')
  await api.box.host.open()
  await resting
  // The budget of the item is used up, so its messages wait.
  const { status, can, wait_id } = await one(api, at.words)
  assert.deepEqual([status, wait_id, can[0]?.code], ['queued', null, 'message_is_answer'])
  const listed = await api.get<{ messages: MessageRecord[] }>(`${inbox}?status=queued`)
  assert.deepEqual(
    listed.messages.map((message) => message.can.map(({ code }) => code)),
    [['message_is_answer'], [null]],
  )
  const refused = await api.refused('POST', `${inbox}/${at.words}/take-back`)
  assert.deepEqual([refused.status, refused.code], [409, 'message_is_answer'])
  assert.equal((await api.ask('POST', `${inbox}/${at.other}/take-back`)).status, 200)
  // With a limit lifted the next turn quotes what was said about the item.
  await api.ask('PATCH', `/agents/main/work-items/${at.item}`, { budget: null })
  await asked.promise
  const later = JSON.stringify(model.requests.slice(2))
  assert.match(later, /Red\./)
  assert.doesNotMatch(later, /And soon\./)
})
