/**
 * What the standby answers in the place of a daemon that is silent: the two probes, and that
 * everything else is not taken now. It knows no token and no row, so there is nothing to let in.
 */
import { problemOf, type Problem } from '../protocol/problem.ts'
import { securityHeaders } from './request/security-headers.ts'

export type StandbyRequest = {
  method: string
  /** As it stands in the request, with its query. */
  target: string
  host: string | undefined
}

export type StandbyAnswer = {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** Seconds after which a client may look again: what blocks a loop is over at any moment. */
const retryAfter = '1'

export function standbyAnswer(
  { method, target, host }: StandbyRequest,
  { silent_ms, own_hosts }: { silent_ms: number; own_hosts: ReadonlySet<string> },
): StandbyAnswer {
  if (host === undefined || !own_hosts.has(host.toLowerCase())) {
    return refusal(problemOf('wrong_host', 'This server answers to its own names only.'))
  }
  const reads = method === 'GET' || method === 'HEAD'
  if (reads && target.replace(/\?.*$/s, '') === '/healthz') {
    return answer(200, 'application/json', { ok: true, silent_ms }, {})
  }
  return refusal(problemOf('unresponsive', unresponsive(silent_ms)), { 'retry-after': retryAfter })
}

const unresponsive = (silent_ms: number): string =>
  `The daemon has not answered for ${Math.floor(silent_ms / 1_000)} s; most often its disk hangs.`

const refusal = (problem: Problem, headers: Record<string, string> = {}): StandbyAnswer =>
  answer(problem.status, 'application/problem+json', problem, headers)

function answer(
  status: number,
  type: string,
  value: object,
  headers: Record<string, string>,
): StandbyAnswer {
  const body = JSON.stringify(value)
  const length = String(Buffer.byteLength(body))
  // No connection stays with the standby: the next request belongs to the daemon.
  const own = { 'content-type': type, 'content-length': length, connection: 'close' }
  return { status, headers: { ...securityHeaders, ...own, ...headers }, body }
}
