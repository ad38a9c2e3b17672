/**
 * The limits of talking to a provider: name, number, unit, reason. The limits that rules know
 * about are in domain/limits.ts.
 */
import type { Limit } from '../domain/limits.ts'

const limit = (name: string, value: number, unit: string, reason: string): Limit => ({
  name,
  value,
  unit,
  reason,
})

export const modelLimits = {
  first_event: limit(
    'first_event',
    600_000,
    'ms',
    'until an answer begins: models were seen to think for five minutes before their first word',
  ),
  first_event_local: limit(
    'first_event_local',
    1_800_000,
    'ms',
    'the same on this machine, where a server may read a long prompt for that long',
  ),
  stream_idle: limit('stream_idle', 120_000, 'ms', 'with fewer tokens than these a stream is hung'),
  slow_tokens: limit('slow_tokens', 20, 'tokens', 'in the idle time; fewer is no work'),
  request_time: limit('request_time', 3_600_000, 'ms', 'of one request, whatever it sends'),
  thinking_idle: limit(
    'thinking_idle',
    600_000,
    'ms',
    'without an event in a thought or a call, of which providers may show only pings',
  ),
  foreign_output: limit(
    'foreign_output',
    32_000,
    'tokens',
    'of one answer of a model unknown to us that speaks Messages, where a number has to be said',
  ),
  round: limit('round', 8_000_000, 'characters', 'a runaway stream must not fill memory'),
  retry: limit('retry', 4, 'requests', 'for one round, the first included'),
  backoff_base: limit('backoff_base', 1_000, 'ms', 'the first back-off is drawn below this'),
  backoff_cap: limit('backoff_cap', 20_000, 'ms', 'longer is a hold, which survives a restart'),
  retry_after: limit('retry_after', 60_000, 'ms', 'a longer one is handed to the runtime'),
  longest_wait: limit(
    'longest_wait',
    2_678_400_000,
    'ms',
    '31 days: a provider that says longer, or nonsense, is asked again then',
  ),
  retry_spread: limit(
    'retry_spread',
    250,
    'ms',
    'so that agents told to wait do not return as one',
  ),
  context_window: limit('context_window', 128_000, 'tokens', 'of a model nobody described'),
  frame: limit(
    'frame',
    33_554_432,
    'bytes',
    'of one event of a stream: the last one of Responses repeats a whole round, escaped',
  ),
  reasoning_details: limit(
    'reasoning_details',
    1_000_000,
    'characters',
    'of the thoughts of one answer that a router wants back: the record keeps them, and each ' +
      'request of the turn sends them; with more the answer goes back without them',
  ),
  part: limit('part', 64, 'characters', 'that a part of a round counts for besides its text'),
  counted_tokens: limit(
    'counted_tokens',
    100_000_000,
    'tokens',
    'that a provider may say of one answer; more is no count, and sums of counts stay whole',
  ),
  told_usd: limit('told_usd', 100_000, 'US dollars', 'the same of what an answer cost'),
  error_body: limit('error_body', 262_144, 'bytes', 'read of an error answer; more is never shown'),
  provider_words: limit('provider_words', 300, 'characters', 'of the provider, quoted in a fault'),
  acp_attempts: limit(
    'acp_attempts',
    6,
    'attempts',
    'of one request by an agent of another maker whose process keeps ending',
  ),
  sockets: limit('sockets', 64, 'connections', 'per provider host: 16 agents, with room'),
} as const satisfies Record<string, Limit>
