/**
 * The models a provider says it has: one GET of `/models`, in each provider's own shape. For the
 * set-up, where nothing is known yet; a run never asks. What the provider says in its error is not
 * repeated: it may contain the key.
 */
import type { FetchFunction } from '../transport/fetch.ts'
import type { WireKind } from '../../ports/provider.ts'
import { usualOf } from './open-model.ts'

export type Listing =
  | { ok: true; models: readonly string[] }
  | { ok: false; refused_key: boolean; message: string }

type Where = { kind: WireKind; base_url: string | null; key: string | null }

/** Bytes of a list of models; the longest known one is a tenth of it. */
const largestList = 4 * 1024 * 1024
/** Characters of a name: a longer one is no name that anybody types or reads. */
const longestName = 200

/** Never rejects but with the signal's reason. */
export async function listModels(
  where: Where,
  fetch: FetchFunction,
  signal: AbortSignal,
): Promise<Listing> {
  const base = where.base_url ?? usualOf(where.kind).base_url
  if (base === null) return no('no address is given')
  const url = `${base.replace(/\/+$/, '')}/models${where.kind === 'google' ? '?pageSize=200' : ''}`
  try {
    const response = await fetch(url, { headers: headersOf(where), signal })
    if (response.status === 401 || response.status === 403) {
      return { ok: false, refused_key: true, message: `the key is refused (${response.status})` }
    }
    if (response.status !== 200) return no(`${url} answers ${response.status}`)
    const text = await boundedText(response)
    if (text === null) return no(`${url} answers more than a list of models`)
    const models = namesIn(JSON.parse(text), where.kind)
    return models === null ? no(`${url} answers something else than a list of models`) : models
  } catch (error) {
    signal.throwIfAborted()
    const isJson = error instanceof SyntaxError
    return no(isJson ? `${url} answers no JSON` : `${url} does not answer: ${reasonOf(error)}`)
  }
}

/** Null: it is longer, and no more of it is read than the limit. */
async function boundedText({ body }: Response): Promise<string | null> {
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the body.
    if (bytes > largestList) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const no = (message: string): Listing => ({ ok: false, refused_key: false, message })

function headersOf({ kind, key }: Where): Record<string, string> {
  if (key === null) return {}
  switch (kind) {
    case 'anthropic':
      return { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    case 'google':
      return { 'x-goog-api-key': key }
    case 'openai':
    case 'openai-compatible':
      return { authorization: `Bearer ${key}` }
  }
}

/** Google says `models/<name>`, the others an id in `data`. Null: it is another document. */
function namesIn(body: unknown, kind: WireKind): Listing | null {
  const [list, key] = kind === 'google' ? ['models', 'name'] : ['data', 'id']
  const found = field(body, list)
  if (!Array.isArray(found)) return null
  const models = found.flatMap((one) => {
    const name = field(one, key)
    const is = typeof name === 'string' && name !== '' && name.length <= longestName
    return is ? [name.replace(/^models\//, '')] : []
  })
  return { ok: true, models }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = field(cause, 'code')
  if (typeof code === 'string') return code
  return cause instanceof Error ? cause.message : String(cause)
}
