/** Files that an item changed go back to what they were, and come again. */
import { createRoute } from '@hono/zod-openapi'
import { actedOnFiles, toldOf } from '../../protocol/acts/acted.ts'
import { revertBody } from '../../protocol/records/revert-record.ts'
import { acted, answerOf, bodyOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { rowNamed } from '../request/named.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'
import { itemParams, recordNow } from './work-items.ts'

const revert = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items/{item}/revert',
  tags: ['work items'],
  summary: 'Put back what it changed in files, where they are as its agent left them',
  request: { params: itemParams, query: noQuery, ...bodyOf(revertBody, false) },
  responses: {
    200: answerOf('What became of each file.', actedOnFiles),
    ...problems(404, 409, 422),
  },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(revert, async (c) => {
    const { agent: agent_id, item } = c.req.valid('param')
    const found = await rowNamed(home, 'work_items', agent_id, item)
    if (!found.ok) return found.refusal
    const { id: work_item_id } = found.value
    const body = c.req.valid('json')
    const done = await acted(home, { do: 'revert_files', agent_id, work_item_id, ...body })
    if (!done.ok) return done.refusal
    const record = await recordNow(home, views, agent_id, work_item_id)
    if (!record.ok) return record.refusal
    const { files = [] } = done.value
    return c.json({ work_item: record.value, ...toldOf(done.value), files }, 200)
  })
}
