/**
 * Work items: lists by a derived view, one item whole, and the operator's acts on it, which are the
 * agent's own commands with the same rejections (docs/spec/work-item.md, docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnItem, toldOf } from '../../protocol/acts/acted.ts'
import { lateOf, projectionOf, type AgentView } from '../../protocol/agent-view.ts'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import { itemFilters, passes, type ItemFilter, type Rows } from '../../protocol/records/records.ts'
import {
  changeWorkItem,
  completeBody,
  newWorkItem,
  pickBody,
  workItemList,
  workItemRecord,
  workItemRecordOf,
  type WorkItemRecord,
} from '../../protocol/records/work-item-record.ts'
import { acted, answerOf, bodyOf, created, madeBy } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, refused, rowNamed, type Lookup } from '../request/named.ts'
import { pageOfFacts, pageOfRows, type CursorPage } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, type PageQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['work items']
export const itemParams = agentAnd('item', 'work')

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items',
  tags,
  summary: 'Work items by a derived view, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({
      filter: z.enum(itemFilters).default('open').meta({ default: 'open' }),
    }),
  },
  responses: { 200: answerOf('A page.', workItemList), ...problems(400, 404, 409, 422) },
})

const make = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items',
  tags,
  summary: 'Make a work item',
  request: { params: agentParams, query: noQuery, ...bodyOf(newWorkItem) },
  responses: { 201: answerOf('It is made.', actedOnItem), ...problems(404, 409, 422) },
})

const one = { params: itemParams, query: noQuery }

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}',
  tags,
  summary: 'One work item whole',
  request: one,
  responses: { 200: answerOf('The item.', workItemRecord), ...problems(404, 409, 422) },
})

const change = createRoute({
  method: 'patch',
  path: '/agents/{agent}/work-items/{item}',
  tags,
  summary: 'Change it; with `If-Match` or `expected_revision` only that revision of it',
  request: {
    ...one,
    headers: z.object({
      'if-match': z
        .string()
        .optional()
        .meta({ description: 'The revision in quotes, like `"3"`.' }),
    }),
    ...bodyOf(changeWorkItem),
  },
  responses: { 200: answerOf('It is changed.', actedOnItem), ...problems(404, 409, 422) },
})

const pick = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items/{item}/pick',
  tags,
  summary: 'Put it in focus; refused while a turn is open',
  request: { ...one, ...bodyOf(pickBody, false) },
  responses: { 200: answerOf('It is in focus.', actedOnItem), ...problems(404, 409, 422) },
})

const complete = createRoute({
  method: 'post',
  path: '/agents/{agent}/work-items/{item}/complete',
  tags,
  summary: 'Complete it, with a report or without',
  request: { ...one, ...bodyOf(completeBody, false) },
  responses: { 200: answerOf('It is completed.', actedOnItem), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  reads(app, home, views)
  makes(app, home, views)
  changes(app, home, views)
}

function reads(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(list, async (c) => {
    const view = agentNamed(views, c.req.valid('param').agent)
    if (!view.ok) return view.refusal
    const { filter, ...query } = c.req.valid('query')
    const page = await itemsPage(home, views, view.value, { filter, query })
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    const records = entries.map((item) => recordOf(home, views, view.value, item, false))
    return c.json({ work_items: await Promise.all(records), next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, item } = c.req.valid('param')
    const record = await recordNow(home, views, agent, item)
    if (!record.ok) return record.refusal
    return c.json(record.value, 200, { etag: `"${record.value.revision}"` })
  })
}

function makes(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(make, async (c) => {
    const agent_id = c.req.valid('param').agent
    const command = { do: 'create_item', agent_id, ...c.req.valid('json') } as const
    const done = await created(c, home, '/agents/{agent}/work-items', command)
    if (!done.ok) return done.refusal
    const id = madeBy(done.value)
    const record = await recordNow(home, views, agent_id, id)
    if (!record.ok) return record.refusal
    const location = `/agents/${agent_id}/work-items/${id}`
    return c.json(both(record.value, done.value), 201, { location })
  })
}

function changes(app: HttpApp, home: HomePort, views: Views): void {
  const act = actsOnItem(home, views)
  app.openapi(change, async (c) => {
    const { agent: agent_id, item } = c.req.valid('param')
    const match = revisionOf(c.req.valid('header')['if-match'], c.req.valid('json'))
    if (!match.ok) return match.refusal
    const body = { ...c.req.valid('json'), ...match.value }
    const done = await act(agent_id, item, (work_item_id) => ({
      do: 'update_item',
      agent_id,
      work_item_id,
      ...body,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(pick, async (c) => {
    const { agent: agent_id, item } = c.req.valid('param')
    const body = c.req.valid('json')
    const done = await act(agent_id, item, (work_item_id) => ({
      do: 'pick',
      agent_id,
      work_item_id,
      ...body,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  app.openapi(complete, async (c) => {
    const { agent: agent_id, item } = c.req.valid('param')
    const body = c.req.valid('json')
    const done = await act(agent_id, item, (work_item_id) => ({
      do: 'complete',
      agent_id,
      work_item_id,
      ...body,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}

const both = (work_item: WorkItemRecord, reply: Parameters<typeof toldOf>[0]) => ({
  work_item,
  ...toldOf(reply),
})

/** The revision of `If-Match` or of the body; two that differ are a mistake. */
function revisionOf(
  header: string | undefined,
  body: { expected_revision?: number | undefined },
): Lookup<{ expected_revision?: number }> {
  const given = body.expected_revision
  if (header === undefined || header === '*') {
    return { ok: true, value: given === undefined ? {} : { expected_revision: given } }
  }
  const [, digits] = /^"?(\d{1,15})"?$/.exec(header) ?? []
  if (digits === undefined) {
    return refused('invalid_request', '`If-Match` is not a revision, like "3" in quotes.')
  }
  const expected_revision = Number(digits)
  if (given !== undefined && given !== expected_revision) {
    return refused('invalid_request', '`If-Match` and `expected_revision` differ.')
  }
  return { ok: true, value: { expected_revision } }
}

