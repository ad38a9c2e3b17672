import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ScheduleRecord } from '../../protocol/records/schedule-record.ts'
import type { DeliveryRecord, TriggerRecord } from '../../protocol/records/trigger-record.ts'
import { openApi } from '../../testing/http/api.ts'

type Triggers = { triggers: TriggerRecord[] }
type Acted = { trigger: TriggerRecord }
type Schedules = { schedules: ScheduleRecord[] }
type OnSchedule = { schedule: ScheduleRecord }

const triggers = '/agents/main/triggers'

test('each agent has a trigger of its own; a reset makes the old URL worthless', async (t) => {
  const api = await openApi(t)
  const [own] = (await api.get<Triggers>(triggers)).triggers
  assert.match(own?.url ?? '', /^http:\/\/127\.0\.0\.1:7777\/callbacks\/[\w-]{43}$/)
  assert.equal(JSON.stringify(own).includes('token_sha256'), false)
  const deliver = async (url: string | null | undefined) => {
    const path = new URL(url ?? '').pathname
    return (await api.app.request(path, { method: 'POST', headers: { host: '127.0.0.1:7777' } }))
      .status
  }
  assert.equal(await deliver(own?.url), 202)
  const { trigger } = await api.post<Acted>(`${triggers}/trig_${own?.id.slice(-6)}/reset`)
  assert.deepEqual([trigger.generation, trigger.delivered], [2, 1])
  assert.deepEqual([await deliver(own?.url), await deliver(trigger.url)], [404, 202])
  const kept = await api.refused('DELETE', `${triggers}/${own?.id}`)
  assert.deepEqual([kept.status, kept.code], [409, 'trigger_default'])
})

test('a minted trigger fixes source and resource; revoked, it opens and shows nothing', async (t) => {
  const api = await openApi(t)
  const body = { label: 'ci', source: 'github', resource: 'pr/7', delivery_mode: 'wake_hint' }
  const made = await api.ask<Acted>('POST', triggers, body, { 'idempotency-key': 'mint' })
  assert.equal(made.status, 201)
  const again = await api.ask<Acted>('POST', triggers, body, { 'idempotency-key': 'mint' })
  assert.equal(again.body.trigger.id, made.body.trigger.id)
  const { id } = made.body.trigger
  const revoked = await api.ask<Acted>('DELETE', `${triggers}/${id}`)
  assert.deepEqual([revoked.body.trigger.status, revoked.body.trigger.url], ['revoked', null])
  assert.equal((await api.get<Triggers>(triggers)).triggers.length, 1)
  assert.equal((await api.get<Triggers>(`${triggers}?status=all`)).triggers.length, 2)
  assert.equal((await api.refused('POST', triggers, { label: '' })).code, 'label_invalid')
})

test('the delivery log has what came in; a dead one needs a person and is redelivered', async (t) => {
  const api = await openApi(t)
  const [own] = (await api.get<Triggers>(triggers)).triggers
  assert.ok(own)
  const via = { kind: 'trigger', trigger_id: own.id } as const
  const common = { agent_id: 'main', via, body: '{"a":1}', source: 'ci' } as const
  await api.box.host.act({ do: 'deliver', ...common, sender_id: 'first' })
  await api.box.host.act({ do: 'dead_letter', ...common, reason: 'no such field' })
  const log = '/agents/main/deliveries'
  const listed = await api.get<{ deliveries: DeliveryRecord[] }>(log)
  assert.deepEqual(
    listed.deliveries.map(({ status, reason, sender_id }) => [status, reason, sender_id]),
    [
      ['accepted', null, 'first'],
      ['dead', 'no such field', null],
    ],
  )
  type Inbox = { attention: { id: string; kind: string; can: { path: string }[] }[] }
  const [entry] = (await api.get<Inbox>('/attention')).attention
  const [, dead] = listed.deliveries
  assert.deepEqual([entry?.id, entry?.kind], [dead?.id, 'dead_delivery'])
  const again = await api.ask<{ delivery: DeliveryRecord; message_id: string }>(
    'POST',
    entry?.can[0]?.path ?? '',
  )
  assert.deepEqual(
    [again.status, again.body.delivery.status, again.body.delivery.attempts],
    [202, 'accepted', 2],
  )
  const message = `/agents/main/messages/${again.body.message_id}`
  assert.equal((await api.get<{ body: string }>(message)).body, '{"a":1}')
  assert.deepEqual((await api.get<Inbox>('/attention')).attention, [])
})

test('a schedule is made, changed, paused, resumed and removed', async (t) => {
  const api = await openApi(t)
  const schedules = '/agents/main/schedules'
  const spec = { kind: 'cron', expression: '0 3 * * *', time_zone: 'Europe/Berlin' }
  const made = await api.ask<OnSchedule>('POST', schedules, { label: 'night', text: 'Look.', spec })
  assert.equal(made.status, 201)
  const path = `${schedules}/sched_${made.body.schedule.id.slice(-6)}`
  const changed = await api.ask<OnSchedule>('PATCH', path, { text: 'Look twice.' })
  assert.equal(changed.body.schedule.text, 'Look twice.')
  const paused = (await api.post<OnSchedule>(`${path}/pause`)).schedule
  assert.deepEqual([paused.status, paused.next_at], ['paused', null])
  assert.equal((await api.post<OnSchedule>(`${path}/resume`)).schedule.status, 'active')
  assert.deepEqual(await api.get(`${path}/slots`), { slots: [], next_cursor: null })
  assert.equal((await api.ask<OnSchedule>('DELETE', path)).body.schedule.status, 'removed')
  assert.deepEqual((await api.get<Schedules>(schedules)).schedules, [])
  assert.equal((await api.get<Schedules>(`${schedules}?status=removed`)).schedules.length, 1)
  assert.equal((await api.refused('POST', `${path}/resume`)).code, 'schedule_not_found')
  const odd = { kind: 'cron', expression: 'odd', time_zone: 'UTC' }
  const refused = await api.refused('POST', schedules, { label: 'x', text: 'x', spec: odd })
  assert.deepEqual([refused.status, refused.code], [422, 'schedule_invalid'])
})
