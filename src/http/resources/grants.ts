/**
 * Grants: what the operator allowed for longer than once, by whom it is used, and its end
 * (docs/spec/task.md#grants). One is made by an answer to a held command, and nowhere else.
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnGrant, toldOf } from '../../protocol/acts/acted.ts'
import { canOfGrant } from '../../protocol/actions/can.ts'
import {
  grantList,
  grantRecord,
  grantRecordOf,
  grantStatuses,
  type GrantRecord,
} from '../../protocol/records/grant-record.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { actedOn, answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['tasks']
const one = { params: agentAnd('grant', 'grant'), query: noQuery }
const refusals = problems(404, 409, 422)

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/grants',
  tags,
  summary: 'What its commands may do without a question, oldest first; a page has the newest',
  request: {
    params: agentParams,
    query: listQuery({
      status: z
        .enum([...grantStatuses, 'all'])
        .default('active')
        .meta({ default: 'active' }),
    }),
  },
  responses: { 200: answerOf('A page.', grantList), ...problems(400, 404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/grants/{grant}',
  tags,
  summary: 'One grant',
  request: one,
  responses: { 200: answerOf('The grant.', grantRecord), ...refusals },
})

const revoke = createRoute({
  method: 'delete',
  path: '/agents/{agent}/grants/{grant}',
  tags,
  summary: 'Take it back: what it allowed is asked about again',
  request: one,
  responses: { 200: answerOf('It is revoked.', actedOnGrant), ...refusals },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const recordOf = (grant: Rows['grants']): GrantRecord => {
    const view = views.of(grant.agent_id)
    return grantRecordOf(grant, view === null ? [] : canOfGrant(view, grant))
  }

  app.openapi(list, async (c) => {
    const agent_id = c.req.valid('param').agent
    const view = agentNamed(views, agent_id)
    if (!view.ok) return view.refusal
    const { status, ...query } = c.req.valid('query')
    const filter = { agent_id, ...(status === 'all' ? {} : { status: [status] }) }
    const page = await pageOfRows(home, 'grants', filter, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ grants: entries.map(recordOf), next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, grant } = c.req.valid('param')
    const found = await rowNamed(home, 'grants', agent, grant)
    return found.ok ? c.json(recordOf(found.value), 200) : found.refusal
  })

  app.openapi(revoke, async (c) => {
    const { agent, grant } = c.req.valid('param')
    const revoked = await actedOn(home, 'grants', { agent, text: grant }, (grant_id) => {
      return { do: 'revoke_grant', agent_id: agent, grant_id }
    })
    if (!revoked.ok) return revoked.refusal
    const { row, done } = revoked.value
    return c.json({ grant: recordOf(row), ...toldOf(done) }, 200)
  })
}
