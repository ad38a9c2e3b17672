/**
 * `GET /state`: the snapshot a client starts from, out of the owner's memory. Follow `/events` from
 * its `last_seq`: what is committed while it is put together comes there too, never less.
 */
import { createRoute } from '@hono/zod-openapi'
import type { TypedResponse } from 'hono'
import type { JSONParsed } from 'hono/utils/types'
import { lateOf, type AgentView } from '../../protocol/agent-view.ts'
import { attentionRecordOf } from '../../protocol/views/attention.ts'
import { canOfTask } from '../../protocol/actions/can.ts'
import {
  countsOf,
  openTurnOf,
  shownItems,
  stateRecord,
  type OpenTurnRecord,
  type StateRecord,
} from '../../protocol/views/state-record.ts'
import { taskRecordOf, type TaskRecord } from '../../protocol/records/task-record.ts'
import { waitRecordOf, type WaitRecord } from '../../protocol/records/wait-record.ts'
import { workItemRecordOf, type WorkItemRecord } from '../../protocol/records/work-item-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { entries } from './attention.ts'
import { lifeOf } from './life.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'
import type { ShownText, Views } from '../request/views.ts'

/** Entries of the attention list that come along; `GET /attention` has all. */
const attentionShown = 100

const state = createRoute({
  method: 'get',
  path: '/state',
  tags: ['state'],
  summary: 'What a client needs to start',
  request: { query: noQuery },
  responses: { 200: answerOf('The state.', stateRecord), ...problems(422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(state, async () => stateAnswer(await stateText(home, views)))
}

type Answer = Response & TypedResponse<JSONParsed<StateRecord>, 200, 'json'>

/** It may have a megabyte, most of it as in the answer before: it is put together from texts. */
const stateAnswer = (text: string): Answer =>
  new Response(text, {
    status: 200,
    headers: { 'content-type': 'application/json' },
  }) as Answer

async function stateText(home: HomePort, views: Views): Promise<string> {
  // Read first: what is committed after it is in the stream behind it, and perhaps here as well.
  const { last } = await home.reads.eventRange(null)
  const all = views.all()
  const shown = await Promise.all(
    all.map((view) => views.shownText(view, () => shownTextOf(views, view))),
  )
  const attention = (await entries(views)).filter(({ snoozed }) => snoozed === null)
  const rest = {
    attention: attention.slice(0, attentionShown).map(attentionRecordOf),
    attention_total: attention.length,
  } satisfies Partial<StateRecord>
  const of = (key: keyof ShownText) => listed(shown.map((one) => one[key]))
  const members = [
    `"now":${JSON.stringify(home.now())}`,
    `"last_seq":${last}`,
    `"agents":${listed(all.map((view) => views.recordText(view)))}`,
    `"work_items":${of('work_items')}`,
    `"counts":${of('counts')}`,
    `"turns":${JSON.stringify(all.flatMap((view) => turnsOf(home, view)))}`,
    `"tasks":${JSON.stringify(all.flatMap((view) => tasksOf(home, view)))}`,
    `"waits":${of('waits')}`,
    JSON.stringify(rest).slice(1, -1),
  ]
  return `{${members.join(',')}}`
}

const listed = (texts: readonly string[]): string =>
  `[${texts.filter((text) => text !== '').join(',')}]`

const joined = (records: readonly object[]): string => JSON.stringify(records).slice(1, -1)

/** Made anew for each answer: a task shows signs of life that no commit tells of. */
const tasksOf = (home: HomePort, view: AgentView): TaskRecord[] =>
  [...view.facts.rows('tasks')]
    .filter(({ ended_at }) => ended_at === null)
    .map((task) => taskRecordOf(task, lifeOf(home, view.agent.id, task.id), canOfTask(view, task)))

/** Made anew, too: an open request shows when it was last heard of. */
const turnsOf = (home: HomePort, view: AgentView): OpenTurnRecord[] => {
  const turn = openTurnOf(view, lifeOf(home, view.agent.id, view.turn?.id ?? ''))
  return turn === null ? [] : [turn]
}

async function shownTextOf(views: Views, view: AgentView): Promise<ShownText> {
  const { facts } = view
  const shown = shownItems(view)
  const items = new Set<string>(shown.map(({ item }) => item.id))
  const waits = [...facts.rows('waits')].filter(
    ({ status, work_item_id: on }) => status === 'active' && (on === null || items.has(on)),
  )
  const work_items = shown.map(async (p): Promise<WorkItemRecord> => {
    // Asked before anything is waited for: the facts go on meanwhile.
    const can = views.canOfItem(view, p)
    const late = lateOf(facts, p.item)
    const spend = await views.spendOf(view, p.item)
    return workItemRecordOf(p, { plan: null, spend, whole: false, late, can })
  })
  const waiting: WaitRecord[] = waits.map((wait) => waitRecordOf(wait, views.canOfWait(view, wait)))
  return {
    work_items: joined(await Promise.all(work_items)),
    counts: JSON.stringify(countsOf(view, await views.completedItems(view))),
    waits: joined(waiting),
  }
}
