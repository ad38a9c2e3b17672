/**
 * Search over everything that was done and written in the home (docs/spec/http.md). The best come
 * first; there is no next page: a search that finds too much wants another word.
 */
import { createRoute } from '@hono/zod-openapi'
import { z } from 'zod'
import {
  limits,
  memoryKinds,
  searchAnswer,
  searchAnswerOf,
} from '../../protocol/records/search-record.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import type { HomePort } from '../request/ports.ts'
import { problems, refuse } from '../request/problem.ts'
import { queryOf, wordsOf } from '../request/query.ts'

/** Results when nobody says how many. */
const usual = 20

const search = createRoute({
  method: 'get',
  path: '/search',
  tags: ['history'],
  summary: 'Records that have these words, the best first',
  request: {
    query: queryOf({
      q: z
        .string()
        .min(1)
        .max(limits.search_query.value)
        .meta({ description: 'Words, "phrases" and prefix*; all of them must be there.' }),
      agent: z.string().max(64).optional(),
      kind: wordsOf(memoryKinds).optional(),
      limit: z
        .string()
        .regex(/^[1-9]\d{0,5}$/, 'is not a whole number from 1 on')
        .transform(Number)
        .pipe(z.number().max(limits.search_results.value))
        .default(usual)
        .meta({
          type: 'integer',
          minimum: 1,
          maximum: limits.search_results.value,
          default: usual,
        }),
    }),
  },
  responses: { 200: answerOf('What was found.', searchAnswer), ...problems(400, 404, 422) },
})

export function register(app: HttpApp, home: HomePort): void {
  app.openapi(search, async (c) => {
    const { q, agent = null, kind = null, limit } = c.req.valid('query')
    const found = await home.search({ query: q, agent_id: agent, kinds: kind, limit })
    return found.ok ? c.json(searchAnswerOf(q, found.answer), 200) : refuse(found)
  })
}
