/**
 * What went wrong, in our four words (contracts 6, Provider errors). Reads the provider library's
 * errors, HTTP answers and errors inside a stream, and says: whose fault, which code, whether to
 * try again and when. Pure; never quotes a key.
 */
import { APICallError } from '@ai-sdk/provider'
import { modelLimits } from './limits.ts'
import type { ModelFault, ModelFaultCode } from './model.ts'
import { retryAfterMs } from './retry-after.ts'

export type FaultContext = {
  /** Who failed, as the person knows it: the provider's id. */
  provider: string
  /** Milliseconds since the epoch, for dates in `retry-after`. */
  now: number
  /** Values that must not be quoted. */
  secrets: readonly string[]
}

/** What can be read off an error, whatever its class. */
type Signs = {
  status: number | null
  /** The provider's own `code` and `type` values, lower case, in one string. */
  names: string
  words: string
  headers: Readonly<Record<string, string>>
  body: string | null
  /** No answer arrived, or it broke off. */
  broken: 'before' | 'within' | null
}

type Class = Pick<ModelFault, 'kind' | 'code' | 'retryable'>

export function faultOf(error: unknown, context: FaultContext): ModelFault {
  const signs = signsOf(error)
  const found = classOf(signs)
  return {
    ...found,
    message: sentence(found.code, signs, context),
    status: signs.status,
    retry_after_ms: found.kind === 'world' ? retryAfterMs(signs, context.now) : null,
  }
}

export function streamBroken(why: string, context: FaultContext): ModelFault {
  return plain('stream_broken', true, `${context.provider}: ${why}.`)
}

export function streamHung(idleMs: number, context: FaultContext): ModelFault {
  const seconds = Math.round(idleMs / 1000)
  return plain('stream_hung', true, `${context.provider} sent nothing for ${seconds} seconds.`)
}

export function tooMuchOutput(limit: number, context: FaultContext): ModelFault {
  const message = `${context.provider} sent more than ${limit} characters in one answer.`
  return plain('too_much_output', false, message)
}

export function aborted(): ModelFault {
  return { ...plain('aborted', false, 'The request was aborted.'), kind: 'aborted' }
}

const plain = (code: ModelFaultCode, retryable: boolean, message: string): ModelFault => ({
  kind: 'world',
  code,
  message,
  status: null,
  retry_after_ms: null,
  retryable,
})

const world = (code: ModelFaultCode, retryable = true): Class => ({
  kind: 'world',
  code,
  retryable,
})
const setup = (code: ModelFaultCode): Class => ({ kind: 'setup', code, retryable: false })
const refused = (code: ModelFaultCode): Class => ({ kind: 'refused', code, retryable: false })

/** Flat, first match wins. */
function classOf(signs: Signs): Class {
  const { status, names, words, broken } = signs
  const says = (pattern: RegExp): boolean => pattern.test(names) || pattern.test(words)

  if (broken === 'before') return world('network')
  if (broken === 'within') return world('stream_broken')
  if (/insufficient_quota|billing|credit|spend_limit/.test(names)) return world('quota', false)
  if (status === 402) return world('quota', false)
  if ((status === 400 || status === 429) && quotaWords.test(words)) return world('quota', false)
  if (status === 408 || status === 425) return world('timeout')
  if (status === 409) return world('conflict')
  if (status === 429) return world('rate_limited')
  if (status === 503 || status === 529 || /overload/.test(names)) return world('overloaded')
  if (status !== null && (status >= 500 || status === 499)) return world('server_error')
  if (status === 401 || status === 403) return setup('unauthorized')
  if (status === 404) return setup('unknown_model')
  if (status !== null && status >= 300 && status < 400) return setup('redirected')
  if (status === 413 || says(lengthWords)) return refused('context_length')
  if (says(policyWords)) return refused('policy')
  if (status !== null && status >= 400) return refused('bad_request')
  // An error without a status came inside a stream whose names say nothing: the stream failed.
  return world('stream_broken')
}

const quotaWords = /credit balance|quota|billing|spend(ing)? limit|usage limit/i
const lengthWords =
  /context_length|context length|context window|prompt is too long|too many tokens/i
const policyWords = /content_policy|content_filter|content policy|safety|moderation|usage polic/i

function signsOf(error: unknown): Signs {
  if (APICallError.isInstance(error)) return signsOfCall(error)
  // The library itself will not send this request: for us that is an answer.
  if (error instanceof Error && unsendable.has(error.name)) {
    return { ...noSigns, status: 400, words: error.message }
  }
  const body = recordOf(error)
  if (body === null || error instanceof Error) {
    // Not an answer of the provider at all: bad JSON in a frame, or a stream that broke.
    return { ...noSigns, words: wordsOf(error), broken: networkCode(error) ? 'before' : 'within' }
  }
  const names = namesIn(body)
  const status = statusIn(body) ?? statusFromNames(names)
  return { ...noSigns, status, names, words: wordsOf(body) }
}

