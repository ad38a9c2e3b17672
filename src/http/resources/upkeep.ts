/**
 * Upkeep while the home is served: retention and backup, for the holder of the control token. Both
 * answer when they are done; a client that goes away ends neither.
 */
import { createRoute } from '@hono/zod-openapi'
import { backup, horizonOf, newBackup, newRetention, retention } from '../../protocol/upkeep.ts'
import { answerOf, bodyOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { refuseDegraded } from './health.ts'
import type { HomePort } from '../request/ports.ts'
import { problems, refuse } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'

const tags = ['upkeep']

const retain = createRoute({
  method: 'post',
  path: '/upkeep/retention',
  tags,
  summary: 'Let go of what ended before a time',
  request: { query: noQuery, ...bodyOf(newRetention) },
  responses: { 200: answerOf('What went, or would go.', retention), ...problems(409, 422, 503) },
})

const copy = createRoute({
  method: 'post',
  path: '/upkeep/backup',
  tags,
  summary: 'Copy the home as it is, into a folder of this machine',
  request: { query: noQuery, ...bodyOf(newBackup) },
  responses: { 200: answerOf('The backup is whole.', backup), ...problems(409, 422, 503) },
})

export function register(app: HttpApp, home: HomePort): void {
  app.openapi(retain, async (c) => {
    const { dry_run, ...asked } = c.req.valid('json')
    const degraded = home.degraded()
    if (degraded !== null && !dry_run) return refuseDegraded(degraded)
    const { keep_days } = home.upkeep
    const before = horizonOf(asked, keep_days, home.now())
    if (!before.ok) return refuse(before)
    const done = await home.upkeep.retain({ before: before.value, dry_run })
    return done.ok ? c.json(done.value, 200) : refuse(done)
  })

  app.openapi(copy, async (c) => {
    const { to, with_secrets = false } = c.req.valid('json')
    const done = await home.upkeep.backup({ to, with_secrets })
    return done.ok ? c.json(done.value, 200) : refuse(done)
  })
}
