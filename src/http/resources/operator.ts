/**
 * `POST /operator`: an act of the operator as the rules name it, for the command line of the same
 * version. It is no part of the documented API, whose routes say the same per resource.
 */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { operatorCommand } from '../../protocol/acts/operator.ts'
import { problemOf } from '../../protocol/problem.ts'
import type { HttpApp } from '../request/app-env.ts'
import type { HomePort } from '../request/ports.ts'
import { invalidRequest, refuse } from '../request/problem.ts'

/** A refused act is answered with the reply itself, under the status of its code. */
export function register(app: HttpApp, home: HomePort): void {
  app.post('/operator', async (c) => {
    const type = c.req.header('content-type')
    if (type === undefined) {
      return refuse({ code: 'unsupported_media_type', message: 'An act is application/json.' })
    }
    let body: unknown
    try {
      body = await c.req.json()
    } catch {
      return refuse({ code: 'not_json', message: 'The body is not JSON.' })
    }
    const command = operatorCommand.safeParse(body)
    if (!command.success) return invalidRequest(command.error, 'json')
    const reply = await home.act(command.data)
    const status = reply.ok ? 200 : problemOf(reply.code, reply.message).status
    return c.json(reply, status as ContentfulStatusCode)
  })
}
