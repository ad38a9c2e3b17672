/**
 * Whether the process lives, whether the home is ready, and its metrics. The first two need no
 * token and say nothing but that; ready means that recovery is done and writes are taken.
 */
import { createRoute, z } from '@hono/zod-openapi'
import type { HttpApp } from '../request/app-env.ts'
import type { HomePort } from '../request/ports.ts'
import { problems, refuse } from '../request/problem.ts'

const alive = z.strictObject({ ok: z.literal(true) }).openapi('Alive')
/** As the standby says it in the daemon's place. */
const silent = z
  .strictObject({
    ok: z.literal(true),
    silent_ms: z.int().min(0).describe('For how long the daemon itself has not answered.'),
  })
  .openapi('Silent')

const healthz = createRoute({
  method: 'get',
  path: '/healthz',
  tags: ['health'],
  summary: 'The process lives',
  security: [],
  responses: {
    200: {
      description: 'It does. With `silent_ms`, another process says so: most often its disk hangs.',
      content: { 'application/json': { schema: z.union([alive, silent]) } },
    },
    ...problems(429),
  },
})

const readyz = createRoute({
  method: 'get',
  path: '/readyz',
  tags: ['health'],
  summary: 'The home is recovered and takes writes',
  security: [],
  responses: {
    200: { description: 'It does.', content: { 'application/json': { schema: alive } } },
    ...problems(429, 503),
  },
})

const metrics = createRoute({
  method: 'get',
  path: '/metrics',
  tags: ['health'],
  summary: 'Metrics for Prometheus',
  responses: {
    200: {
      description: "Prometheus' text format.",
      content: { 'text/plain; version=0.0.4; charset=utf-8': { schema: z.string() } },
    },
    ...problems(),
  },
})

export function register(app: HttpApp, home: HomePort): void {
  app.openapi(healthz, (c) => c.json({ ok: true as const }, 200))

  app.openapi(readyz, (c) => {
    if (!home.ready()) {
      return refuse({ code: 'not_ready', message: 'The home is still being recovered.' })
    }
    const degraded = home.degraded()
    if (degraded !== null) return refuseDegraded(degraded)
    return c.json({ ok: true as const }, 200)
  })

  app.openapi(metrics, async (c) =>
    c.text(await home.metrics(), 200, {
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    }),
  )
}

/** 503 for what would write while nothing can be stored. */
export const refuseDegraded = ({
  message,
  retry_after_s,
}: {
  message: string
  retry_after_s: number
}) => refuse({ code: 'degraded', message }, { 'retry-after': String(retry_after_s) })
