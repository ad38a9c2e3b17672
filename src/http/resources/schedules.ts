/** Schedules: future and recurring inputs of an agent, and each slot that fell due. */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnSchedule, toldOf } from '../../protocol/acts/acted.ts'
import { canOfSchedule } from '../../protocol/actions/can.ts'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import type { Rows } from '../../protocol/records/records.ts'
import {
  changeSchedule,
  newSchedule,
  scheduleList,
  scheduleRecord,
  scheduleRecordOf,
  scheduleStatuses,
  slotList,
  slotStatuses,
  type ScheduleRecord,
} from '../../protocol/records/schedule-record.ts'
import { actedOn, answerOf, bodyOf, created, madeBy } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { filterOf } from './history.ts'
import { agentNamed, rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['schedules']
const one = { params: agentAnd('schedule', 'sched'), query: noQuery }
const refusals = problems(404, 409, 422)
const acceptance = (description: string) => ({
  200: answerOf(description, actedOnSchedule),
  ...refusals,
})

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/schedules',
  tags,
  summary: 'Its schedules, oldest first; a page has the newest of them',
  request: {
    params: agentParams,
    query: listQuery({
      status: z
        .enum([...scheduleStatuses, 'live', 'all'])
        .default('live')
        .meta({ default: 'live', description: '`live`: active or paused.' }),
    }),
  },
  responses: { 200: answerOf('A page.', scheduleList), ...problems(400, 404, 409, 422) },
})

const make = createRoute({
  method: 'post',
  path: '/agents/{agent}/schedules',
  tags,
  summary: 'Make a schedule',
  request: { params: agentParams, query: noQuery, ...bodyOf(newSchedule) },
  responses: { 201: answerOf('It is made.', actedOnSchedule), ...refusals },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/schedules/{schedule}',
  tags,
  summary: 'One schedule',
  request: one,
  responses: { 200: answerOf('The schedule.', scheduleRecord), ...refusals },
})

const change = createRoute({
  method: 'patch',
  path: '/agents/{agent}/schedules/{schedule}',
  tags,
  summary: 'Change it',
  request: { ...one, ...bodyOf(changeSchedule) },
  responses: acceptance('It is changed.'),
})

const pause = createRoute({
  method: 'post',
  path: '/agents/{agent}/schedules/{schedule}/pause',
  tags,
  summary: 'Pause it: nothing falls due until it is resumed',
  request: one,
  responses: acceptance('It is paused.'),
})

const resume = createRoute({
  method: 'post',
  path: '/agents/{agent}/schedules/{schedule}/resume',
  tags,
  summary: 'Resume it from now on',
  request: one,
  responses: acceptance('It goes on.'),
})

const remove = createRoute({
  method: 'delete',
  path: '/agents/{agent}/schedules/{schedule}',
  tags,
  summary: 'Remove it for good; its slots stay to be read',
  request: one,
  responses: acceptance('It is removed.'),
})

const slots = createRoute({
  method: 'get',
  path: '/agents/{agent}/schedules/{schedule}/slots',
  tags,
  summary: 'Each moment it was due and what became of it, oldest first; newest page first',
  request: {
    params: one.params,
    query: listQuery({ status: z.enum(slotStatuses).optional() }),
  },
  responses: { 200: answerOf('A page.', slotList), ...problems(400, 404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  reads(app, home, views)
  acts(app, home, views)
}

function reads(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(list, async (c) => {
    const agent_id = c.req.valid('param').agent
    const view = agentNamed(views, agent_id)
    if (!view.ok) return view.refusal
    const { status, ...query } = c.req.valid('query')
    const statuses = status === 'live' ? ['active', 'paused'] : [status]
    const filter = { agent_id, ...(status === 'all' ? {} : { status: statuses }) }
    const page = await pageOfRows(home, 'schedules', filter, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ schedules: entries.map((one) => recordOf(views, one)), next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, schedule } = c.req.valid('param')
    const found = await rowNamed(home, 'schedules', agent, schedule)
    return found.ok ? c.json(recordOf(views, found.value), 200) : found.refusal
  })

  app.openapi(slots, async (c) => {
    const { agent: agent_id, schedule } = c.req.valid('param')
    const found = await rowNamed(home, 'schedules', agent_id, schedule)
    if (!found.ok) return found.refusal
    const { status, ...query } = c.req.valid('query')
    const filter = {
      agent_id,
      schedule_id: found.value.id,
      ...(status === undefined ? {} : { status: [status] }),
    }
    const page = await pageOfRows(home, 'slots', filter, query)
    if (!page.ok) return page.refusal
    return c.json({ slots: page.value.entries, next_cursor: page.value.next_cursor }, 200)
  })
}

function acts(app: HttpApp, home: HomePort, views: Views): void {
  /** The act on the schedule that is meant, and the schedule as it is then. */
  const act = async (
    agent: string,
    text: string,
    commandOn: (schedule_id: string) => OperatorCommand,
  ) => {
    const on = await actedOn(home, 'schedules', { agent, text }, commandOn)
    if (!on.ok) return on
    const { row, done } = on.value
    return { ok: true as const, value: { schedule: recordOf(views, row), ...toldOf(done) } }
  }

  app.openapi(make, async (c) => {
    const agent_id = c.req.valid('param').agent
    const { work_item_id, ...body } = c.req.valid('json')
    const filter = await filterOf(home, views, agent_id, work_item_id)
    if (!filter.ok) return filter.refusal
    const item = filter.value.work_item_id
    const about = item === undefined ? {} : { work_item_id: item }
    const command = { do: 'create_schedule', agent_id, ...body, ...about } as const
    const done = await created(c, home, '/agents/{agent}/schedules', command)
    if (!done.ok) return done.refusal
    const found = await rowNamed(home, 'schedules', agent_id, madeBy(done.value))
    if (!found.ok) return found.refusal
    const schedule = recordOf(views, found.value)
    const location = `/agents/${agent_id}/schedules/${schedule.id}`
    return c.json({ schedule, ...toldOf(done.value) }, 201, { location })
  })

  app.openapi(change, async (c) => {
    const { agent: agent_id, schedule } = c.req.valid('param')
    const { work_item_id, ...body } = c.req.valid('json')
    const filter = await filterOf(home, views, agent_id, work_item_id ?? undefined)
    if (!filter.ok) return filter.refusal
    const item = work_item_id === null ? null : filter.value.work_item_id
    const about = item === undefined ? {} : { work_item_id: item }
    const done = await act(agent_id, schedule, (schedule_id) => ({
      do: 'change_schedule',
      agent_id,
      schedule_id,
      ...body,
      ...about,
    }))
    return done.ok ? c.json(done.value, 200) : done.refusal
  })

  const turning = [
    [pause, 'pause_schedule'],
    [resume, 'resume_schedule'],
    [remove, 'remove_schedule'],
  ] as const
  for (const [route, verb] of turning) {
    app.openapi(route, async (c) => {
      const { agent: agent_id, schedule } = c.req.valid('param')
      const done = await act(agent_id, schedule, (schedule_id) => ({
        do: verb,
        agent_id,
        schedule_id,
      }))
      return done.ok ? c.json(done.value, 200) : done.refusal
    })
  }
}

function recordOf(views: Views, schedule: Rows['schedules']): ScheduleRecord {
  const view = views.of(schedule.agent_id)
  return scheduleRecordOf(schedule, view === null ? [] : canOfSchedule(view, schedule))
}
