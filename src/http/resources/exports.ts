/**
 * An item out of the home as a file, and into it: for the holder of the control token alone. What
 * comes in is a new item that waits until the operator picks it (docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { actedOnItem, toldOf } from '../../protocol/acts/acted.ts'
import { exportedItem, newImport } from '../../protocol/records/export-record.ts'
import { answerOf, bodyOf, created, madeBy } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed } from '../request/named.ts'
import { agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'
import { itemParams, recordNow } from './work-items.ts'

const tags = ['work items']

const out = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/export',
  tags,
  summary: 'The item with its history as a file, without secrets; it may hold 4 MiB',
  request: { params: itemParams, query: noQuery },
  responses: { 200: answerOf('The file.', exportedItem), ...problems(404, 409, 422) },
})

const route = '/agents/{agent}/imports'

const into = createRoute({
  method: 'post',
  path: route,
  tags,
  summary: 'Make a new item of a file that was exported; nothing begins before it is picked',
  request: { params: agentParams, query: noQuery, ...bodyOf(newImport) },
  responses: { 201: answerOf('It is made.', actedOnItem), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(out, async (c) => {
    const { agent, item } = c.req.valid('param')
    const view = agentNamed(views, agent)
    if (!view.ok) return view.refusal
    const found = await rowNamed(home, 'work_items', agent, item)
    if (!found.ok) return found.refusal
    return c.json(await home.export_item(found.value), 200)
  })

  app.openapi(into, async (c) => {
    const agent_id = c.req.valid('param').agent
    const command = { do: 'import_item', agent_id, ...c.req.valid('json') } as const
    const done = await created(c, home, route, command)
    if (!done.ok) return done.refusal
    const id = madeBy(done.value)
    const record = await recordNow(home, views, agent_id, id)
    if (!record.ok) return record.refusal
    const location = `/agents/${agent_id}/work-items/${id}`
    return c.json({ work_item: record.value, ...toldOf(done.value) }, 201, { location })
  })
}
