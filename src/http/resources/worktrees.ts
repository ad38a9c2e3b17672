/**
 * Worktrees of children: what there is, what would be lost, and what is done with it
 * (docs/spec/agent.md#worktrees and 13). A worktree has the id of the task that owns it. Its agent
 * may be gone meanwhile.
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnWorktree, toldOf } from '../../protocol/acts/acted.ts'
import { canOfWorktree } from '../../protocol/actions/can.ts'
import {
  liveWorktreeStates,
  worktreeList,
  worktreeRecord,
  worktreeRecordOf,
  worktreeStates,
  type WorktreeRecord,
} from '../../protocol/records/delegation-record.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { acted, answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { agentNamed, rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { RowFilter } from '../../ports/ledger-filters.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, type PageQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['worktrees']
const one = { params: agentAnd('worktree', 'task'), query: noQuery }
const refusals = problems(404, 409, 422)
const state = z
  .enum([...worktreeStates, 'live', 'all'])
  .default('live')
  .meta({ default: 'live', description: '`live`: planned, ready or kept.' })

const everywhere = createRoute({
  method: 'get',
  path: '/worktrees',
  tags,
  summary: 'Worktrees of all agents, oldest first; a page has the newest of them',
  request: { query: listQuery({ state }) },
  responses: { 200: answerOf('A page.', worktreeList), ...problems(400, 404, 409, 422) },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/worktrees',
  tags,
  summary: 'Worktrees of its children, oldest first; a page has the newest of them',
  request: { params: agentParams, query: listQuery({ state }) },
  responses: { 200: answerOf('A page.', worktreeList), ...problems(400, 404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/worktrees/{worktree}',
  tags,
  summary: 'One worktree',
  request: one,
  responses: { 200: answerOf('The worktree.', worktreeRecord), ...refusals },
})

const verbs = {
  snapshot: 'Keep everything in it under a ref; it stays as it is',
  restore: 'Bring it back from its snapshot, to its path',
  discard: 'Keep a snapshot, then remove it with whatever is in it',
  remove: 'Remove it; refused unless it is clean and merged',
} as const
type Verb = keyof typeof verbs

const verb = <V extends Verb>(name: V) =>
  createRoute({
    method: 'post',
    path: `/agents/{agent}/worktrees/{worktree}/${name}`,
    tags,
    summary: verbs[name],
    request: one,
    responses: { 200: answerOf('It is so.', actedOnWorktree), ...refusals },
  })

type Filter = Omit<RowFilter, 'limit' | 'before'>
type Asked = Rows['worktrees']['state'] | 'live' | 'all'

const statesOf = (state: Asked): Filter =>
  state === 'all' ? {} : { status: state === 'live' ? [...liveWorktreeStates] : [state] }

export function register(app: HttpApp, home: HomePort, views: Views): void {
  const recordOf = (row: Rows['worktrees']): WorktreeRecord => {
    const view = views.of(row.agent_id)
    return worktreeRecordOf(row, view === null ? [] : canOfWorktree(view, row))
  }

  const page = async (filter: Filter, { state, ...query }: PageQuery & { state: Asked }) => {
    const found = await pageOfRows(home, 'worktrees', { ...filter, ...statesOf(state) }, query)
    if (!found.ok) return found
    const { entries, next_cursor } = found.value
    return { ok: true as const, value: { worktrees: entries.map(recordOf), next_cursor } }
  }

  app.openapi(everywhere, async (c) => {
    const found = await page({}, c.req.valid('query'))
    return found.ok ? c.json(found.value, 200) : found.refusal
  })

  app.openapi(list, async (c) => {
    const view = agentNamed(views, c.req.valid('param').agent)
    if (!view.ok) return view.refusal
    const found = await page({ agent_id: view.value.agent.id }, c.req.valid('query'))
    return found.ok ? c.json(found.value, 200) : found.refusal
  })

  app.openapi(read, async (c) => {
    const { agent, worktree } = c.req.valid('param')
    const found = await rowNamed(home, 'worktrees', agent, worktree)
    return found.ok ? c.json(recordOf(found.value), 200) : found.refusal
  })

  const on = async (verb: Verb, { agent, worktree }: { agent: string; worktree: string }) => {
    const found = await rowNamed(home, 'worktrees', agent, worktree)
    if (!found.ok) return found
    const { id } = found.value
    const does = `${verb}_worktree` as const
    const done = await acted(home, { do: does, agent_id: agent, worktree_id: id })
    if (!done.ok) return done
    const row = await home.reads.row('worktrees', id)
    if (row === null) throw new Error(`no row for ${id}`)
    return { ok: true as const, value: { worktree: recordOf(row), ...toldOf(done.value) } }
  }

  app.openapi(verb('snapshot'), async (c) => {
    const done = await on('snapshot', c.req.valid('param'))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
  app.openapi(verb('restore'), async (c) => {
    const done = await on('restore', c.req.valid('param'))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
  app.openapi(verb('discard'), async (c) => {
    const done = await on('discard', c.req.valid('param'))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
  app.openapi(verb('remove'), async (c) => {
    const done = await on('remove', c.req.valid('param'))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })
}
