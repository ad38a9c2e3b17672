/**
 * Tasks: managed executions of one agent or of all, their output, starting and stopping them
 * (docs/spec/task.md, docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnTask, toldOf } from '../../protocol/acts/acted.ts'
import { canOfTask } from '../../protocol/actions/can.ts'
import type { Rows } from '../../protocol/records/records.ts'
import {
  liveTaskStatuses,
  newTask,
  answerHeldBody,
  taskInput,
  taskList,
  taskOutput,
  taskRecord,
  taskRecordOf,
  taskStatuses,
  taskStreams,
  type TaskRecord,
} from '../../protocol/records/task-record.ts'
import { noLife } from '../../protocol/records/turn-record.ts'
import { acted, answerOf, bodyOf, created, madeBy } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { filterOf } from './history.ts'
import { lifeOf } from './life.ts'
import { refused, rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams, idText } from '../request/params.ts'
import type { RowFilter } from '../../ports/ledger-filters.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery, queryOf, type PageQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['tasks']
const one = { params: agentAnd('task', 'task'), query: noQuery }
const refusals = problems(404, 409, 422)
const status = z
  .enum([...taskStatuses, 'live', 'all'])
  .default('live')
  .meta({ default: 'live', description: '`live`: queued, running or cancelling.' })

const everywhere = createRoute({
  method: 'get',
  path: '/tasks',
  tags,
  summary: 'Tasks of all agents, oldest first; a page has the newest of them',
  request: { query: listQuery({ status }) },
  responses: { 200: answerOf('A page.', taskList), ...problems(400, 404, 409, 422) },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/tasks',
  tags,
  summary: 'Tasks of one agent, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({ status, work_item_id: idText('work').optional() }),
  },
  responses: { 200: answerOf('A page.', taskList), ...problems(400, 404, 409, 422) },
})

const start = createRoute({
  method: 'post',
  path: '/agents/{agent}/tasks',
  tags,
  summary: 'Run a command; its end is a message to the agent',
  request: { params: agentParams, query: noQuery, ...bodyOf(newTask) },
  responses: { 202: answerOf('It is accepted.', actedOnTask), ...refusals },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/tasks/{task}',
  tags,
  summary: 'One task',
  request: one,
  responses: { 200: answerOf('The task.', taskRecord), ...refusals },
})

/** Bytes of output in one answer. */
const [usualOutput, mostOutput] = [65_536, 1_048_576]

const bytes = (usual: number, least: number, most: number, about: string) =>
  z
    .string()
    .regex(/^\d{1,16}$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(least).max(most))
    .default(usual)
    .meta({ type: 'integer', minimum: least, maximum: most, default: usual, description: about })

const output = createRoute({
  method: 'get',
  path: '/agents/{agent}/tasks/{task}/output',
  tags,
  summary: 'A piece of what it wrote; go on at `next_offset`',
  request: {
    params: one.params,
    query: queryOf({
      stream: z.enum(taskStreams).default('stdout').meta({ default: 'stdout' }),
      offset: bytes(0, 0, Number.MAX_SAFE_INTEGER, 'Bytes to skip.'),
      limit: bytes(usualOutput, 4, mostOutput, 'Bytes of the piece, at most.'),
    }),
  },
  responses: { 200: answerOf('The piece.', taskOutput), ...refusals },
})

const input = createRoute({
  method: 'post',
  path: '/agents/{agent}/tasks/{task}/input',
  tags,
  summary: 'Write to the input of a command, or tell a child something',
  request: { ...one, ...bodyOf(taskInput) },
  responses: { 202: answerOf('It is given.', actedOnTask), ...refusals },
})

const answer = createRoute({
  method: 'post',
  path: '/agents/{agent}/tasks/{task}/answer',
  tags,
  summary: 'Say whether a held command may run, as it was shown; 409 when it is another by now',
  request: { ...one, ...bodyOf(answerHeldBody) },
  responses: { 202: answerOf('The answer is accepted.', actedOnTask), ...refusals },
})

