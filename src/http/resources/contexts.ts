/**
 * What requests were made of: the manifest of each, and the whole text of one
 * (docs/spec/context.md).
 */
import { createRoute, z } from '@hono/zod-openapi'
import {
  contextsOf,
  manifestIn,
  requestText,
  turnContext,
  type RequestContext,
} from '../../protocol/records/context-record.ts'
import type { Rows } from '../../protocol/records/records.ts'
import { answerOf } from '../request/act.ts'
import type { HttpApp } from '../request/app-env.ts'
import { refused, rowNamed } from '../request/named.ts'
import { agentAnd, agentName, idText } from '../request/params.ts'
import type { HomePort } from '../request/ports.ts'
import { problems } from '../request/problem.ts'
import { noQuery } from '../request/query.ts'

const tags = ['history']

const turn = createRoute({
  method: 'get',
  path: '/agents/{agent}/turns/{turn}/context',
  tags,
  summary: 'What each request of a turn was made of, and what broke the prefix of the one before',
  request: { params: agentAnd('turn', 'turn'), query: noQuery },
  responses: { 200: answerOf('The requests in order.', turnContext), ...problems(404, 409, 422) },
})

const number = z
  .string()
  .regex(/^[1-9]\d{0,3}$/, 'is not the number of a request')
  .transform(Number)
  .openapi({ type: 'integer', minimum: 1, description: 'Its number in the turn.', example: 3 })

const one = createRoute({
  method: 'get',
  path: '/agents/{agent}/turns/{turn}/context/{n}',
  tags,
  summary: 'The whole text of one request, as it was sent',
  request: {
    params: z.object({ agent: agentName, turn: idText('turn'), n: number }),
    query: noQuery,
  },
  responses: { 200: answerOf('The request.', requestText), ...problems(404, 409, 422) },
})

export function register(app: HttpApp, home: HomePort): void {
  app.openapi(turn, async (c) => {
    const { agent, turn: text } = c.req.valid('param')
    const found = await rowNamed(home, 'turns', agent, text)
    if (!found.ok) return found.refusal
    const { id } = found.value
    return c.json({ turn_id: id, requests: await requestsOf(home, found.value) }, 200)
  })

  app.openapi(one, async (c) => {
    const { agent, turn: text, n } = c.req.valid('param')
    const found = await rowNamed(home, 'turns', agent, text)
    if (!found.ok) return found.refusal
    const requests = await requestsOf(home, found.value)
    const request = requests.find((each) => each.n === n)
    const parts = request ? await home.request_text(found.value.id, n) : null
    if (!request || parts === null) {
      return refused('not_found', `There is no request ${n} of ${found.value.id}.`).refusal
    }
    return c.json({ request, parts }, 200)
  })
}

async function requestsOf(home: HomePort, row: Rows['turns']): Promise<RequestContext[]> {
  const { reads } = home
  const rounds = (await reads.roundsOfTurn(row.id)).map(({ round }) => round)
  const [first] = rounds
  if (first === undefined) return []
  const earlier = await reads.list('rounds', {
    agent_id: row.agent_id,
    before: first.id,
    limit: 1,
  })
  const before = earlier.at(-1) ?? null
  const opened = before && (await openingOf(home, before))
  const named = [...rounds, ...(opened ? [opened] : [])]
  const openings = new Map<string, ReturnType<typeof manifestIn>>()
  for (const { opening_sha256 } of named) {
    if (opening_sha256 === null || openings.has(opening_sha256)) continue
    openings.set(opening_sha256, manifestIn(await reads.blob(opening_sha256)))
  }
  return contextsOf(rounds, openings, opened)
}

/** A request with the opening it stood on, which an earlier one of its turn names. */
async function openingOf(home: HomePort, round: Rows['rounds']): Promise<Rows['rounds']> {
  const rounds = await home.reads.roundsOfTurn(round.turn_id)
  const opening = rounds.findLast((view) => view.round.opening_sha256 !== null)
  return { ...round, opening_sha256: opening?.round.opening_sha256 ?? null }
}
