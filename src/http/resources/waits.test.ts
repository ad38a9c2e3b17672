import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Can } from '../../protocol/actions/action.ts'
import type { Attention } from '../../protocol/views/attention.ts'
import type { WaitRecord } from '../../protocol/records/wait-record.ts'
import { calls, says } from '../../testing/scripted-model.ts'
import { openApi } from '../../testing/http/api.ts'
import { asked, call, inOrder } from '../../testing/http/api-scripts.ts'

type Waits = { waits: WaitRecord[]; next_cursor: string | null }
type Acted = { wait: WaitRecord; message_id: string; resolved: string[] }

const waits = '/agents/main/waits'
const allowed = (can: readonly Can[]) => can.flatMap((one) => (one.allowed ? [one.key] : []))

test('an answer is compare and set: one wins, the loser gets 409 naming who answered', async (t) => {
  const { api, wait } = await asked(t, 'Ship it?', [() => says('Thank you.')])
  const { bound_hash } = wait
  assert.deepEqual(allowed(wait.can), ['answer', 'cancel_wait'])
  const path = `${waits}/${wait.id}/answer`
  const changed = await api.refused('POST', path, {
    text: 'yes',
    bound_hash: 'of another question',
  })
  assert.deepEqual([changed.status, changed.code], [409, 'question_changed'])
  const answers = await Promise.all(
    ['yes', 'no'].map((text) => api.ask<Acted>('POST', path, { text, bound_hash })),
  )
  const [winner, loser] = answers.toSorted((a, b) => a.status - b.status)
  assert.equal(winner?.status, 202)
  assert.deepEqual(winner?.body.resolved, [wait.id])
  assert.deepEqual([winner?.body.wait.status, winner?.body.wait.bound_hash], ['resolved', null])
  const problem = loser?.body as unknown as { code: string; detail: string }
  assert.deepEqual([loser?.status, problem.code], [409, 'already_answered'])
  const who = `through the control API at ${winner?.body.wait.resolved_at}, in ${winner?.body.message_id}`
  assert.equal(problem.detail, `${wait.id} was answered ${who}.`)
})

test('one of choice and text is an answer; both, none or another kind of wait are refused', async (t) => {
  const { api, wait } = await asked(t)
  const { bound_hash } = wait
  const path = `${waits}/${wait.id}/answer`
  for (const [body, code] of [
    [{ bound_hash }, 'answer_wants_one'],
    [{ bound_hash, text: 'yes', choice: 'no' }, 'answer_wants_one'],
    [{ text: 'yes' }, 'invalid_request'],
    [{ bound_hash, text: '' }, 'message_empty'],
  ] as const) {
    assert.equal((await api.refused('POST', path, body)).code, code, JSON.stringify(body))
  }
})

test('a cancelled wait stays to be read, and the item may go on', async (t) => {
  const { api, wait, item } = await asked(t, 'Ship it?', [() => says('I go on.')])
  await api.box.host.close('safe_point')
  const cancelled = await api.ask<Acted>('DELETE', `${waits}/${wait.id}`)
  assert.deepEqual([cancelled.status, cancelled.body.wait.status], [200, 'cancelled'])
  assert.deepEqual((await api.get<Waits>(waits)).waits, [])
  const ended = await api.get<Waits>(`${waits}?status=cancelled`)
  assert.deepEqual(ended.waits, [cancelled.body.wait])
  assert.deepEqual((await api.get<Waits>(`${waits}?status=all`)).waits, ended.waits)
  const after = await api.get<{ scheduling_state: string }>(`/agents/main/work-items/${item.id}`)
  assert.equal(after.scheduling_state, 'runnable')
  const again = await api.refused('DELETE', `${waits}/${wait.id}`)
  assert.deepEqual([again.status, again.code], [409, 'wait_not_active'])
})

test('an external wait is fired by hand; it is triggered, not ended', async (t) => {
  const model = inOrder(
    () => call('WaitFor', { wake: 'external', source: 'ci', resource: 'build', reason: 'a build' }),
    () => says('Seen.'),
  )
  const api = await openApi(t, { models: { default: model } })
  await api.post('/agents/main/messages', { text: 'Wait for the build.' })
  const resting = api.box.rests('main')
  await api.box.host.open()
  await resting
  const [wait] = (await api.get<Waits>(waits)).waits
  assert.deepEqual(allowed(wait?.can ?? []), ['trigger', 'cancel_wait'])
  const fired = await api.ask<Acted & { triggered: string[] }>(
    'POST',
    `${waits}/${wait?.id}/trigger`,
    { body: 'green' },
  )
  assert.equal(fired.status, 202)
  assert.deepEqual(fired.body.triggered, [wait?.id])
  assert.deepEqual([fired.body.wait.status, fired.body.wait.trigger_count], ['active', 1])
})

test('a question stands in the attention list with its hash until a fact removes it', async (t) => {
  const { api, wait, item } = await asked(t, 'Ship it?', [() => calls(), () => says('Thank you.')])
  await api.box.host.close('safe_point')
  const inbox = async (query = '') =>
    (await api.get<{ attention: Attention[]; total: number }>(`/attention${query}`)).attention
  const [entry] = await inbox()
  assert.deepEqual(
    [entry?.id, entry?.kind, entry?.text, entry?.work_item_id, entry?.bound_hash],
    [wait.id, 'question', 'Ship it?', item.id, wait.bound_hash],
  )
  assert.deepEqual(
    entry?.can.map(({ key }) => key),
    ['answer', 'snooze', 'dismiss'],
  )
  const answer = { text: 'yes', bound_hash: entry?.bound_hash }
  await api.post(`${waits}/${wait.id}/answer`, answer)
  assert.deepEqual(await inbox('?include_snoozed=true'), [])
})

test('an entry is put away for a time or for good, by its short id, and stays to be seen', async (t) => {
  const { api, wait } = await asked(t)
  const inbox = async (query = '') =>
    (await api.get<{ attention: Attention[] }>(`/attention${query}`)).attention
  const until = new Date(Date.parse(api.home.now()) + 3_600_000).toISOString()
  const path = `/attention/wait_${wait.id.slice(-6)}`
  await api.post(`${path}/snooze`, { until })
  assert.deepEqual(await inbox(), [])
  const [away] = await inbox('?include_snoozed=true')
  assert.deepEqual([away?.id, away?.snoozed], [wait.id, { until }])
  await api.post(`${path}/dismiss`)
  const [gone] = await inbox('?include_snoozed=true')
  assert.deepEqual(gone?.snoozed, { until: null })
  for (const [entry, body, code] of [
    ['wait_ffffff', {}, 'attention_not_found'],
    [wait.id, { until: '2020-01-01T00:00:00.000Z' }, 'time_invalid'],
    [wait.id, { until: 'tomorrow' }, 'invalid_request'],
  ] as const) {
    const problem = await api.refused('POST', `/attention/${entry}/snooze`, {
      until,
      ...body,
    })
    assert.equal(problem.code, code)
  }
})
