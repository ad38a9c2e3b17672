/**
 * The delivery log: what came in by triggers and webhooks, and what became of it
 * (docs/spec/wait.md#deliveries).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnDelivery, toldOf } from '../../protocol/acts/acted.ts'
import { canOfDelivery } from '../../protocol/actions/can.ts'
import type { Rows } from '../../protocol/records/records.ts'
import {
  deliveryList,
  deliveryRecord,
  deliveryRecordOf,
  deliveryStatuses,
  type DeliveryRecord,
} from '../../protocol/records/trigger-record.ts'
import { answerOf, created } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['deliveries']
const one = { params: agentAnd('delivery', 'dlv'), query: noQuery }

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/deliveries',
  tags,
  summary: 'What came in for it from outside, oldest first; a page has the newest of it',
  request: {
    params: agentParams,
    query: listQuery({ status: z.enum(deliveryStatuses).optional() }),
  },
  responses: { 200: answerOf('A page.', deliveryList), ...problems(400, 404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/deliveries/{delivery}',
  tags,
  summary: 'One delivery',
  request: one,
  responses: { 200: answerOf('The delivery.', deliveryRecord), ...problems(404, 409, 422) },
})

const redeliver = createRoute({
  method: 'post',
  path: '/agents/{agent}/deliveries/{delivery}/redeliver',
  tags,
  summary: 'Deliver it once more, as a new message',
  request: one,
  responses: {
    202: answerOf('It is delivered.', actedOnDelivery),
    ...problems(404, 409, 422, 429),
  },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const recordOf = (delivery: Rows['deliveries']): DeliveryRecord => {
    const view = views.of(delivery.agent_id)
    return deliveryRecordOf(delivery, view === null ? [] : canOfDelivery(view, delivery))
  }

  app.openapi(list, async (c) => {
    const agent_id = c.req.valid('param').agent
    const view = agentNamed(views, agent_id)
    if (!view.ok) return view.refusal
    const { status, ...query } = c.req.valid('query')
    const filter = { agent_id, ...(status === undefined ? {} : { status: [status] }) }
    const page = await pageOfRows(home, 'deliveries', filter, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ deliveries: entries.map(recordOf), next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, delivery } = c.req.valid('param')
    const found = await rowNamed(home, 'deliveries', agent, delivery)
    return found.ok ? c.json(recordOf(found.value), 200) : found.refusal
  })

  app.openapi(redeliver, async (c) => {
    const { agent: agent_id, delivery } = c.req.valid('param')
    const found = await rowNamed(home, 'deliveries', agent_id, delivery)
    if (!found.ok) return found.refusal
    const { id: delivery_id } = found.value
    const route = '/agents/{agent}/deliveries/{delivery}/redeliver'
    const done = await created(c, home, route, { do: 'redeliver', agent_id, delivery_id })
    if (!done.ok) return done.refusal
    const now = await rowNamed(home, 'deliveries', agent_id, delivery_id)
    if (!now.ok) return now.refusal
    return c.json({ delivery: recordOf(now.value), ...toldOf(done.value) }, 202)
  })
}