const stop = createRoute({
  method: 'post',
  path: '/agents/{agent}/tasks/{task}/stop',
  tags,
  summary: 'Stop it: TERM, then KILL, then proof',
  request: one,
  responses: { 200: answerOf('It is stopped, or says what is left.', actedOnTask), ...refusals },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  reads(app, home, views)
  acts(app, home, views)
}

function reads(app: HttpApp, home: HomePort, views: Views): void {
  const page = async (filter: Filter, asked: PageQuery & { status: Asked }) => {
    const { status, ...query } = asked
    const rows = await pageOfRows(home, 'tasks', { ...filter, ...statusesOf(status) }, query)
    if (!rows.ok) return rows
    const { entries, next_cursor } = rows.value
    const tasks = entries.map((task) => recordOf(home, views, task))
    return { ok: true as const, value: { tasks, next_cursor } }
  }

  app.openapi(everywhere, async (c) => {
    const found = await page({}, c.req.valid('query'))
    return found.ok ? c.json(found.value, 200) : found.refusal
  })

  app.openapi(list, async (c) => {
    const { work_item_id, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const found = await page(filter.value, query)
    return found.ok ? c.json(found.value, 200) : found.refusal
  })

  app.openapi(read, async (c) => {
    const { agent, task } = c.req.valid('param')
    const found = await rowNamed(home, 'tasks', agent, task)
    return found.ok ? c.json(recordOf(home, views, found.value), 200) : found.refusal
  })

  app.openapi(output, async (c) => {
    const { agent, task } = c.req.valid('param')
    const found = await rowNamed(home, 'tasks', agent, task)
    if (!found.ok) return found.refusal
    const { stream, offset, limit } = c.req.valid('query')
    const { id } = found.value
    const piece = await home.taskOutput(id, stream, offset, limit)
    if (piece === null) return refused('not_found', `The output of ${id} is not there.`).refusal
    const { text, next_offset, size, ended } = piece
    return c.json({ task_id: id, stream, offset, text, next_offset, size, ended }, 200)
  })
}

function acts(app: HttpApp, home: HomePort, views: Views): void {
  const recordNow = async (id: string): Promise<TaskRecord> => {
    const task = await home.reads.row('tasks', id)
    if (task === null) throw new Error(`no row for ${id}`)
    return recordOf(home, views, task)
  }

  app.openapi(start, async (c) => {
    const agent_id = c.req.valid('param').agent
    const { work_item_id, ...body } = c.req.valid('json')
    const filter = await filterOf(home, views, agent_id, work_item_id)
    if (!filter.ok) return filter.refusal
    const item = filter.value.work_item_id
    const about = item === undefined ? {} : { work_item_id: item }
    const command = { do: 'start_task', agent_id, ...body, ...about } as const
    const done = await created(c, home, '/agents/{agent}/tasks', command)
    if (!done.ok) return done.refusal
    const task = await recordNow(madeBy(done.value))
    const location = `/agents/${agent_id}/tasks/${task.id}`
    return c.json({ task, ...toldOf(done.value) }, 202, { location })
  })

  app.openapi(input, async (c) => {
    const { agent, task } = c.req.valid('param')
    const found = await rowNamed(home, 'tasks', agent, task)
    if (!found.ok) return found.refusal
    const { id } = found.value
    const command = { do: 'task_input', agent_id: agent, task_id: id } as const
    const given = { ...command, ...c.req.valid('json') }
    const done = await created(c, home, `/agents/{agent}/tasks/${id}/input`, given)
    if (!done.ok) return done.refusal
    return c.json({ task: await recordNow(id), ...toldOf(done.value) }, 202)
  })

  app.openapi(answer, async (c) => {
    const { agent, task } = c.req.valid('param')
    const found = await rowNamed(home, 'tasks', agent, task)
    if (!found.ok) return found.refusal
    const { id } = found.value
    const surface = 'http_control' as const
    const command = { do: 'answer_held', agent_id: agent, task_id: id, surface } as const
    const given = { ...command, ...c.req.valid('json') }
    const done = await created(c, home, `/agents/{agent}/tasks/${id}/answer`, given)
    if (!done.ok) return done.refusal
    return c.json({ task: await recordNow(id), ...toldOf(done.value) }, 202)
  })

  app.openapi(stop, async (c) => {
    const { agent, task } = c.req.valid('param')
    const found = await rowNamed(home, 'tasks', agent, task)
    if (!found.ok) return found.refusal
    const { id } = found.value
    const done = await acted(home, { do: 'stop_task', agent_id: agent, task_id: id })
    if (!done.ok) return done.refusal
    return c.json({ task: await recordNow(id), ...toldOf(done.value) }, 200)
  })
}

function recordOf(home: HomePort, views: Views, task: Rows['tasks']): TaskRecord {
  const view = views.of(task.agent_id)
  const life = task.ended_at === null ? lifeOf(home, task.agent_id, task.id) : noLife
  return taskRecordOf(task, life, view === null ? [] : canOfTask(view, task))
}

type Filter = Omit<RowFilter, 'limit' | 'before'>
type Asked = Rows['tasks']['status'] | 'live' | 'all'

const statusesOf = (status: Asked): Filter =>
  status === 'all' ? {} : { status: status === 'live' ? [...liveTaskStatuses] : [status] }
