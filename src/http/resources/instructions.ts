/** What an agent is told about how work is done: its instructions and skills, as they are now. */
import { createRoute } from '@hono/zod-openapi'
import { agentInstructions } from '../../protocol/records/instruction-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed } from '../request/named.ts'
import { agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/instructions',
  tags: ['agents'],
  summary: 'Its instructions and skills, and what is wrong with their files',
  request: { params: agentParams, query: noQuery },
  responses: { 200: answerOf('As the files are now.', agentInstructions), ...problems(404, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(read, async (c) => {
    const view = agentNamed(views, c.req.valid('param').agent)
    if (!view.ok) return view.refusal
    const { agent } = view.value
    return c.json({ agent_id: agent.id, ...(await home.instructions(agent)) }, 200)
  })
}
