/**
 * What happened: briefs, turns with their requests and calls, decisions, and what all of it cost
 * (docs/spec/http.md#reads). Nothing here is ever changed, so a page that was read stays true.
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { briefKinds, briefList, decisionList } from '../../protocol/records/history-record.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { spendKeys, spendReport, spendRowOf } from '../../protocol/records/spend-record.ts'
import {
  noLife,
  turnList,
  turnWhole,
  type RoundRecord,
  type TurnWhole,
} from '../../protocol/records/turn-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { lifeOf } from './life.ts'
import { agentNamed, rowNamed, type Lookup } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams, idText } from '../request/params.ts'
import type { RowFilter } from '../../ports/ledger-filters.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, queryOf, wordsOf } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['history']
const aboutItem = { work_item_id: idText('work').optional() }
const refusals = problems(400, 404, 409, 422)

const briefs = createRoute({
  method: 'get',
  path: '/agents/{agent}/briefs',
  tags,
  summary: 'What it delivered to you, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({ ...aboutItem, kind: z.enum(briefKinds).optional() }),
  },
  responses: { 200: answerOf('A page.', briefList), ...refusals },
})

const turns = createRoute({
  method: 'get',
  path: '/agents/{agent}/turns',
  tags,
  summary: 'Its turns, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({ ...aboutItem, state: z.enum(['open', 'ended']).optional() }),
  },
  responses: { 200: answerOf('A page.', turnList), ...refusals },
})

const turn = createRoute({
  method: 'get',
  path: '/agents/{agent}/turns/{turn}',
  tags,
  summary: 'One turn with its requests and calls',
  request: { params: agentAnd('turn', 'turn'), query: noQuery },
  responses: { 200: answerOf('The turn.', turnWhole), ...problems(404, 409, 422) },
})

const decisions = createRoute({
  method: 'get',
  path: '/agents/{agent}/decisions',
  tags,
  summary: 'What its scheduler chose and why, oldest first; a page has the newest of them',
  request: { params: agentParams, query: listQuery(aboutItem) },
  responses: { 200: answerOf('A page.', decisionList), ...refusals },
})

const dayText = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, 'is not a day like 2026-01-31')
  .meta({ format: 'date' })

const spend = createRoute({
  method: 'get',
  path: '/spend',
  tags,
  summary: 'Tokens and money, by agent, item or day; a price that is not known is null',
  request: {
    query: queryOf({
      by: wordsOf(spendKeys).default(['agent']),
      agent: z.string().max(64).optional(),
      ...aboutItem,
      from: dayText.optional(),
      to: dayText.optional(),
    }),
  },
  responses: { 200: answerOf('Groups in the order of their keys.', spendReport), ...refusals },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(briefs, async (c) => {
    const { work_item_id, kind, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const kinds = kind === undefined ? {} : { kind: [kind] }
    const page = await pageOfRows(home, 'briefs', { ...filter.value, ...kinds }, query)
    if (!page.ok) return page.refusal
    return c.json({ briefs: page.value.entries, next_cursor: page.value.next_cursor }, 200)
  })

  app.openapi(turns, async (c) => {
    const { work_item_id, state, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const states = state === undefined ? {} : { status: [state] }
    const page = await pageOfRows(home, 'turns', { ...filter.value, ...states }, query)
    if (!page.ok) return page.refusal
    return c.json({ turns: page.value.entries, next_cursor: page.value.next_cursor }, 200)
  })

  app.openapi(turn, async (c) => {
    const { agent, turn: text } = c.req.valid('param')
    const found = await rowNamed(home, 'turns', agent, text)
    return found.ok ? c.json(await turnWholeOf(home, found.value), 200) : found.refusal
  })

  app.openapi(decisions, async (c) => {
    const { work_item_id, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const page = await pageOfRows(home, 'decisions', filter.value, query)
    if (!page.ok) return page.refusal
    return c.json({ decisions: page.value.entries, next_cursor: page.value.next_cursor }, 200)
  })

  app.openapi(spend, async (c) => {
    const { by, agent, work_item_id, from, to } = c.req.valid('query')
    const item =
      work_item_id === undefined
        ? null
        : await rowNamed(home, 'work_items', agent ?? null, work_item_id)
    if (item?.ok === false) return item.refusal
    const groups = await home.reads.spend({
      by,
      ...(agent === undefined ? {} : { agent_id: agent }),
      ...(item === null ? {} : { work_item_id: item.value.id }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    })
    return c.json({ by, spend: groups.map(spendRowOf) }, 200)
  })
}

/** Rows of an agent that exists, and of one of its items when one is named. */
export async function filterOf(
  home: HomePort,
  views: Views,
  agent_id: string,
  item: string | undefined,
): Promise<Lookup<Omit<RowFilter, 'limit' | 'before'>>> {
  const view = agentNamed(views, agent_id)
  if (!view.ok) return view
  if (item === undefined) return { ok: true, value: { agent_id } }
  const found = await rowNamed(home, 'work_items', agent_id, item)
  return found.ok ? { ok: true, value: { agent_id, work_item_id: found.value.id } } : found
}

/** A turn with everything that was asked and done in it; an open request with its signs of life. */
export async function turnWholeOf(home: HomePort, row: Rows['turns']): Promise<TurnWhole> {
  const found = await home.reads.roundsOfTurn(row.id)
  const signs = row.state === 'open' ? lifeOf(home, row.agent_id, row.id) : noLife
  const rounds = found.map(({ round, calls }): RoundRecord => {
    const life = round.state === 'requested' ? signs : noLife
    return { ...round, ...life, calls }
  })
  return { ...row, rounds }
}
