/**
 * Messages: the operator's words to an agent, and the inbox with each message's receipt: accepted,
 * in which request of which turn it was shown, or waiting for the next one (docs/spec/message.md,
 * docs/spec/http.md).
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedOnMessage, toldOf } from '../../protocol/acts/acted.ts'
import { answeredWait, canOfMessage } from '../../protocol/actions/can.ts'
import {
  accepted,
  messageKinds,
  messageList,
  messageRecord,
  messageRecordOf,
  messageStatuses,
  newMessage,
  type MessageRecord,
} from '../../protocol/records/message-record.ts'
import type { OperatorCommand } from '../../protocol/acts/operator.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { acted, answerOf, bodyOf, created } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { filterOf } from './history.ts'
import { rowNamed } from '../request/named.ts'
import { pageOfRows } from '../request/page.ts'
import { agentAnd, agentParams, idText } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { listQuery, noQuery } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['messages']

const send = createRoute({
  method: 'post',
  path: '/agents/{agent}/messages',
  tags,
  summary: 'Say something to the agent',
  request: { params: agentParams, query: noQuery, ...bodyOf(newMessage) },
  responses: { 202: answerOf('It is accepted.', accepted), ...problems(404, 409, 422, 429) },
})

const list = createRoute({
  method: 'get',
  path: '/agents/{agent}/messages',
  tags,
  summary: 'Its inbox, oldest first; a page has the newest of it',
  request: {
    params: agentParams,
    query: listQuery({
      status: z.enum(messageStatuses).optional(),
      kind: z.enum(messageKinds).optional(),
      work_item_id: idText('work').optional(),
    }),
  },
  responses: { 200: answerOf('A page.', messageList), ...problems(400, 404, 409, 422) },
})

const read = createRoute({
  method: 'get',
  path: '/agents/{agent}/messages/{message}',
  tags,
  summary: 'One message with its receipt',
  request: { params: agentAnd('message', 'msg'), query: noQuery },
  responses: { 200: answerOf('The message.', messageRecord), ...problems(404, 409, 422) },
})

const takeBack = createRoute({
  method: 'post',
  path: '/agents/{agent}/messages/{message}/take-back',
  tags,
  summary: 'Take your own words back before a turn claims them',
  request: { params: agentAnd('message', 'msg'), query: noQuery },
  responses: {
    200: answerOf('No turn will read it; the same again is the same answer.', actedOnMessage),
    ...problems(404, 409, 422),
  },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  /** With what may be done to it, as an act on it would find; of a deleted agent nothing. */
  const recordOf = async (message: Rows['messages']): Promise<MessageRecord> => {
    const answered = await answeredWait(message, (page) => home.reads.events(page))
    const view = views.of(message.agent_id)
    return messageRecordOf(message, view === null ? [] : canOfMessage(view, message, answered))
  }

  app.openapi(send, async (c) => {
    const agent_id = c.req.valid('param').agent
    const { work_item_id, wait_id, ...words } = c.req.valid('json')
    const filter = await filterOf(home, views, agent_id, work_item_id)
    if (!filter.ok) return filter.refusal
    const wait = wait_id === undefined ? null : await rowNamed(home, 'waits', agent_id, wait_id)
    if (wait?.ok === false) return wait.refusal
    const command: OperatorCommand = {
      do: 'send',
      agent_id,
      ...words,
      ...(filter.value.work_item_id === undefined
        ? {}
        : { work_item_id: filter.value.work_item_id }),
      ...(wait === null ? {} : { wait_id: wait.value.id }),
      surface: 'http_control',
    }
    const done = await created(c, home, '/agents/{agent}/messages', command)
    if (!done.ok) return done.refusal
    const { message_id, resolved, said, warnings } = done.value
    const message = message_id === null ? null : await home.reads.row('messages', message_id)
    if (message === null) throw new Error(`an accepted message has no row: ${message_id}`)
    const told = { resolved: resolved as `wait_${string}`[], said, warnings }
    const answer = { message_id: message.id, accepted_at: message.created_at, ...told }
    return c.json(answer, 202, { location: `/agents/${agent_id}/messages/${message.id}` })
  })

  app.openapi(list, async (c) => {
    const { status, kind, work_item_id, ...query } = c.req.valid('query')
    const filter = await filterOf(home, views, c.req.valid('param').agent, work_item_id)
    if (!filter.ok) return filter.refusal
    const narrowed = {
      ...filter.value,
      ...(status === undefined ? {} : { status: [status] }),
      ...(kind === undefined ? {} : { kind: [kind] }),
    }
    const page = await pageOfRows(home, 'messages', narrowed, query)
    if (!page.ok) return page.refusal
    const { entries, next_cursor } = page.value
    return c.json({ messages: await Promise.all(entries.map(recordOf)), next_cursor }, 200)
  })

  app.openapi(read, async (c) => {
    const { agent, message } = c.req.valid('param')
    const found = await rowNamed(home, 'messages', agent, message)
    return found.ok ? c.json(await recordOf(found.value), 200) : found.refusal
  })

  app.openapi(takeBack, async (c) => {
    const { agent: agent_id, message } = c.req.valid('param')
    const found = await rowNamed(home, 'messages', agent_id, message)
    if (!found.ok) return found.refusal
    const { id: message_id } = found.value
    const surface = 'http_control' as const
    const done = await acted(home, { do: 'take_back', agent_id, message_id, surface })
    if (!done.ok) return done.refusal
    const row = await home.reads.row('messages', message_id)
    if (row === null) throw new Error(`a message that was taken back has no row: ${message_id}`)
    return c.json({ message: await recordOf(row), ...toldOf(done.value) }, 200)
  })
}