const unsendable: ReadonlySet<string> = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
])

function signsOfCall(error: APICallError): Signs {
  const status = error.statusCode ?? null
  const answered = status !== null && status >= 300
  const data = recordOf(error.data) ?? parsed(error.responseBody)
  return {
    status: answered ? status : null,
    names: data === null ? '' : namesIn(data),
    words: error.message,
    headers: error.responseHeaders ?? {},
    body: error.responseBody ?? null,
    broken: answered ? null : status === null ? 'before' : 'within',
  }
}

const noSigns: Signs = { status: null, names: '', words: '', headers: {}, body: null, broken: null }

/** `code`, `type` and `status` of the error and of what it wraps. */
function namesIn(data: Record<string, unknown>): string {
  const found: string[] = []
  for (const layer of layersOf(data)) {
    for (const key of ['code', 'type', 'status']) {
      if (typeof layer[key] === 'string') found.push(layer[key].toLowerCase())
    }
  }
  return found.join(' ')
}

function statusIn(data: Record<string, unknown>): number | null {
  for (const layer of layersOf(data)) {
    for (const key of ['statusCode', 'status', 'code']) {
      const value = layer[key]
      const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
      if (typeof status === 'number' && status >= 400 && status <= 599) return status
    }
  }
  return null
}

function layersOf(data: Record<string, unknown>): Record<string, unknown>[] {
  const inner = recordOf(data['error']) ?? recordOf(data['data'])
  const response = recordOf(data['response'])
  return [data, inner, response && recordOf(response['error'])].filter((layer) => layer !== null)
}

/** Providers that send errors inside a stream often name them instead of numbering them. */
const statusOfName: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|resource_exhausted/, 429],
  [/overload|unavailable/, 529],
  [/authentication|unauthenticated|invalid_api_key/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/timeout|deadline/, 504],
  [/server_error|api_error|internal/, 500],
  [/invalid|bad_request|too_large/, 400],
]

const statusFromNames = (names: string): number | null =>
  statusOfName.find(([pattern]) => pattern.test(names))?.[1] ?? null

function wordsOf(error: unknown): string {
  const record = recordOf(error)
  if (record === null) return typeof error === 'string' ? error : ''
  const inner = recordOf(record['error'])
  const message = record['message'] ?? inner?.['message']
  return typeof message === 'string' ? message : ''
}

function networkCode(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if ('code' in at && typeof at.code === 'string' && /^(E[A-Z]+|UND_|CERT_)/.test(at.code)) {
      return true
    }
    at = at.cause
  }
  return false
}

function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    return recordOf(JSON.parse(text ?? ''))
  } catch {
    return null
  }
}

function recordOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
}

/** What each code says to a person; the provider's words follow, without secrets. */
const says: Readonly<Record<ModelFaultCode, string>> = {
  network: 'could not be reached',
  timeout: 'took too long to answer',
  conflict: 'reported a conflict',
  rate_limited: 'limits the rate of requests',
  overloaded: 'is overloaded',
  server_error: 'failed on its side',
  quota: 'has no credit or quota left for this account',
  stream_broken: 'broke off its answer',
  stream_hung: 'went silent',
  too_much_output: 'sent too much',
  no_key: 'needs a key',
  unauthorized: 'does not accept this key',
  unknown_model: 'knows no such model or address',
  redirected: 'answered with a redirect, which is not followed: check the base URL',
  bad_request: 'refused the request',
  context_length: 'refused the request as too long',
  policy: 'refused the request by its policy',
  aborted: 'was aborted',
}

function sentence(code: ModelFaultCode, signs: Signs, context: FaultContext): string {
  const status = signs.status === null ? '' : ` (${signs.status})`
  const head = `${context.provider} ${says[code]}${status}`
  const words = quotable(signs.words, context.secrets)
  return words === '' ? `${head}.` : `${head}: ${words}`
}

/** One line of the provider's words, cut, with every known or key-like secret taken out. */
function quotable(words: string, secrets: readonly string[]): string {
  let text = words
  for (const secret of secrets) if (secret.length >= 4) text = text.replaceAll(secret, '[key]')
  text = text
    .replace(/\b(sk|pk|rk|xai|gsk|AIza)[-_A-Za-z0-9*]{8,}/g, '[key]')
    .replace(/\bBearer\s+\S+/gi, 'Bearer [key]')
    .replace(/\s+/g, ' ')
    .trim()
  return text.length > modelLimits.provider_words.value
    ? `${text.slice(0, modelLimits.provider_words.value)}…`
    : text
}
