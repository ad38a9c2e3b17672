/**
 * Waits: what each item or agent waits for; answering a question by compare and set, firing an
 * external wait by hand, and cancelling one (docs/spec/wait.md, docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnWait, toldOf } from '../../protocol/acts/acted.ts'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import type { Rows } from '../../protocol/records/records.ts'
import {
  answerBody,
  fireBody,
  waitList,
  waitRecord,
  waitRecordOf,
  waitStatuses,
  type WaitRecord,
} from '../../protocol/records/wait-record.ts'
import { acted, answerOf, bodyOf, created } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed, type Lookup } from '../request/named.ts'
import { pageOfFacts, pageOfRows, type CursorPage } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, type PageQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['waits']
const one = { params: agentAnd('wait', 'wait'), query: noQuery }
const refusals = problems(404, 409, 422)

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/waits',
  tags,
  summary: 'Waits of the agent and its items, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({
      status: z
        .enum([...waitStatuses, 'all'])
        .default('active')
        .meta({ default: 'active' }),
    }),
  },
  responses: { 200: answerOf('A page.', waitList), ...problems(400, 404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/waits/{wait}',
  tags,
  summary: 'One wait',
  request: one,
  responses: { 200: answerOf('The wait.', waitRecord), ...refusals },
})

const answer = createRoute({
  method: 'post',
  path: '/agents/{agent}/waits/{wait}/answer',
  tags,
  summary: 'Answer the question as it was shown; 409 names who was faster',
  request: { ...one, ...bodyOf(answerBody) },
  responses: { 202: answerOf('The answer is accepted.', actedOnWait), ...problems(404, 409, 422) },
})

const fire = createRoute({
  method: 'post',
  path: '/agents/{agent}/waits/{wait}/trigger',
  tags,
  summary: 'Fire an external wait by hand',
  request: { ...one, ...bodyOf(fireBody, false) },
  responses: { 202: answerOf('It is fired.', actedOnWait), ...problems(404, 409, 422, 429) },
})

const cancel = createRoute({
  method: 'delete',
  path: '/agents/{agent}/waits/{wait}',
  tags,
  summary: 'Cancel it; the item may go on',
  request: one,
  responses: { 200: answerOf('It is cancelled.', actedOnWait), ...refusals },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const recordNow = async (agent: string, text: string): Promise<Lookup<WaitRecord>> => {
    const view = agentNamed(views, agent)
    if (!view.ok) return view
    const wait = await rowNamed(home, 'waits', agent, text)
    if (!wait.ok) return wait
    return { ok: true, value: waitRecordOf(wait.value, views.canOfWait(view.value, wait.value)) }
  }

  /** The act, and the wait as it is then. `route` is given for what makes a message. */
  const act = async (
    agent: string,
    text: string,
    carry: (wait_id: string) => ReturnType<typeof acted>,
  ) => {
    const wait = await rowNamed(home, 'waits', agent, text)
    if (!wait.ok) return wait
    const done = await carry(wait.value.id)
    if (!done.ok) return done
    const record = await recordNow(agent, wait.value.id)
    if (!record.ok) return record
    return { ok: true as const, value: { wait: record.value, ...toldOf(done.value) } }
  }

  app.openapi(list, async (c) => {
    const agent_id = c.req.valid('param').agent
    const view = agentNamed(views, agent_id)
    if (!view.ok) return view.refusal
    const { status, ...query } = c.req.valid('query')
    const active = views.activeWaits(view.value)
    const page = await waitsPage(home, { agent_id, status, active, query })
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    const waits = entries.map((wait) => waitRecordOf(wait, views.canOfWait(view.value, wait)))
    return c.json({ waits, next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, wait } = c.req.valid('param')
    const record = await recordNow(agent, wait)
    return record.ok ? c.json(record.value, 200) : record.refusal
  })

  app.openapi(answer, async (c) => {
    const { agent: agent_id, wait } = c.req.valid('param')
    const body = c.req.valid('json')
    const done = await act(agent_id, wait, (wait_id) => {
      const surface = 'http_control' as const
      const command: OperatorCommand = { do: 'answer', agent_id, wait_id, ...body, surface }
      return created(c, home, '/agents/{agent}/waits/{wait}/answer', command)
    })
    return done.ok ? c.json(done.value, 202) : done.refusal
  })

  app.openapi(fire, async (c) => {
    const { agent: agent_id, wait } = c.req.valid('param')
    const { body = '' } = c.req.valid('json')
    const done = await act(agent_id, wait, (wait_id) => {
      const command: OperatorCommand = { do: 'trigger', agent_id, wait_id, body }
      return created(c, home, '/agents/{agent}/waits/{wait}/trigger', command)
    })
    return done.ok ? c.json(done.value, 202) : done.refusal
  })

  app.openapi(cancel, async (c) => {
    const { agent: agent_id, wait } = c.req.valid('param')
    const done = await act(agent_id, wait, (wait_id) =>
      acted(home, { do: 'cancel_wait', agent_id, wait_id }),
    )
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}

type Asked = {
  agent_id: string
  status: 'active' | 'resolved' | 'cancelled' | 'all'
  active: readonly Rows['waits'][]
  query: PageQuery
}

/** Active waits are in memory; what ended is in the ledger. */
function waitsPage(
  home: HomePort,
  { agent_id, status, active, query }: Asked,
): Promise<Lookup<CursorPage<Rows['waits']>>> {
  switch (status) {
    case 'active':
      return pageOfFacts(home, 'waits', agent_id, active, query)
    case 'resolved':
    case 'cancelled':
      return pageOfRows(home, 'waits', { agent_id, status: [status] }, query)
    case 'all':
      return pageOfRows(home, 'waits', { agent_id }, query)
  }
}
