/**
 * The typed client: a route by its name in the document, with its parameters, query and body, and
 * the answer as its schema says it.
 *
 *     const holon = new Holon(api)
 *     await holon.ask('POST /agents/{agent}/messages', { agent: 'main', body: { text: 'hello' } })
 */
import type { ApiResult, Api, ApiCall, Query } from './api.ts'
import type { RouteAnswer, RouteInput, Route } from './routes.ts'

/** Creating requests: the server keeps a receipt of each, so they may be sent again. */
const creating: ReadonlySet<Route> = new Set<Route>([
  'POST /agents',
  'POST /agents/{agent}/messages',
  'POST /agents/{agent}/work-items',
  'POST /agents/{agent}/imports',
  'POST /agents/{agent}/tasks',
  'POST /agents/{agent}/tasks/{task}/answer',
  'POST /agents/{agent}/tasks/{task}/input',
  'POST /agents/{agent}/triggers',
  'POST /agents/{agent}/schedules',
  'POST /agents/{agent}/waits/{wait}/answer',
  'POST /agents/{agent}/waits/{wait}/trigger',
  'POST /agents/{agent}/deliveries/{delivery}/redeliver',
])

/** Whether the server keeps a receipt, so that it is carried out once however often it is sent. */
export const isKeyed = (route: Route): boolean => creating.has(route)

export type AskOptions = {
  /** Of a creating request, to repeat it later; minted when there is none. */
  idempotency_key?: string
  /** Milliseconds to wait for the answer, where a route takes its time. */
  patience_ms?: number
  signal?: AbortSignal
}

export class Holon {
  readonly #api: Api

  constructor(api: Api) {
    this.#api = api
  }

  /** Contract: as `Api.call`; it rejects only for a bug, such as a parameter that is missing. */
  ask<R extends Route>(
    route: R,
    given: RouteInput<R>,
    options: AskOptions = {},
  ): Promise<ApiResult<RouteAnswer<R>>> {
    const { body, query, ...params } = given as Loose
    const [method = '', pattern = ''] = route.split(' ')
    const call: ApiCall = {
      method: method as ApiCall['method'],
      path: pathOf(pattern, params as Record<string, string>),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
      ...(options.patience_ms === undefined ? {} : { patience_ms: options.patience_ms }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    }
    const { idempotency_key } = options
    if (idempotency_key !== undefined) return this.#api.call({ ...call, idempotency_key })
    return creating.has(route) ? this.#api.create(call) : this.#api.call(call)
  }
}

type Loose = { body?: unknown; query?: Query } & Record<string, unknown>

function pathOf(pattern: string, params: Readonly<Record<string, string>>): string {
  return pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    if (value === undefined || value === '') throw new Error(`${pattern} needs ${name}`)
    return encodeURIComponent(value)
  })
}
