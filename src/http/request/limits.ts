/**
 * Limits of the HTTP surface: name, number, unit, reason. They hold for loopback too, for a program
 * of the same user gone astray is as busy as a stranger (docs/spec/http.md#who-comes-in,
 * docs/spec/http.md#limits-of-strangers).
 */
import type { Limit } from '../../domain/limits.ts'

const limit = (name: string, value: number, unit: string, reason: string): Limit => ({
  name,
  value,
  unit,
  reason,
})

const kib = 1_024

export const httpLimits = {
  api_body: limit('api_body', 1_024 * kib, 'bytes', 'the largest plan and texts fit many times'),
  import_body: limit(
    'import_body',
    9 * kib * kib,
    'bytes',
    'images of a message, as base64; an export',
  ),
  ingress_body: limit('ingress_body', 256 * kib, 'bytes', 'a signal, not an upload'),
  json_depth: limit('json_depth', 64, 'levels', 'no honest body is deeper; parsers recurse'),
  json_values: limit(
    'json_values',
    20_000,
    'values',
    'a long todo list fits ten times; each is judged',
  ),
  body_deadline: limit('body_deadline', 10_000, 'ms', 'for a whole body to arrive'),
  idempotency_key: limit('idempotency_key', 255, 'characters', 'a name, not a document'),
  page: limit('page', 500, 'entries', 'of one page of a list'),
  page_default: limit('page_default', 100, 'entries', 'of a page when nothing is asked for'),
  streams: limit('streams', 64, 'streams', 'open at a time, each holds a connection'),
  stream_buffer: limit('stream_buffer', 256 * kib, 'bytes', 'ready for a client that is slow'),
  stream_page: limit('stream_page', 200, 'events', 'read from the ledger at a time'),
  heartbeat: limit(
    'heartbeat',
    5_000,
    'ms',
    'who follows sees in three of them that nobody answers',
  ),
  live_pause: limit('live_pause', 100, 'ms', 'between two frames of what a model says'),
  reconnect: limit('reconnect', 1_000, 'ms', 'before a client opens its stream again'),
  connections: limit('connections', 512, 'connections', 'open at a time'),
  unproven: limit('unproven', 64, 'connections', 'of whom no token and no signature was valid yet'),
  request_timeout: limit('request_timeout', 30_000, 'ms', 'for headers and body to arrive'),
  headers_timeout: limit('headers_timeout', 5_000, 'ms', 'for the headers to arrive'),
  header_bytes: limit('header_bytes', 16 * kib, 'bytes', 'of all headers and the address'),
  headers: limit('headers', 100, 'headers', 'of one request'),
  port_patience: limit('port_patience', 5_000, 'ms', 'for what a killed daemon left to end'),
  port_pause: limit('port_pause', 20, 'ms', 'between two tries at a port: no event tells of it'),
  close_grace: limit('close_grace', 2_000, 'ms', 'for answers under way when the server closes'),
} as const satisfies Record<string, Limit>

/** A bucket holds `burst` and gets `per_second` back. */
export type Rate = { burst: number; per_second: number; reason: string }

/** By route class; each capability, or where there is none each peer, has its own bucket. */
export const rates = {
  read: { burst: 5_000, per_second: 1_000, reason: 'screens of several clients that poll' },
  write: { burst: 2_000, per_second: 300, reason: 'scripts that load many items' },
  callback: { burst: 1_000, per_second: 100, reason: 'a busy sender of one trigger' },
  webhook: { burst: 1_000, per_second: 100, reason: 'a busy sender of one webhook' },
  /** Per peer: looking up is cheap, a flood of it is not. */
  unknown_trigger: { burst: 20, per_second: 1, reason: 'old URLs that are still called' },
  probe: { burst: 100, per_second: 20, reason: 'health checks' },
} as const satisfies Record<string, Rate>
export type RateClass = keyof typeof rates

/** Wrong control tokens of one peer in a minute, and for how long it is then locked out. */
export const lockout = { failures: 10, window_ms: 60_000, lock_ms: 60_000 } as const

/** Peers and capabilities remembered at a time; the longest unused are forgotten first. */
export const rememberedKeys = 10_000
