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
  stream_idle: limit('stream_idle', 120_000, 'ms', 'without a meaningful event a stream is hung'),
  thinking_idle: limit(
    'thinking_idle',
    600_000,
    'ms',
    'the same inside a thought: providers think for minutes and send only pings',
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
  part: limit('part', 64, 'characters', 'that a part of a round counts for besides its text'),
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
