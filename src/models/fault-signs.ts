/**
 * What can be read off an error, whoever made it: the provider library, an HTTP answer in any of
 * the shapes that providers and the servers in front of them use, or an error inside a stream.
 * Pure.
 */
import { APICallError } from '@ai-sdk/provider'

export type Signs = {
  status: number | null
  /** The provider's own `code`, `type` and `status` values, lower case, in one string. */
  names: string
  /** What it says to a person. */
  words: string
  /** Names in lower case; a gateway that puts the provider's headers into its body adds them. */
  headers: Readonly<Record<string, string>>
  body: string | null
  /** No answer arrived, or it broke off. */
  broken: 'before' | 'within' | null
}

type Fields = Readonly<Record<string, unknown>>

export function signsOf(error: unknown): Signs {
  if (APICallError.isInstance(error)) return signsOfCall(error)
  // The library itself will not send this request: for us that is an answer.
  if (error instanceof Error && unsendable.has(error.name)) {
    return { ...noSigns, status: 400, words: error.message }
  }
  const body = fieldsOf(error)
  if (body === null || error instanceof Error) {
    // Not an answer of the provider at all: bad JSON in a frame, or a stream that broke.
    const words = textOf(body?.['message'] ?? error) ?? ''
    return { ...noSigns, words, broken: networkCode(error) ? 'before' : 'within' }
  }
  const names = namesIn(body)
  const status = statusIn(body) ?? statusFromNames(names)
  return { ...noSigns, status, names, words: wordsIn(body) ?? '', headers: headersIn(body) }
}

const unsendable: ReadonlySet<string> = new Set([
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
])

const noSigns: Signs = { status: null, names: '', words: '', headers: {}, body: null, broken: null }

function signsOfCall(error: APICallError): Signs {
  const status = error.statusCode ?? null
  const answered = status !== null && status >= 300
  const text = error.responseBody ?? null
  const data = parsed(text) ?? fieldsOf(error.data)
  const said = data === null ? plainText(text) : wordsIn(data)
  return {
    status: answered ? status : null,
    names: data === null ? '' : namesIn(data),
    words: said ?? error.message,
    headers: { ...(data && headersIn(data)), ...error.responseHeaders },
    body: text,
    broken: answered ? null : status === null ? 'before' : 'within',
  }
}

/** The error, what wraps it and what it wraps, outermost first. */
function layersOf(data: Fields): Fields[] {
  const inner = fieldsOf(data['error']) ?? fieldsOf(data['data']) ?? fieldsOf(data['detail'])
  const response = fieldsOf(data['response'])
  const within = fieldsOf(data['message']) ?? parsed(textOf(inner?.['message']))
  const metadata = fieldsOf(inner?.['metadata'])
  const upstream = metadata && parsed(textOf(metadata['raw']))
  const wrapped = [response, within, upstream].flatMap((one) => [
    one,
    one && fieldsOf(one['error']),
  ])
  return [data, inner, ...wrapped].filter((layer) => layer !== null)
}

function namesIn(data: Fields): string {
  const found: string[] = []
  for (const layer of layersOf(data)) {
    for (const key of ['code', 'type', 'status']) {
      const name = textOf(layer[key])
      if (name !== null) found.push(name.toLowerCase())
    }
  }
  return found.join(' ')
}

function statusIn(data: Fields): number | null {
  for (const layer of layersOf(data)) {
    for (const key of ['statusCode', 'status', 'code']) {
      const value = layer[key]
      const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
      if (typeof status === 'number' && status >= 400 && status <= 599) return status
    }
  }
  return null
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

/** The innermost words: a gateway's own say only that somebody behind it failed. */
function wordsIn(data: Fields): string | null {
  const found = layersOf(data).flatMap((layer) => messageIn(layer) ?? [])
  return found.at(-1) ?? null
}

/** `error` and `detail` may be the words themselves; `detail` a list, one entry a field. */
function messageIn(layer: Fields): string | null {
  const [first] = Array.isArray(layer['detail']) ? layer['detail'] : []
  const raw = fieldsOf(layer['metadata'])?.['raw']
  const upstream = parsed(textOf(raw)) === null ? textOf(raw) : null
  return (
    upstream ??
    textOf(layer['message']) ??
    textOf(layer['error']) ??
    textOf(layer['detail']) ??
    fieldWords(fieldsOf(first))
  )
}

/** `{loc: ['body', 'tools'], msg: 'Field required'}` */
function fieldWords(entry: Fields | null): string | null {
  const message = textOf(entry?.['msg'])
  const place = entry?.['loc']
  if (message === null || !Array.isArray(place)) return message
  return `${place.filter((part) => part !== 'body').join('.')}: ${message}`
}

/** OpenRouter repeats the headers that matter in its body. */
function headersIn(data: Fields): Record<string, string> {
  const inner = fieldsOf(data['error']) ?? data
  const headers = fieldsOf(fieldsOf(inner['metadata'])?.['headers'])
  const named: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value === 'string' || typeof value === 'number') {
      named[name.toLowerCase()] = String(value)
    }
  }
  return named
}

/** A body that is neither JSON nor a page. */
const plainText = (text: string | null): string | null =>
  text === null || text.trim() === '' || text.includes('<') ? null : text

function networkCode(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; depth++) {
    if ('code' in at && typeof at.code === 'string' && /^(E[A-Z]+|UND_|CERT_)/.test(at.code)) {
      return true
    }
    at = at.cause
  }
  return false
}

/** Google wraps its error in a list where it was asked for a stream. */
function parsed(text: string | null): Fields | null {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return fieldsOf(Array.isArray(value) ? value[0] : value)
  } catch {
    return null
  }
}

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null
