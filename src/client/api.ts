/**
 * The client of the HTTP API, below its resources: one request becomes one answer, which is the
 * value or says why there is none. It adds the token, an `Idempotency-Key` to what creates
 * something, a deadline, and tries again where that can do no harm. It never rejects but for a bug.
 */
import type { Problem } from '../protocol/problem.ts'

/** What of `fetch` is used. Any `fetch` is one, and so is an application called in memory. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>
export type FetchInit = {
  method: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

export type ApiPorts = {
  fetch: Fetch
  clock: { after(ms: number, fn: () => void): () => void }
  /** A fresh key for a creating request: 1 to 255 visible ASCII characters. */
  mint_key(): string
  /** Read for every request, so that a rotated token holds at once. Null: none is sent. */
  token(): Promise<string | null>
}

export type ApiOptions = {
  /** Where the API is, like `http://127.0.0.1:7777`. */
  base_url: string
  /** Milliseconds for one try, from sending to the end of the answer. */
  patience_ms?: number
}

/** Why there is no value. `status` is null when nobody answered. */
export type ApiFailure =
  /** The server said no, in a problem document. */
  | { kind: 'problem'; status: number; problem: Problem; retry_after_ms: number | null }
  /** Nothing listens there, or the connection broke. */
  | { kind: 'unreachable'; status: null; message: string; refused: boolean }
  | { kind: 'timeout'; status: null; after_ms: number }
  /** Something listens that is not this API. */
  | { kind: 'foreign'; status: number; message: string }
  | { kind: 'aborted'; status: null }

export type ApiResult<T> =
  | { ok: true; value: T; status: number }
  | { ok: false; failure: ApiFailure }

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export type ApiCall = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  query?: Query
  body?: unknown
  /** Sent as it stands instead of `body`, with headers of its own. */
  text?: string
  headers?: Readonly<Record<string, string>>
  /** It may be sent again by itself: reads, and what names a key. */
  idempotency_key?: string
  /** Milliseconds for one try of this call; default: those of the client. */
  patience_ms?: number
  signal?: AbortSignal
}

const usualPatience = 15_000
/** Tries of one call in all. */
const tries = 3
/** Milliseconds between two tries when the server names no time, doubled each time. */
const firstPause = 200
/** Milliseconds of a `retry-after` that are waited for; a longer one is told to the caller. */
const longestPause = 10_000

export class Api {
  readonly #ports: ApiPorts
  readonly #base: string
  readonly #patience: number

  constructor(ports: ApiPorts, options: ApiOptions) {
    this.#ports = ports
    this.#base = options.base_url.replace(/\/+$/, '')
    this.#patience = options.patience_ms ?? usualPatience
  }

  get base_url(): string {
    return this.#base
  }

  get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<ApiResult<T>> {
    return this.call<T>({ method: 'GET', path, query, ...(signal ? { signal } : {}) })
  }

  /** A creating request under a fresh key: so it can be sent again when no answer came. */
  create<T>(call: ApiCall): Promise<ApiResult<T>> {
    return this.call<T>({ ...call, idempotency_key: this.#ports.mint_key() })
  }

  /** A body whose very bytes were signed, with the headers that say so. It is sent once. */
  signed<T>(
    path: string,
    text: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<ApiResult<T>> {
    return this.call<T>({ method: 'POST', path, text, headers })
  }

  async call<T>(call: ApiCall): Promise<ApiResult<T>> {
    let unknown: ApiResult<T> | null = null
    for (let pause = firstPause, left = tries - 1; ; pause *= 2, left -= 1) {
      const answer = await this.#once<T>(call)
      if (answer.ok) return answer
      if (call.method !== 'GET' && mayHaveArrived(answer.failure)) unknown = answer
      const wait = left === 0 ? null : pauseBefore(call, answer.failure, pause)
      // A try whose outcome is unknown stays so, until the server has looked for its receipt.
      if (wait === null) return settles(answer.failure) ? answer : (unknown ?? answer)
      if (!(await this.#pause(wait, call.signal))) return aborted
    }
  }

  /** Headers and address of a call, for whoever sends it in another way (see `stream.ts`). */
  async request(call: ApiCall): Promise<{ url: string; headers: Record<string, string> }> {
    const token = await this.#ports.token()
    return {
      url: urlOf(this.#base, call),
      headers: {
        accept: 'application/json, application/problem+json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(bodyOf(call) === undefined ? {} : { 'content-type': 'application/json' }),
        ...(call.idempotency_key === undefined ? {} : { 'idempotency-key': call.idempotency_key }),
        ...call.headers,
      },
    }
  }

  async #once<T>(call: ApiCall): Promise<ApiResult<T>> {
    const deadline = new AbortController()
    const patience = call.patience_ms ?? this.#patience
    const cancel = this.#ports.clock.after(patience, () => deadline.abort())
    const { signal } = call
    const body = bodyOf(call)
    const init: FetchInit = {
      method: call.method,
      headers: {},
      ...(body === undefined ? {} : { body }),
      signal: signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]),
    }
    try {
      const { url, headers } = await this.request(call)
      const response = await this.#ports.fetch(url, { ...init, headers })
      return answerOf<T>(response, await response.text())
    } catch (error) {
      if (signal?.aborted === true) return aborted
      if (deadline.signal.aborted) {
        return { ok: false, failure: { kind: 'timeout', status: null, after_ms: patience } }
      }
      return { ok: false, failure: unreachable(error) }
    } finally {
      cancel()
    }
  }

  /** False when the signal came first. */
  #pause(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    if (signal?.aborted === true) return Promise.resolve(false)
    const onAbort = () => {
      cancel()
      resolve(false)
    }
    const cancel = this.#ports.clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve(true)
    })
    signal?.addEventListener('abort', onAbort, { once: true })
    return promise
  }
}

