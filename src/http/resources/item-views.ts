/**
 * What a work item looks like from other sides: why it does what it does, its plan, its trace
 * through the turns, and what it used (docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { limits } from '../../domain/limits.ts'
import { projectionOf, type AgentView } from '../../protocol/agent-view.ts'
import { changesOf, itemChanges } from '../../protocol/records/changes-record.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { spendReport, spendRowOf } from '../../protocol/records/spend-record.ts'
import { turnTrace } from '../../protocol/records/turn-record.ts'
import { whyHistory } from '../../protocol/views/why-history.ts'
import { whyOf, whyRecord } from '../../protocol/views/why.ts'
import { planView } from '../../protocol/records/work-item-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { turnWholeOf } from './history.ts'
import { agentNamed, rowNamed, type Lookup } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { flag, listQuery, noQuery, queryOf } from '../request/query.ts'
import type { Views } from '../request/views.ts'
import { itemParams } from './work-items.ts'

const tags = ['work items']

const why = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/why',
  tags,
  summary: 'What holds it, what comes next and when, and what it costs meanwhile',
  request: { params: itemParams, query: queryOf({ history: flag }) },
  responses: { 200: answerOf('Why.', whyRecord), ...problems(404, 409, 422) },
})

const plan = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/plan',
  tags,
  summary: 'Its plan file: the descriptor and the whole text',
  request: { params: itemParams, query: noQuery },
  responses: { 200: answerOf('The plan.', planView), ...problems(404, 409, 422) },
})

const trace = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/trace',
  tags,
  summary: 'Its process notes; the turns about it with requests and calls, newest page first',
  request: { params: itemParams, query: listQuery({}) },
  responses: { 200: answerOf('A page.', turnTrace), ...problems(400, 404, 409, 422) },
})

const spend = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/spend',
  tags,
  summary: 'What it used, by day',
  request: { params: itemParams, query: noQuery },
  responses: { 200: answerOf('The spend.', spendReport), ...problems(404, 409, 422) },
})

const changes = createRoute({
  method: 'get',
  path: '/agents/{agent}/work-items/{item}/changes',
  tags,
  summary: 'What it changed in files, by file with the diff of each edit',
  request: { params: itemParams, query: noQuery },
  responses: { 200: answerOf('The changes.', itemChanges), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(why, async (c) => {
    const { agent, item } = c.req.valid('param')
    const { history } = c.req.valid('query')
    const told = await itemNamed(home, views, agent, item)
    if (!told.ok) return told.refusal
    const { view, row } = told.value
    const p = projectionOf(view, row.id, row)
    if (p === null) throw new Error(`no projection of ${row.id}`)
    const [last] = await home.reads.list('decisions', { agent_id: agent, limit: 1 })
    const found = whyOf(view, p, last ?? null)
    if (!history) return c.json(found, 200)
    const { runs, complete } = await whyHistory(
      (filter) => home.reads.list('decisions', { agent_id: agent, ...filter }),
      row.id,
    )
    return c.json({ ...found, history: runs, history_complete: complete }, 200)
  })

  app.openapi(plan, async (c) => {
    const { agent, item } = c.req.valid('param')
    const found = await rowNamed(home, 'work_items', agent, item)
    if (!found.ok) return found.refusal
    const [plan_artifact, text] = await Promise.all([
      home.plan(found.value),
      home.plan_text(found.value),
    ])
    return c.json({ work_item_id: found.value.id, plan_artifact, text }, 200)
  })

  app.openapi(trace, async (c) => {
    const { agent, item } = c.req.valid('param')
    const found = await rowNamed(home, 'work_items', agent, item)
    if (!found.ok) return found.refusal
    const filter = { agent_id: agent, work_item_id: found.value.id }
    const page = await pageOfRows(home, 'turns', filter, c.req.valid('query'))
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    const turns = await Promise.all(entries.map((turn) => turnWholeOf(home, turn)))
    const { notes, older } = await home.process_notes(found.value)
    const { id } = found.value
    return c.json({ work_item_id: id, notes, older_notes: older, turns, next_cursor }, 200)
  })

  app.openapi(changes, async (c) => {
    const { agent, item } = c.req.valid('param')
    const found = await rowNamed(home, 'work_items', agent, item)
    if (!found.ok) return found.refusal
    const { complete, ...made } = await madeForItem(home, found.value.id)
    return c.json(changesOf(found.value.id, made, complete), 200)
  })

  app.openapi(spend, async (c) => {
    const { agent, item } = c.req.valid('param')
    const found = await rowNamed(home, 'work_items', agent, item)
    if (!found.ok) return found.refusal
    const filter = { by: ['day' as const], agent_id: agent, work_item_id: found.value.id }
    const groups = await home.reads.spend(filter)
    return c.json({ by: filter.by, spend: groups.map(spendRowOf) }, 200)
  })
}

/** The newest calls and tasks about it, oldest first, and whether those are all. */
async function madeForItem(home: HomePort, work_item_id: string) {
  const most = limits.changes_calls.value
  const filter = { work_item_id, limit: most + 1 }
  const calls = await home.reads.list('calls', filter)
  const tasks = await home.reads.list('tasks', filter)
  const complete = calls.length <= most && tasks.length <= most
  return { calls: calls.slice(-most), tasks: tasks.slice(-most), complete }
}

async function itemNamed(
  home: HomePort,
  views: Views,
  agent: string,
  text: string,
): Promise<Lookup<{ view: AgentView; row: Rows['work_items'] }>> {
  const view = agentNamed(views, agent)
  if (!view.ok) return view
  const row = await rowNamed(home, 'work_items', agent, text)
  return row.ok ? { ok: true, value: { view: view.value, row: row.value } } : row
}
