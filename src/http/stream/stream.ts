/**
 * `GET /events` and `GET /agents/{agent}/events`: the same events as a JSON page or as server-sent
 * events, by the seq of the home or of the agent. `Last-Event-ID` wins over `after`; what retention
 * took is 410 with the way to a snapshot (docs/spec/http.md#stream).
 */
import { createRoute, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { eventPage } from '../../protocol/events/event-page.ts'
import { liveFrame } from '../../protocol/live-frame.ts'
import { problemOf } from '../../protocol/problem.ts'
import type { HttpApp, HttpEnv } from '../request/app-env.ts'
import { agentParams, limit } from '../request/params.ts'
import type { EventRange } from '../../ports/ledger-filters.ts'
import type { HomePort } from '../request/ports.ts'
import { problemResponse, problems, refuse, type Refusal } from '../request/problem.ts'
import { queryOf } from '../request/query.ts'
import type { StreamDesk } from './stream-registry.ts'

const seq = (about: string) =>
  z.string().optional().openapi({ type: 'integer', minimum: 0, description: about })

const query = queryOf({
  after: seq('Events behind this seq; without it from the oldest kept.'),
  before: seq('The newest events below this seq, for paging backwards; not for a stream.'),
  limit,
})
const headers = z.object({
  'last-event-id': z.string().optional().openapi({ description: 'Wins over `after`.' }),
  accept: z.string().optional().openapi({ description: '`text/event-stream` for a stream.' }),
})

const responses = {
  200: {
    description:
      'A page, or a stream: `id` is the seq, `event` the type, `data` the stored event; live ' +
      'frames have the event `live` and no `id`.',
    content: {
      'application/json': { schema: eventPage },
      'text/event-stream': { schema: z.string() },
    },
  },
  ...problems(400, 404, 410, 503),
}

const allEvents = createRoute({
  method: 'get',
  path: '/events',
  tags: ['events'],
  summary: 'Events of the home, by global seq',
  request: { query, headers },
  responses,
})

const agentEvents = createRoute({
  method: 'get',
  path: '/agents/{agent}/events',
  tags: ['events'],
  summary: "Events of one agent, by the agent's seq",
  request: { params: agentParams, query, headers },
  responses,
})

export function register(app: HttpApp, home: HomePort, desk: StreamDesk): void {
  // What stands in the frames of a stream is not in any answer of its own.
  // A copy: a schema made before the library was loaded does not know how to be registered.
  app.openAPIRegistry.register('LiveFrame', liveFrame.clone())

  app.openapi(allEvents, (c) => answer(c, { home, desk, agent_id: null }, c.req.valid('query')))

  app.openapi(agentEvents, async (c) => {
    const { agent } = c.req.valid('param')
    if ((await home.reads.row('agents', agent)) === null) {
      return refuse({ code: 'agent_not_found', message: `There is no agent ${agent}.` })
    }
    return answer(c, { home, desk, agent_id: agent }, c.req.valid('query'))
  })
}

type Source = { home: HomePort; desk: StreamDesk; agent_id: string | null }
type Asked = { after?: string | undefined; before?: string | undefined; limit: number }

async function answer(c: Context<HttpEnv>, source: Source, asked: Asked) {
  const { home, agent_id } = source
  const place = placeOf(asked, c.req.header('last-event-id'))
  if (place === null) {
    return refuse({ code: 'invalid_cursor', message: 'The seq is not a whole number.' })
  }
  const wantsStream = (c.req.header('accept') ?? '').toLowerCase().includes('text/event-stream')
  if (place.before !== null && (place.after !== null || wantsStream)) {
    const message = '`before` goes with neither `after` nor a stream.'
    return refuse({ code: 'invalid_request', message })
  }
  const range = await home.reads.eventRange(agent_id)
  const gone = goneRefusal(place.after, range)
  if (gone !== null) return gone
  if (wantsStream && c.req.method !== 'HEAD') {
    return streamed(c, source, place.after ?? range.first - 1)
  }
  const of = agent_id === null ? {} : { agent_id }
  const at = place.before === null ? { after: place.after ?? 0 } : { before: place.before }
  const events = await home.reads.events({ ...of, ...at, limit: asked.limit })
  const seqs = events.map((event) => (agent_id === null ? event.global_seq : event.seq))
  const next_cursor =
    place.before === null
      ? (seqs.at(-1) ?? place.after ?? 0)
      : seqs[0] === undefined || seqs[0] <= range.first
        ? null
        : seqs[0]
  return c.json({ events, next_cursor }, 200)
}

/** Null: one of them is no seq. */
function placeOf(asked: Asked, lastEventId: string | undefined) {
  const last = lastEventId === '' ? undefined : lastEventId
  const [a, b, l] = [asked.after, asked.before, last].map(seqOf)
  if (a === undefined || b === undefined || l === undefined) return null
  if (a === 'bad' || b === 'bad' || l === 'bad') return null
  return { after: l ?? a, before: b }
}

const seqOf = (text: string | undefined): number | null | 'bad' => {
  if (text === undefined) return null
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : 'bad'
}

/** A cursor below what is kept, or beyond what ever was: following it would leave events out. */
function goneRefusal(after: number | null, { first, last }: EventRange): Refusal | null {
  if (after === null || (after >= first - 1 && after <= last)) return null
  const detail =
    after > last
      ? `The newest event is ${last}: the home was restored, or the cursor is of another home.`
      : `Events before ${first} are no longer kept.`
  return problemResponse({ ...problemOf('events_gone', detail), snapshot: '/state' })
}

function streamed(c: Context<HttpEnv>, { desk, agent_id }: Source, after: number) {
  const stream = desk.open({ agent_id, after, hang_up: c.env?.hang_up })
  if (stream === null) {
    return refuse({ code: 'too_many_streams', message: 'No further stream can be opened now.' })
  }
  return c.body(stream.body, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  })
}
