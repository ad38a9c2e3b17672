/**
 * `POST /webhooks/{agent}/{source}`: a signed delivery of a configured webhook
 * (docs/spec/http.md#webhooks). The signature is checked over the raw bytes before anything parses
 * them. What is signed but cannot be mapped is kept as a dead letter, so its sender is told that it
 * is stored.
 */
import { createRoute, z } from '@hono/zod-openapi'
import type { WebhookConfig } from '../../protocol/webhook.ts'
import type { HttpApp } from '../request/app-env.ts'
import { parseJson, utf8 } from '../request/body.ts'
import { accepted, degradedRefusal, given, nothingHere, take } from './delivery.ts'
import { mapDelivery } from './mapping.ts'
import type { HomePort } from '../request/ports.ts'
import { problems, refuse } from '../request/problem.ts'
import { verifyWebhook } from './signature.ts'

/** A webhook as it is enabled: with the secrets that are in its files now, at least one. */
export type Webhook = {
  config: WebhookConfig
  secrets: readonly string[]
  /** Sources of the other webhooks that one of these secrets signs for. */
  also_from: readonly string[]
}

export type WebhookPorts = {
  /** Null when there is none of this name, or none of its secrets can be read (fail closed). */
  find(name: string): Promise<Webhook | null>
  /** Wall clock, milliseconds since 1970. */
  now_ms(): number
  /** Told why a delivery was refused, for the log; never with its body or signature. */
  on_refused?: (webhook: string, agent_id: string, code: string, message: string) => void
}

const route = createRoute({
  method: 'post',
  path: '/webhooks/{agent}/{source}',
  tags: ['webhooks'],
  summary: 'Deliver a signed webhook to an agent',
  description:
    'Signed by Standard Webhooks or GitHub over the raw body. The configuration maps the body to ' +
    'source, resource and a line of summary. A delivery of the same id within 8 days is answered ' +
    'with the first, to whichever agent it was.',
  security: [],
  request: {
    params: z.object({
      agent: z.string().openapi({ description: 'The name of the agent.' }),
      source: z.string().openapi({ description: 'The name of the webhook in the configuration.' }),
    }),
    body: {
      description: 'At most 256 KiB.',
      content: { 'application/json': { schema: z.unknown() } },
    },
  },
  responses: {
    202: { description: 'It is stored.', content: { 'application/json': { schema: accepted } } },
    ...problems(400, 401, 404, 413, 415, 429, 503),
  },
})

export function register(app: HttpApp, home: HomePort, ports: WebhookPorts): void {
  // The router's own checks would parse the body before its signature is looked at.
  app.openAPIRegistry.registerPath(route)
  app.post(route.getRoutingPath(), async (c) => {
    const { agent, source: name } = c.req.param()
    const webhook = await ports.find(name)
    if (webhook === null) return nothingHere()
    const { config, secrets, also_from } = webhook
    const body = c.get('body')
    const { headers } = c.req.raw
    const now_ms = ports.now_ms()
    const verified = verifyWebhook(config.scheme, { headers, body, secrets, now_ms })
    if (!verified.ok) {
      ports.on_refused?.(name, agent, verified.code, verified.message)
      return refuse({
        code: 'signature_invalid',
        message: 'The delivery is not signed as it must.',
      })
    }
    c.env?.proved?.()
    // Only who can sign learns which agents there are.
    if (!(await isReachable(home, config, agent))) return nothingHere()
    const degraded = degradedRefusal(home)
    if (degraded !== null) return degraded
    const content_type = c.req.header('content-type') ?? null
    if (!isJsonType(content_type)) {
      const message = 'A webhook is application/json.'
      return refuse({ code: 'unsupported_media_type', message })
    }
    const text = utf8(body)
    const json = parseJson(body)
    if (text === null || (!json.ok && json.code === 'too_deep')) {
      const message = 'The body is not JSON that can be read.'
      return refuse({ code: json.ok ? 'not_json' : json.code, message })
    }
    const mapped = mapDelivery(
      { name, ...config },
      { json: json.ok ? json.value : undefined, headers },
    )
    if (!mapped.ok && mapped.code === 'event_ignored') {
      return c.json({ message_id: null, delivery_id: null, duplicate: false }, 202)
    }
    const incoming = {
      agent_id: agent,
      via: { kind: 'webhook' as const, webhook: name },
      sender_id: verified.id,
      ...(also_from.length === 0 ? {} : { also_from: [...also_from] }),
      body: text,
    }
    if (!mapped.ok) {
      const source = config.source ?? name
      const reason = mapped.message
      const more = given({ source, content_type })
      return take(c, home, { do: 'dead_letter', reason, ...incoming, ...more })
    }
    const { source, resource, summary } = mapped
    const more = given({ source, resource, summary, content_type })
    return take(c, home, { do: 'deliver', ...incoming, ...more })
  })
}

/** Public, alive, and not left out by the configuration. */
async function isReachable(home: HomePort, { agents }: WebhookConfig, id: string) {
  if (agents !== undefined && !agents.includes(id)) return false
  const agent = await home.reads.row('agents', id)
  return agent !== null && agent.visibility === 'public' && agent.state !== 'deleted'
}

const isJsonType = (type: string | null): boolean =>
  /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type ?? '')
