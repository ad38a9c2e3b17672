/**
 * The one HTTP application of a home: the gate, every resource, and problem documents for all else.
 * It is built from ports and holds no state of the home, so tests ask it in memory.
 *
 * A resource is a file with `register`; its routes are `createRoute` definitions whose schemas come
 * from `protocol`, and the list of resources stands in `resources.ts`.
 */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { HttpApp, HttpEnv } from './request/app-env.ts'
import * as callbacks from './inbound/callbacks.ts'
import { gate } from './gate/gate.ts'
import { securityHeaders } from './request/security-headers.ts'
import * as health from './resources/health.ts'
import * as openapi from './openapi.ts'
import * as operator from './resources/operator.ts'
import type { GatePorts, HomePort } from './request/ports.ts'
import { errorHandler, invalidRequest, refuse } from './request/problem.ts'
import { resources } from './resources.ts'
import * as stream from './stream/stream.ts'
import { StreamDesk } from './stream/stream-registry.ts'
import * as webhooks from './inbound/webhooks.ts'

/** One request that was answered; `route` is its pattern, for a path may hold a capability. */
export type AccessLogEntry = { method: string; route: string; status: number; ms: number }

export type HttpOptions = {
  /** The version of the program, as the document names it. */
  version: string
  webhooks: webhooks.WebhookPorts
  /** Told of every answer; must not throw. For a stream that is when it begins. */
  on_answer?: (answered: AccessLogEntry) => void
  /** Told what a client is not: errors that came out of a route. `request` is `METHOD pattern`. */
  on_error: (error: unknown, request: string) => void
}

export type Application = {
  fetch: HttpApp['fetch']
  /** For tests, in memory. */
  request: HttpApp['request']
  app: HttpApp
  /** Event streams that are open now. */
  streams(): number
  /** Ends every open stream; those that come later are refused. */
  close(): void
}

export function buildApp(home: HomePort, gatePorts: GatePorts, options: HttpOptions): Application {
  const app: HttpApp = new OpenAPIHono<HttpEnv>({
    defaultHook: (result) =>
      result.success ? undefined : invalidRequest(result.error, result.target),
  })
  const desk = new StreamDesk(home, (error) => options.on_error(error, 'GET /events'))
  app.use('*', hardened(gatePorts, options))
  app.use('*', gate(gatePorts, home))
  health.register(app, home)
  stream.register(app, home, desk)
  callbacks.register(app, home)
  webhooks.register(app, home, options.webhooks)
  for (const register of resources) register(app, home)
  operator.register(app, home)
  openapi.register(app, options.version)
  app.onError(errorHandler(options.on_error))
  app.notFound((c) => nowhere(app, c))
  return {
    app,
    fetch: app.fetch,
    request: app.request,
    streams: () => desk.size,
    close: () => desk.close(),
  }
}

/** The outermost layer: headers on every answer, and word of it. */
function hardened({ clock }: GatePorts, { on_answer }: HttpOptions): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const from = clock.monotonic()
    const route = routeOf(c)
    c.set('route', route)
    await next()
    for (const [name, value] of Object.entries(securityHeaders)) c.res.headers.set(name, value)
    on_answer?.({
      method: c.req.method,
      route,
      status: c.res.status,
      ms: clock.monotonic() - from,
    })
  }
}

/** The pattern of the route that answers, or `?` where there is none. */
const routeOf = (c: Context<HttpEnv>): string =>
  matchedRoutes(c).findLast(({ method }) => method !== 'ALL')?.path ?? '?'

/** 405 where the path exists with other methods, else 404; both only for who may look. */
function nowhere(app: HttpApp, c: Context<HttpEnv>) {
  const others = app.routes
    .filter(({ method, path }) => method !== 'ALL' && patternOf(path).test(c.req.path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const allow = [...new Set(others)]
  if (allow.length === 0) {
    return refuse({ code: 'not_found', message: 'There is nothing here.' })
  }
  const message = `This route takes ${allow.join(', ')}.`
  return refuse({ code: 'method_not_allowed', message }, { allow: allow.join(', ') })
}

const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`)
