/**
 * Delegations: what an agent handed to children, and what came of it
 * (docs/spec/agent.md#delegation, docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  delegationList,
  delegationRecordOf,
  delegationStates,
} from '../../protocol/records/delegation-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { filterOf } from './history.ts'
import { pageOfRows } from '../request/page.ts'
import { agentParams, idText } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/delegations',
  tags: ['agents'],
  summary: 'What it handed to children, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({
      state: z
        .enum([...delegationStates, 'all'])
        .default('all')
        .meta({ default: 'all' }),
      work_item_id: idText('work').optional(),
    }),
  },
  responses: { 200: answerOf('A page.', delegationList), ...problems(400, 404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(list, async (c) => {
    const { state, work_item_id, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const states = state === 'all' ? {} : { status: [state] }
    const page = await pageOfRows(home, 'delegations', { ...filter.value, ...states }, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ delegations: entries.map(delegationRecordOf), next_cursor }, 200)
  })
}
