/**
 * Checks of a work item: the operator runs them again, and answers the ones that ask a person. They
 * are set where the item is made and changed (`work-items.ts`).
 */
import { createRoute } from '@hono/zod-openapi'
import { actedOnItem } from '../../protocol/acts/acted.ts'
import { answerCheckBody, runChecksBody } from '../../protocol/records/check-record.ts'
import { answerOf, bodyOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { checkName } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'
import { actsOnItem, itemParams } from './work-items.ts'

const tags = ['work items']

const again = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items/{item}/checks/run',
  tags,
  summary: 'Run checks of a completed item again; without names all of them',
  request: { params: itemParams, query: noQuery, ...bodyOf(runChecksBody, false) },
  responses: { 200: answerOf('They are owed.', actedOnItem), ...problems(404, 409, 422) },
})

const answer = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items/{item}/checks/{name}/answer',
  tags,
  summary: 'Answer a check by a person; refused when that run is not open any more',
  request: {
    params: itemParams.extend({ name: checkName }),
    query: noQuery,
    ...bodyOf(answerCheckBody),
  },
  responses: { 200: answerOf('It is answered.', actedOnItem), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const act = actsOnItem(home, views)

  app.openapi(again, async (c) => {
    const { agent: agent_id, item } = c.req.valid('param')
    const body = c.req.valid('json')
    const done = await act(agent_id, item, (work_item_id) => ({
      do: 'run_checks',
      agent_id,
      work_item_id,
      ...body,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(answer, async (c) => {
    const { agent: agent_id, item, name } = c.req.valid('param')
    const body = c.req.valid('json')
    const done = await act(agent_id, item, (work_item_id) => ({
      do: 'answer_check',
      agent_id,
      work_item_id,
      name,
      ...body,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}
