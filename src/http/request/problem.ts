/**
 * Refusals as answers: problem documents with their media type, and the one place where whatever a
 * route throws becomes one. Nothing of an unexpected error leaves the process but its being one.
 */
import type { Context, ErrorHandler, TypedResponse } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ZodError } from 'zod'
import { problemOf, type Problem } from '../../protocol/problem.ts'
import { problemSchema } from '../../protocol/problem-schema.ts'
import { isShort } from '../../protocol/shortage.ts'
import type { HttpEnv } from './app-env.ts'

export const problemType = 'application/problem+json'

/** Every status a problem may have. */
type ProblemStatus =
  | (400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 421 | 422 | 429)
  | (500 | 503 | 507)

/** What a route's handler may return instead of its result. */
export type Refusal = Response & TypedResponse<Problem, ProblemStatus, 'json'>

/** As an answer of its own, where there is no context of a request. */
export function problemResponse(problem: Problem, headers: Record<string, string> = {}): Refusal {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': problemType, ...headers },
  }) as Refusal
}

/**
 * The answer to a rejection of the rules, or to a code of the HTTP surface. Status and hint come
 * from the catalogue; a `hint` given wins. A status of 429 or 503 always says when to come back.
 */
export function refuse(
  rejection: { code: string; message: string; hint?: string },
  headers: Record<string, string> = {},
): Refusal {
  const problem = problemOf(rejection.code, rejection.message, rejection.hint ?? null)
  const retry =
    (problem.status === 429 || problem.status === 503) && !('retry-after' in headers)
      ? { 'retry-after': '5' }
      : {}
  return problemResponse(problem, { ...retry, ...headers })
}

/**
 * The documented refusals of a route, for `createRoute`'s `responses`. The statuses named stand in
 * the document beside those that any route has; types only see that there may be a refusal.
 */
export function problems(...statuses: readonly ProblemStatus[]): {
  default: typeof problemContent
} {
  const named = Object.fromEntries(statuses.map((status) => [status, problemContent]))
  return { ...named, default: problemContent }
}

const problemContent = {
  description: 'Refused: the problem document says why, and what to do.',
  content: { [problemType]: { schema: problemSchema } },
} as const satisfies object

/** A request that does not fit the schema of its route: 422, each field by name. */
export function invalidRequest(error: ZodError, target: string): Refusal {
  const errors = error.issues.slice(0, 20).map(({ path, message }) => ({
    field: [target === 'json' ? 'body' : target, ...path.map(String)].join('.'),
    message,
  }))
  const [first] = errors
  const detail = first === undefined ? 'It does not fit.' : `${first.field}: ${first.message}`
  return problemResponse({ ...problemOf('invalid_request', detail), errors })
}

/** Faults of the ports say by themselves whether to come again. */
type Fault = Error & { retry: 'now' | 'later' | 'never'; code: string }

const isFault = (error: unknown): error is Fault =>
  error instanceof Error &&
  'retry' in error &&
  'code' in error &&
  typeof error.code === 'string' &&
  ['now', 'later', 'never'].includes(String(error.retry))

const unusable = (): Refusal =>
  refuse({ code: 'degraded', message: 'The home cannot be used now.' }, { 'retry-after': '30' })

/** What a thrown error is to the client. The text of an unexpected one stays inside. */
export function problemOfError(error: unknown): Refusal {
  if (error instanceof HTTPException) {
    if (error.status === 415) {
      return refuse({
        code: 'unsupported_media_type',
        message: 'The body is not JSON by its type.',
      })
    }
    return refuse({ code: 'not_json', message: 'The body is not JSON.' })
  }
  if (isFault(error)) {
    if (['disk_full', 'read_only', 'scarce'].includes(error.code)) return unusable()
    return refuse({ code: 'fault', message: `The home could not be used (${error.code}).` })
  }
  // A part of the daemon that is loaded when it is needed could not be opened.
  if (isShort(error)) return unusable()
  return refuse({ code: 'internal', message: 'The request failed inside the daemon.' })
}

/** Hono's last resort, which tells `onError` what the client is not told. */
export const errorHandler =
  (onError: (error: unknown, request: string) => void): ErrorHandler<HttpEnv> =>
  (error, c) => {
    if (!(error instanceof HTTPException)) onError(error, describe(c))
    return problemOfError(error)
  }

/** Method and route pattern: never the path, which may hold a capability. */
const describe = (c: Context<HttpEnv>): string => `${c.req.method} ${c.get('route')}`
