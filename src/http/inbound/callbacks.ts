/**
 * `POST /callbacks/{token}`: an outside event by the capability URL of a trigger
 * (docs/spec/wait.md#deliveries). The gate knows the trigger by then; here the body becomes what
 * the event is about and what it says.
 */
import { createRoute, z } from '@hono/zod-openapi'
import { limits } from '../../domain/limits.ts'
import type { HttpApp } from '../request/app-env.ts'
import { parseJson, utf8 } from '../request/body.ts'
import { accepted, degradedRefusal, given, nothingHere, take } from './delivery.ts'
import { httpLimits } from '../request/limits.ts'
import type { HomePort } from '../request/ports.ts'
import { problems, refuse, type Refusal } from '../request/problem.ts'

const name = (about: string) =>
  z.string().min(1).max(limits.event_name.value).optional().openapi({ description: about })

const route = createRoute({
  method: 'post',
  path: '/callbacks/{token}',
  tags: ['triggers'],
  summary: 'Deliver an event to the agent of a trigger',
  description:
    'The address is the capability; no other is needed. A JSON object may say `source` and ' +
    '`resource` itself; what the query says wins, and what the trigger has fixed wins over both. ' +
    'An `Idempotency-Key` or `webhook-id` names the delivery: the same again within 8 days is ' +
    'answered with the first.',
  security: [],
  request: {
    params: z.object({ token: z.string().openapi({ description: 'Of the URL of the trigger.' }) }),
    query: z.object({
      source: name('What the event comes from, as a wait names it.'),
      resource: name('What it is about, as a wait names it.'),
    }),
    body: {
      description: 'At most 256 KiB; it may be empty.',
      content: {
        'application/json': { schema: z.unknown() },
        'text/plain': { schema: z.string() },
      },
    },
  },
  responses: {
    202: {
      description: 'It is stored.',
      content: { 'application/json': { schema: accepted } },
    },
    ...problems(400, 404, 413, 415, 422, 429, 503),
  },
})

export function register(app: HttpApp, home: HomePort): void {
  // What the document says of the body is wider than what the router's own checks could express.
  app.openAPIRegistry.registerPath(route)
  app.post(route.getRoutingPath(), async (c) => {
    const trigger = c.get('trigger')
    if (trigger === undefined) return nothingHere()
    const degraded = degradedRefusal(home)
    if (degraded !== null) return degraded
    const sender = senderId(c.req.header('idempotency-key') ?? c.req.header('webhook-id'))
    if (!sender.ok) {
      const message = 'The Idempotency-Key or webhook-id is not one.'
      return refuse({ code: 'invalid_idempotency_key', message })
    }
    const content_type = c.req.header('content-type') ?? null
    const event = eventOf(c.get('body'), content_type, c.req.query())
    if (!event.ok) return event.refusal
    return take(c, home, {
      do: 'deliver',
      agent_id: trigger.agent_id,
      via: { kind: 'trigger', trigger_id: trigger.id },
      body: event.body,
      ...given({
        sender_id: sender.id,
        source: event.source,
        resource: event.resource,
        content_type,
      }),
    })
  })
}

/** The name a sender gave its delivery, null when it gave none. */
function senderId(text: string | undefined): { ok: boolean; id: string | null } {
  if (text === undefined) return { ok: true, id: null }
  const fits = /^[\x21-\x7e]+$/.test(text) && text.length <= httpLimits.idempotency_key.value
  return { ok: fits, id: text }
}

type Event =
  | { ok: true; source: string | null; resource: string | null; body: string }
  | { ok: false; refusal: Refusal }

const not = (code: string, message: string): Event => ({
  ok: false,
  refusal: refuse({ code, message }),
})

function eventOf(
  bytes: Uint8Array,
  content_type: string | null,
  query: Readonly<Record<string, string>>,
): Event {
  const given = { source: query['source'], resource: query['resource'] }
  const type = content_type?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (bytes.length === 0) return named(given, {}, '')
  const body = utf8(bytes)
  if (/^application\/([\w.-]+\+)?json$/.test(type)) {
    const json = parseJson(bytes)
    if (!json.ok) {
      const message = json.code === 'too_deep' ? 'The body is too deep.' : 'The body is not JSON.'
      return not(json.code, message)
    }
    return named(given, json.value, body ?? '')
  }
  if (type !== 'text/plain') {
    return not('unsupported_media_type', 'A callback is application/json or text/plain.')
  }
  return body === null ? not('bad_request', 'The text is not UTF-8.') : named(given, {}, body)
}

/** The query says what it is about, else the fields of the body's own object. */
function named(
  query: { source: string | undefined; resource: string | undefined },
  json: unknown,
  body: string,
): Event {
  const own = ownNames(json)
  const source = query.source ?? own.source
  const resource = query.resource ?? own.resource
  for (const [field, value] of Object.entries({ source, resource })) {
    if (value !== undefined && (value === '' || value.length > limits.event_name.value)) {
      const message = `${field} has 1 to ${limits.event_name.value} characters.`
      return not('invalid_request', message)
    }
  }
  return { ok: true, source: source ?? null, resource: resource ?? null, body }
}

/** `source` and `resource` of a JSON object, where they are texts; a wait compares them whole. */
function ownNames(json: unknown): { source?: string; resource?: string } {
  if (typeof json !== 'object' || json === null) return {}
  const text = (field: 'source' | 'resource') => {
    const value: unknown = Object.getOwnPropertyDescriptor(json, field)?.value
    return typeof value === 'string' && value !== '' ? { [field]: value } : {}
  }
  return { ...text('source'), ...text('resource') }
}