type Asked = { filter: ItemFilter; query: PageQuery }

/** Open items come from memory, completed ones from the ledger. */
function itemsPage(
  home: HomePort,
  views: Views,
  view: AgentView,
  { filter, query }: Asked,
): Promise<Lookup<CursorPage<Rows['work_items']>>> {
  const agent_id = view.agent.id
  if (filter === 'all') return pageOfRows(home, 'work_items', { agent_id }, query)
  if (filter === 'completed') {
    return pageOfRows(home, 'work_items', { agent_id, status: ['completed'] }, query)
  }
  const open = views.openItems(view)
  const wanted = filter === 'open' ? null : passing(view, filter)
  const shown = wanted === null ? open : open.filter(({ id }) => wanted.has(id))
  return pageOfFacts(home, 'work_items', agent_id, shown, query)
}

/** Ids of the open items that a derived view shows. */
function passing({ survey }: AgentView, filter: ItemFilter): Set<string> {
  const found = new Set<string>()
  for (const list of Object.values(survey.candidates)) {
    for (const p of list) if (passes(filter, p)) found.add(p.item.id)
  }
  return found
}

/** The act on the item that is meant, and the item as it is then. */
export const actsOnItem =
  (home: HomePort, views: Views) =>
  async (agent: string, text: string, commandOn: (id: string) => OperatorCommand) => {
    const found = await rowNamed(home, 'work_items', agent, text)
    if (!found.ok) return found
    const { id } = found.value
    const done = await acted(home, commandOn(id))
    if (!done.ok) return done
    const record = await recordNow(home, views, agent, id)
    return record.ok ? { ok: true as const, value: both(record.value, done.value) } : record
  }

/** An item of the agent by its id or a part of it, whole, as it is now. */
export async function recordNow(
  home: HomePort,
  views: Views,
  agent_id: string,
  text: string,
): Promise<Lookup<WorkItemRecord>> {
  const view = agentNamed(views, agent_id)
  if (!view.ok) return view
  const found = await rowNamed(home, 'work_items', agent_id, text)
  if (!found.ok) return found
  return { ok: true, value: await recordOf(home, views, view.value, found.value, true) }
}

/** The record of an item; the todo list comes with `whole`, the plan always. */
export async function recordOf(
  home: HomePort,
  views: Views,
  view: AgentView,
  item: Rows['work_items'],
  whole: boolean,
): Promise<WorkItemRecord> {
  // The facts may have gone on since the view was taken, and go on while the files are read.
  const now = views.of(item.agent_id) ?? view
  const p = projectionOf(now, item.id, item)
  if (p === null) throw new Error(`no projection of ${item.id}`)
  const can = views.canOfItem(now, p)
  const late = lateOf(now.facts, p.item)
  const [plan, spend] = await Promise.all([home.plan(p.item), views.spendOf(now, p.item)])
  return workItemRecordOf(p, { plan, spend, whole, late, can })
}