const aborted = { ok: false, failure: { kind: 'aborted', status: null } } as const

const bodyOf = ({ text, body }: ApiCall): string | undefined =>
  text ?? (body === undefined ? undefined : JSON.stringify(body))

function urlOf(base: string, { path, query = {} }: ApiCall): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length === 0 ? base + path : `${base}${path}?${search.toString()}`
}

/** Milliseconds to wait before another try, or null: this failure is the answer. */
function pauseBefore(call: ApiCall, failure: ApiFailure, pause: number): number | null {
  const mayRepeat = call.method === 'GET' || call.idempotency_key !== undefined
  if (!mayRepeat) return null
  switch (failure.kind) {
    case 'problem': {
      if (failure.status !== 429 && failure.status !== 503) return null
      const wait = failure.retry_after_ms ?? pause
      return wait <= longestPause ? wait : null
    }
    case 'unreachable':
      // Nobody listens: waiting is for whoever knows that somebody is about to.
      return failure.refused ? null : pause
    case 'timeout':
    case 'foreign':
    case 'aborted':
      return null
  }
}

export function answerOf<T>(response: Response, text: string): ApiResult<T> {
  const { status } = response
  if (status === 204) return { ok: true, value: null as T, status }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return foreign(status, `it answered ${status} without JSON`)
  }
  if (status >= 200 && status < 300) return { ok: true, value: body as T, status }
  if (!isProblem(body)) return foreign(status, `it answered ${status} without a problem document`)
  const retry_after_ms = retryAfter(response.headers.get('retry-after'))
  return { ok: false, failure: { kind: 'problem', status, problem: body, retry_after_ms } }
}

const foreign = (status: number, message: string) =>
  ({ ok: false, failure: { kind: 'foreign', status, message } }) as const

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'detail' in body &&
  typeof body.detail === 'string'

/** Only the form this API uses: whole seconds. */
function retryAfter(text: string | null): number | null {
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) * 1_000 : null
}

export function unreachable(error: unknown): ApiFailure {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  const refused = code === 'ECONNREFUSED'
  return { kind: 'unreachable', status: null, message, refused }
}

/** Whether it may have been carried out all the same: it left, and no answer says otherwise. */
export function mayHaveArrived(failure: ApiFailure): boolean {
  switch (failure.kind) {
    case 'problem':
    case 'foreign':
      return failure.status >= 500 ? failure.status === 500 : failure.status < 300
    case 'unreachable':
      return !failure.refused
    case 'timeout':
    case 'aborted':
      return true
  }
}

/** The server decided it: one that is busy, or a standby, has not looked. */
const settles = (failure: ApiFailure): boolean =>
  failure.kind === 'problem' && failure.status !== 429 && failure.status < 500

/** One sentence for a person who wanted something done. */
export const undoneSentence = (failure: ApiFailure): string =>
  mayHaveArrived(failure)
    ? `it may have arrived: ${failureSentence(failure)}`
    : failureSentence(failure)

/** One sentence for a person. */
export function failureSentence(failure: ApiFailure): string {
  switch (failure.kind) {
    case 'problem':
      return failure.problem.detail
    case 'unreachable':
      return failure.refused ? 'nothing listens there' : `the connection failed: ${failure.message}`
    case 'timeout':
      return `no answer within ${failure.after_ms / 1_000} s`
    case 'foreign':
      return failure.message
    case 'aborted':
      return 'it was given up'
  }
}

/** A page of a list: its records under their plural, and the cursor of the next one. */
export type ListPage = { next_cursor?: string | null }

/**
 * Every page of a list, one after the other, until there is no cursor. A failure ends it: it is the
 * last that is yielded.
 */
export async function* pages<T extends ListPage>(
  api: Api,
  path: string,
  query: Query = {},
): AsyncGenerator<ApiResult<T>> {
  for (let cursor: string | undefined; ;) {
    const answer = await api.get<T>(path, cursor === undefined ? query : { ...query, cursor })
    yield answer
    const next = answer.ok ? answer.value.next_cursor : null
    if (next === null || next === undefined) return
    cursor = next
  }
}
