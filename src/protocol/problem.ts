/**
 * Problem documents (RFC 9457): how every refusal and failure crosses a wire or a pipe. `type` is
 * stable and ends in the code; `detail` is one sentence, `hint` what to do about it. Every code has
 * a page in `docs/reference/problems`. Whatever fails comes by here, so no schema is loaded: that
 * is in `problem-schema.ts`.
 */
import { rejections } from '../domain/rejection.ts'

export type Problem = {
  /** Stable: `urn:holon:problem:<code>`. */
  type: string
  title: string
  status: number
  /** What the type ends in; programs decide by it. */
  code: string
  detail: string
  hint: string | null
  /** Each field that does not fit the schema. */
  errors?: { field: string; message: string }[] | undefined
  /** Where to start anew, when events are gone. */
  snapshot?: string | undefined
}

/** What only the HTTP surface says, with the status and what to do about it. */
export const httpProblems = {
  bad_request: { status: 400, hint: 'Send a well-formed HTTP/1.1 request.' },
  not_json: { status: 400, hint: 'Send one JSON value in UTF-8.' },
  too_deep: { status: 400, hint: 'Nest objects and arrays at most 64 deep.' },
  invalid_cursor: { status: 400, hint: 'Use a cursor of an earlier page, unchanged.' },
  invalid_idempotency_key: { status: 400, hint: 'Use 1 to 255 visible ASCII characters.' },
  unauthorized: {
    status: 401,
    hint: 'Send `Authorization: Bearer <token>` with the control token of the home.',
  },
  signature_invalid: { status: 401, hint: 'Sign the raw body with the secret of this webhook.' },
  foreign_origin: { status: 403, hint: 'Web pages of other origins are not served.' },
  not_found: { status: 404, hint: '`GET /openapi.json` lists every route.' },
  ambiguous_id: { status: 409, hint: 'Write more characters of the id.' },
  method_not_allowed: { status: 405, hint: 'Use a method that the `allow` header names.' },
  body_timeout: { status: 408, hint: 'Send the whole body within 10 seconds.' },
  upkeep_running: { status: 409, hint: 'Wait until it is done; one runs at a time.' },
  backup_failed: { status: 409, hint: 'Name another folder, or make this one writable.' },
  events_gone: { status: 410, hint: 'Read `GET /state`, then follow from its `last_seq`.' },
  too_large: { status: 413, hint: 'Send a smaller body.' },
  unsupported_media_type: { status: 415, hint: 'Send `content-type: application/json`.' },
  wrong_host: { status: 421, hint: 'Use 127.0.0.1 or localhost, or add the name to `http.hosts`.' },
  headers_too_large: { status: 431, hint: 'Send fewer or shorter headers.' },
  invalid_request: { status: 422, hint: '`GET /openapi.json` has the schema of this request.' },
  horizon_invalid: { status: 422, hint: 'Give `before` or `keep_days`, one of the two.' },
  path_invalid: { status: 422, hint: 'Name a folder outside the home by its absolute path.' },
  rate_limited: { status: 429, hint: 'Wait as long as `retry-after` says.' },
  locked_out: { status: 429, hint: 'Too many wrong tokens: wait as long as `retry-after` says.' },
  internal: { status: 500, hint: 'The log of the daemon says what happened; it may be a bug.' },
  fault: { status: 503, hint: 'Try again; the log of the daemon says what failed.' },
  not_ready: { status: 503, hint: 'The home is being recovered: try again shortly.' },
  degraded: { status: 503, hint: 'Nothing can be stored now; reads go on.' },
  unresponsive: { status: 503, hint: 'Look at its disk; it goes on by itself when that answers.' },
  too_many_streams: { status: 503, hint: 'Close a stream that nobody reads.' },
} as const satisfies Record<string, { status: number; hint: string }>

export type HttpProblemCode = keyof typeof httpProblems

/** Every code that has a status and a hint of its own. */
export const problemCatalogue: Readonly<Record<string, { status: number; hint: string }>> = {
  ...rejections,
  ...httpProblems,
}

/** Status and hint come from the catalogue where the code is in it. */
export function problemOf(
  code: string,
  detail: string,
  hint: string | null = null,
  status?: number,
): Problem {
  const known = Object.hasOwn(problemCatalogue, code) ? problemCatalogue[code] : undefined
  return {
    type: `urn:holon:problem:${code}`,
    title: code.replaceAll('_', ' '),
    status: status ?? known?.status ?? 500,
    code,
    detail,
    hint: hint ?? known?.hint ?? null,
  }
}
