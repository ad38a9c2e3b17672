/**
 * What needs a person: one list for every client, and putting an entry away
 * (docs/spec/http.md#attention). An entry is computed from facts, so it is gone the moment a fact
 * settles it.
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import { actedAlone, toldOf } from '../../protocol/acts/acted.ts'
import {
  attentionList,
  attentionRecordOf,
  fingerprintOf,
  standingEntries,
  type AttentionPlacement,
} from '../../protocol/views/attention.ts'
import { snoozeBody } from '../../protocol/views/snooze-body.ts'
import { isMeantBy } from '../../protocol/records/records.ts'
import { acted, answerOf, bodyOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { refused, type Lookup } from '../request/named.ts'
import { cursorOf, idInCursor } from '../request/page.ts'
import { agentName } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { flag, limit, noQuery, queryOf } from '../request/query.ts'
import type { Views } from '../request/views.ts'

const tags = ['attention']

const list = createRoute({
  method: 'get',
  path: '/attention',
  tags,
  summary: 'What needs a person, most urgent first',
  request: {
    query: queryOf({
      limit,
      cursor: z.string().min(1).max(400).optional(),
      agent: agentName.optional(),
      include_snoozed: flag,
    }),
  },
  responses: { 200: answerOf('A page.', attentionList), ...problems(400, 422) },
})

const entryParams = z.object({
  entry: z
    .string()
    .min(1)
    .max(200)
    .meta({ description: 'The id of the entry, or its beginning or end.' }),
})

const snooze = createRoute({
  method: 'post',
  path: '/attention/{entry}/snooze',
  tags,
  summary: 'Put it away until a time, or until it changes',
  request: { params: entryParams, query: noQuery, ...bodyOf(snoozeBody) },
  responses: { 200: answerOf('It is put away.', actedAlone), ...problems(404, 409, 422) },
})

const dismiss = createRoute({
  method: 'post',
  path: '/attention/{entry}/dismiss',
  tags,
  summary: 'Put it away until it changes',
  request: { params: entryParams, query: noQuery },
  responses: { 200: answerOf('It is put away.', actedAlone), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort, views: Views): void {
  app.openapi(list, async (c) => {
    const { limit, cursor, agent, include_snoozed } = c.req.valid('query')
    const all = await entries(views, agent)
    const shown = include_snoozed ? all : all.filter(({ snoozed }) => snoozed === null)
    const from = cursor === undefined ? 0 : placeAfter(shown, cursor)
    if (from === null) {
      return refused('invalid_cursor', 'The entry the cursor stood at is settled.').refusal
    }
    const page = shown.slice(from, from + limit)
    const last = page.at(-1)?.entry
    const more = shown.length > from + limit && last !== undefined
    const next_cursor = more ? cursorOf('attention', last.id) : null
    const attention = page.map(attentionRecordOf)
    return c.json({ attention, total: shown.length, next_cursor }, 200)
  })

  app.openapi(snooze, async (c) => {
    const entry = entryNamed(await entries(views), c.req.valid('param').entry)
    if (!entry.ok) return entry.refusal
    const { until } = c.req.valid('json')
    const done = await acted(home, { do: 'snooze', ...putAway(entry.value), until })
    return done.ok ? c.json(toldOf(done.value), 200) : done.refusal
  })

  app.openapi(dismiss, async (c) => {
    const entry = entryNamed(await entries(views), c.req.valid('param').entry)
    if (!entry.ok) return entry.refusal
    const done = await acted(home, { do: 'dismiss', ...putAway(entry.value) })
    return done.ok ? c.json(toldOf(done.value), 200) : done.refusal
  })
}

const putAway = ({ entry }: AttentionPlacement) => ({
  agent_id: entry.agent_id,
  attention_id: entry.id,
  fingerprint: fingerprintOf(entry),
})

/** Every entry of all agents, or of one; what is put away is marked. */
export async function entries(views: Views, agent?: string): Promise<AttentionPlacement[]> {
  const seen = views.all().filter((view) => agent === undefined || view.agent.id === agent)
  return standingEntries(seen, await views.past(seen))
}

/** An entry comes and goes with facts: one that is gone leaves no place to go on from. */
function placeAfter(all: readonly AttentionPlacement[], cursor: string): number | null {
  const id = idInCursor('attention', cursor)
  const at = id === null ? -1 : all.findIndex(({ entry }) => entry.id === id)
  return at === -1 ? null : at + 1
}

/** By its id, or a beginning or end of it. */
function entryNamed(all: readonly AttentionPlacement[], text: string): Lookup<AttentionPlacement> {
  const found = all.filter(({ entry: { id } }) => isMeantBy(id, text))
  const [entry] = found
  if (entry === undefined) {
    return refused('attention_not_found', `Nothing of ${text} needs you now.`)
  }
  if (found.length === 1) return { ok: true, value: entry }
  const candidates = found.map(({ entry }) => `${entry.id} (${entry.agent_id})`).join(', ')
  return refused('ambiguous_id', `${text} means more than one: ${candidates}.`)
}
