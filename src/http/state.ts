/**
 * `GET /state`: the snapshot a client starts from, out of the owner's memory. Follow `/events` from
 * its `last_seq`: what is committed while it is put together comes there too, never less.
 */
import { createRoute } from '@hono/zod-openapi'
import type { AgentView } from '../protocol/agent-view.ts'
import { attentionRecordOf } from '../protocol/attention.ts'
import { canOfTask } from '../protocol/can.ts'
import {
  countsOf,
  shownItems,
  stateRecord,
  type AgentCounts,
  type StateRecord,
} from '../protocol/state-record.ts'
import { taskRecordOf, type TaskRecord } from '../protocol/task-record.ts'
import { waitRecordOf, type WaitRecord } from '../protocol/wait-record.ts'
import { workItemRecordOf, type WorkItemRecord } from '../protocol/work-item-record.ts'
import { answerOf } from './act.ts'
import type { HttpApp } from './app-env.ts'
import { entries } from './attention.ts'
import { lifeOf } from './life.ts'
import type { HomePort } from './ports.ts'
import { problems } from './problem.ts'
import { noQuery } from './query.ts'
import type { Views } from './views.ts'

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
  app.openapi(state, async (c) => c.json(await stateNow(home, views), 200))
}

async function stateNow(home: HomePort, views: Views): Promise<StateRecord> {
  // Read first: what is committed after it is in the stream behind it, and perhaps here as well.
  const { last } = await home.reads.eventRange(null)
  const all = views.all()
  const parts = await Promise.all(all.map((view) => partOf(home, views, view)))
  const attention = (await entries(views)).filter(({ snoozed }) => snoozed === null)
  return {
    now: home.now(),
    last_seq: last,
    agents: all.map((view) => views.record(view)),
    work_items: parts.flatMap(({ work_items }) => work_items),
    counts: parts.map(({ counts }) => counts),
    tasks: parts.flatMap(({ tasks }) => tasks),
    waits: parts.flatMap(({ waits }) => waits),
    attention: attention.slice(0, attentionShown).map(attentionRecordOf),
    attention_total: attention.length,
  }
}

type Part = {
  work_items: WorkItemRecord[]
  counts: AgentCounts
  tasks: TaskRecord[]
  waits: WaitRecord[]
}

async function partOf(home: HomePort, views: Views, view: AgentView): Promise<Part> {
  const { facts, agent } = view
  const shown = shownItems(view)
  const items = new Set<string>(shown.map(({ item }) => item.id))
  const waits = [...facts.rows('waits')].filter(
    ({ status, work_item_id: on }) => status === 'active' && (on === null || items.has(on)),
  )
  const tasks = [...facts.rows('tasks')].filter(({ ended_at }) => ended_at === null)
  const work_items = shown.map(async (p) => {
    // Asked before anything is waited for: the facts go on meanwhile.
    const can = views.canOfItem(view, p)
    const spend = await views.spendOf(view, p.item)
    return workItemRecordOf(p, { plan: null, spend, whole: false, can })
  })
  return {
    work_items: await Promise.all(work_items),
    counts: countsOf(view, await views.completedItems(view)),
    tasks: tasks.map((task) =>
      taskRecordOf(task, lifeOf(home, agent.id, task.id), canOfTask(view, task)),
    ),
    waits: waits.map((wait) => waitRecordOf(wait, views.canOfWait(view, wait))),
  }
}
