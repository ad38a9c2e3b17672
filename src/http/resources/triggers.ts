/**
 * Triggers: the capability URLs of an agent, shown to whoever holds the control token; minted,
 * reset and revoked (docs/spec/wait.md#triggers, docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnTrigger, toldOf } from '../../protocol/acts/acted.ts'
import { canOfTrigger } from '../../protocol/actions/can.ts'
import type { Rows } from '../../protocol/records/records.ts'
import {
  newTrigger,
  triggerList,
  triggerRecord,
  triggerRecordOf,
  triggerStatuses,
  type TriggerRecord,
} from '../../protocol/records/trigger-record.ts'
import { actedOn, answerOf, bodyOf, created, madeBy } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed, type Lookup } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['triggers']
const one = { params: agentAnd('trigger', 'trig'), query: noQuery }
const refusals = problems(404, 409, 422)

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/triggers',
  tags,
  summary: 'Its triggers with their URLs, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({
      status: z
        .enum([...triggerStatuses, 'all'])
        .default('active')
        .meta({ default: 'active' }),
    }),
  },
  responses: { 200: answerOf('A page.', triggerList), ...problems(400, 404, 409, 422) },
})

const make = createRoute({
  method: 'post',
  path: '/agents/{agent}/triggers',
  tags,
  summary: 'Mint a trigger; what is fixed here wins over what a delivery names',
  request: { params: agentParams, query: noQuery, ...bodyOf(newTrigger) },
  responses: { 201: answerOf('It is minted.', actedOnTrigger), ...problems(404, 409, 422, 503) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/triggers/{trigger}',
  tags,
  summary: 'One trigger with its URL',
  request: one,
  responses: { 200: answerOf('The trigger.', triggerRecord), ...refusals },
})

const reset = createRoute({
  method: 'post',
  path: '/agents/{agent}/triggers/{trigger}/reset',
  tags,
  summary: 'Give it a new URL; the old one opens nothing any more',
  request: one,
  responses: {
    200: answerOf('It has a new URL.', actedOnTrigger),
    ...problems(404, 409, 422, 503),
  },
})

const revoke = createRoute({
  method: 'delete',
  path: '/agents/{agent}/triggers/{trigger}',
  tags,
  summary: 'Revoke it for good',
  request: one,
  responses: { 200: answerOf('It is revoked.', actedOnTrigger), ...refusals },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const recordOf = async (trigger: Rows['triggers']): Promise<TriggerRecord> => {
    const view = views.of(trigger.agent_id)
    const can = view === null ? [] : canOfTrigger(view, trigger)
    return triggerRecordOf(trigger, await home.triggerUrl(trigger), can)
  }

  const act = async (
    agent: string,
    text: string,
    verb: 'reset_trigger' | 'revoke_trigger',
  ): Promise<Lookup<{ trigger: TriggerRecord } & ReturnType<typeof toldOf>>> => {
    const on = await actedOn(home, 'triggers', { agent, text }, (trigger_id) => {
      return { do: verb, agent_id: agent, trigger_id }
    })
    if (!on.ok) return on
    const { row, done } = on.value
    return { ok: true, value: { trigger: await recordOf(row), ...toldOf(done) } }
  }

  app.openapi(list, async (c) => {
    const agent_id = c.req.valid('param').agent
    const view = agentNamed(views, agent_id)
    if (!view.ok) return view.refusal
    const { status, ...query } = c.req.valid('query')
    const filter = { agent_id, ...(status === 'all' ? {} : { status: [status] }) }
    const page = await pageOfRows(home, 'triggers', filter, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ triggers: await Promise.all(entries.map(recordOf)), next_cursor }, 200)
  })

  app.openapi(make, async (c) => {
    const agent_id = c.req.valid('param').agent
    const command = { do: 'create_trigger', agent_id, ...c.req.valid('json') } as const
    const done = await created(c, home, '/agents/{agent}/triggers', command)
    if (!done.ok) return done.refusal
    const found = await rowNamed(home, 'triggers', agent_id, madeBy(done.value))
    if (!found.ok) return found.refusal
    const trigger = await recordOf(found.value)
    const location = `/agents/${agent_id}/triggers/${trigger.id}`
    return c.json({ trigger, ...toldOf(done.value) }, 201, { location })
  })

  app.openapi(read, async (c) => {
    const { agent, trigger } = c.req.valid('param')
    const found = await rowNamed(home, 'triggers', agent, trigger)
    return found.ok ? c.json(await recordOf(found.value), 200) : found.refusal
  })

  app.openapi(reset, async (c) => {
    const { agent, trigger } = c.req.valid('param')
    const done = await act(agent, trigger, 'reset_trigger')
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(revoke, async (c) => {
    const { agent, trigger } = c.req.valid('param')
    const done = await act(agent, trigger, 'revoke_trigger')
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}
