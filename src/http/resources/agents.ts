/**
 * Agents: what each does now, and starting, stopping, making and deleting them (docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import {
  abortBody,
  agentList,
  agentRecord,
  changeAgent,
  newAgent,
} from '../../protocol/records/agent-record.ts'
import { actedOnAgent, actedAlone, toldOf } from '../../protocol/acts/acted.ts'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import { acted, answerOf, bodyOf, created } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, refused, type Lookup } from '../request/named.ts'
import { cursorOf, idInCursor } from '../request/page.ts'
import { agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, type PageQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['agents']
const one = { params: agentParams, query: noQuery }

const list = createRoute({
  method: 'get',
  path: '/agents',
  tags,
  summary: 'Agents, oldest first; a page has the newest of them',
  request: { query: listQuery({}) },
  responses: { 200: answerOf('A page.', agentList), ...problems(400, 404, 422) },
})

const make = createRoute({
  method: 'post',
  path: '/agents',
  tags,
  summary: 'Make an agent',
  request: { query: noQuery, ...bodyOf(newAgent) },
  responses: { 201: answerOf('It is made.', actedOnAgent), ...problems(404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}',
  tags,
  summary: 'One agent as it is now',
  request: one,
  responses: { 200: answerOf('The agent.', agentRecord), ...problems(404, 422) },
})

const change = createRoute({
  method: 'patch',
  path: '/agents/{agent}',
  tags,
  summary: 'Change its settings; they hold from the next turn',
  request: { ...one, ...bodyOf(changeAgent) },
  responses: { 200: answerOf('It is changed.', actedOnAgent), ...problems(404, 409, 422) },
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{agent}',
  tags,
  summary: 'Delete it for good; its name is never used again',
  request: one,
  responses: { 200: answerOf('It is deleted.', actedAlone), ...problems(404, 409, 422) },
})

const verb = <P extends 'start' | 'stop'>(path: P, summary: string) =>
  createRoute({
    method: 'post',
    path: `/agents/{agent}/${path}`,
    tags,
    summary,
    request: one,
    responses: { 200: answerOf('It is so.', actedOnAgent), ...problems(404, 409, 422) },
  })

const abort = createRoute({
  method: 'post',
  path: '/agents/{agent}/abort',
  tags,
  summary: 'Abort the open turn, guarded by its id',
  request: { ...one, ...bodyOf(abortBody) },
  responses: { 200: answerOf('It is aborted.', actedOnAgent), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  /** Carries the act out and answers with the agent as it is then. */
  const onAgent = async (command: OperatorCommand) => {
    const { agent_id } = command
    if (home.facts(agent_id) === null) return nobody(agent_id)
    const done = await acted(home, command)
    return done.ok ? shown(views, agent_id, done.value) : done
  }

  app.openapi(list, (c) => {
    const page = pageOf(views, c.req.valid('query'))
    return page.ok ? c.json(page.value, 200) : page.refusal
  })

  app.openapi(make, async (c) => {
    const { id, ...settings } = c.req.valid('json')
    const command = { do: 'create_agent', agent_id: id, ...settings } as const
    const done = await created(c, home, '/agents', command)
    const agent = done.ok ? shown(views, id, done.value) : done
    return agent.ok ? c.json(agent.value, 201, { location: `/agents/${id}` }) : agent.refusal
  })

  app.openapi(read, (c) => {
    const view = agentNamed(views, c.req.valid('param').agent)
    return view.ok ? c.json(views.record(view.value), 200) : view.refusal
  })

  app.openapi(change, async (c) => {
    const agent_id = c.req.valid('param').agent
    const done = await onAgent({ do: 'configure_agent', agent_id, ...c.req.valid('json') })
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(remove, async (c) => {
    const agent_id = c.req.valid('param').agent
    if (home.facts(agent_id) === null) return nobody(agent_id).refusal
    const done = await acted(home, { do: 'delete_agent', agent_id })
    return done.ok ? c.json(toldOf(done.value), 200) : done.refusal
  })

  app.openapi(verb('start', 'Start it, and end its holds'), async (c) => {
    const done = await onAgent({ do: 'start_agent', agent_id: c.req.valid('param').agent })
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(verb('stop', 'Stop it; what comes in waits, nothing is lost'), async (c) => {
    const done = await onAgent({ do: 'stop_agent', agent_id: c.req.valid('param').agent })
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(abort, async (c) => {
    const agent_id = c.req.valid('param').agent
    const done = await onAgent({ do: 'abort', agent_id, ...c.req.valid('json') })
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}

const nobody = (agent_id: string) => refused('agent_not_found', `There is no agent "${agent_id}".`)

/** Agents are found by name, so their place in the list is one. */
type AgentPage = { agents: ReturnType<Views['record']>[]; next_cursor: string | null }

function pageOf(views: Views, { limit, cursor, before }: PageQuery): Lookup<AgentPage> {
  const all = views.all()
  if (cursor !== undefined && before !== undefined) {
    return refused('invalid_request', '`cursor` and `before` exclude each other.')
  }
  const named = cursor === undefined ? before : idInCursor('agents', cursor)
  const place = all.findIndex(({ agent }) => agent.id === named)
  if (named !== undefined && place === -1) {
    return cursor === undefined
      ? nobody(before ?? '')
      : refused('invalid_cursor', 'The cursor is not one of this list.')
  }
  const end = named === undefined ? all.length : place
  const entries = all.slice(Math.max(0, end - limit), end)
  const [oldest] = entries
  const more = end > limit && oldest !== undefined
  const next_cursor = more ? cursorOf('agents', oldest.agent.id) : null
  return { ok: true, value: { agents: entries.map((view) => views.record(view)), next_cursor } }
}

type Reply = Parameters<typeof toldOf>[0]

function shown(views: Views, agent_id: string, reply: Reply): Lookup<ReturnType<typeof both>> {
  const view = agentNamed(views, agent_id)
  if (!view.ok) return view
  return { ok: true, value: both(views.record(view.value), reply) }
}

const both = (agent: ReturnType<Views['record']>, reply: Reply) => ({ agent, ...toldOf(reply) })
