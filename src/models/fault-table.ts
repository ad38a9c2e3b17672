/**
 * Which fault an error is, in every dialect that providers and the servers in front of them speak:
 * one table, read from the top, the first row that fits. Pure.
 */
import type { Signs } from './fault-signs.ts'
import type { ModelFault, ModelFaultCode } from './model.ts'

export type FaultClass = Pick<ModelFault, 'kind' | 'code' | 'retryable'>

/** All that a row names must fit; `words` are looked for in the names as well. */
type Row = {
  is: FaultClass
  status?: (status: number) => boolean
  words?: RegExp
  but_not?: RegExp
  broken?: Signs['broken']
}

const world = (code: ModelFaultCode, retryable = true): FaultClass => ({
  kind: 'world',
  code,
  retryable,
})
const setup = (code: ModelFaultCode): FaultClass => ({ kind: 'setup', code, retryable: false })
const refused = (code: ModelFaultCode): FaultClass => ({ kind: 'refused', code, retryable: false })

const among =
  (...statuses: readonly number[]) =>
  (status: number): boolean =>
    statuses.includes(status)
/** A refusal of the request as it stands: neither a rate nor a failure on their side. */
const request = (status: number): boolean => status >= 400 && status < 500 && status !== 429

const anyOf = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join('|'), 'i')

/** The prompt is longer than the model's window. */
const tooLong = anyOf(
  'context[_ ](length|window|size|limit)',
  'maximum context',
  'exceed_context',
  'prompt (is )?too long',
  'maximum prompt length',
  'too many (input |prompt )?tokens',
  'input token count',
  'input (is )?too long',
  'input_too_large',
  'input length',
  'max_new_tokens',
  'max_tokens must be at least 1, got -',
  'model token limit',
  'token (count|limit).{0,40}exceed',
  'exceeds? the (maximum|max|available).{0,30}(tokens|context)',
  'larger than the max',
  'reduce the length',
  'too large for model',
)
/** More tokens than a minute's allowance: the same request can never pass. */
const tooLargeForRate = anyOf(
  'request too large',
  'must be reduced in order to run',
  'required for long context',
)

/** The answer's length that was asked for, which is a setting. */
const outputSetting = anyOf(
  'maximum allowed number of output tokens',
  'valid range of max_tokens',
  'max(_completion|_output)?_tokens.{0,20}less than or equal',
  "max_completion_tokens' instead",
)
const keyWords = anyOf(
  'api[_ ]?key[_ ]?(not valid|invalid|expired)',
  '(invalid|incorrect|expired).{0,12}api key',
  'invalid_api_key',
  'invalid x-api-key',
)
const modelWords = anyOf(
  'model[_ ]not[_ ]found',
  'model.{0,80}(does not exist|not found|not supported|is not available)',
  'model.{0,80}(decommissioned|deprecated)',
  'no such model',
  'unknown model',
  'not a valid model',
  'invalid model',
)
/** What the account, the place or the model does not have. */
const offerWords = anyOf(
  'must be verified',
  'location is not supported',
  'unsupported_country',
  'country, region',
  'organization has been disabled',
  'account.{0,30}(disabled|deactivated|suspended)',
  'does not support (tool|function)',
  'tool.{0,20}(use|choice).{0,20}(not supported|unsupported|requires)',
  'no endpoints found',
  'has not been used in project',
)
/** What a local server was not started with. */
const startedWithout = anyOf('--jinja', '--enable-auto-tool-choice')
/** A field that a stricter server does not have. */
const unknownField = anyOf(
  'extra inputs are not permitted',
  'unsupported parameter',
  'unrecognized request argument',
  'unknown name',
)
/** Nobody answers again until somebody pays, or the day, week or month is over. */
const spent = anyOf(
  'insufficient[_ ](quota|balance|credit|funds)',
  'exceeded_current_quota',
  'out of credit',
  'more credits',
  'credit balance',
  'credits or reached',
  'billing',
  '(spend(ing)?|usage|monthly)[_ ]limit',
  'quota',
)
/** The same of a 429, whose everyday form speaks of quota and billing too. */
const spentFor429 = anyOf(
  'insufficient[_ ](quota|balance|credit|funds)',
  'exceeded_current_quota',
  'credit balance',
  'billing_not_active',
  '(spend(ing)?|usage|monthly)[_ ]limit',
  'per[- ]?day',
  'daily',
  'limit: 0\\b',
)
const policyWords = anyOf(
  'content[_ ](policy|filter)',
  'content management policy',
  'safety',
  'moderation',
  'usage polic',
  'prohibited',
  'flagged',
  'invalid_prompt',
  'data_inspection',
)
const thinkingWords = anyOf(
  'thinking',
  'thought',
  'signature',
  'encrypted_content',
  'reasoning',
  'output_config',
  '\\beffort',
  'anthropic-beta',
  'bound to a different',
  'binding_mismatch',
)

/** Our own words for it: the proxy's answer is no provider's. */
const refusedByProxy = /the proxy (\S+ \(\w+\) refuses|of \w+ is no)/

const rows: readonly Row[] = [
  { is: setup('proxy'), broken: 'before', words: refusedByProxy },
  { is: world('network'), broken: 'before' },
  { is: world('stream_broken'), broken: 'within' },
  { is: refused('context_length'), status: among(413) },
  { is: refused('context_length'), status: among(429), words: tooLargeForRate },
  { is: setup('not_available'), status: request, words: outputSetting },
  { is: world('quota', false), status: among(429), words: spentFor429 },
  { is: world('rate_limited'), status: among(429) },
  { is: world('quota', false), status: among(402) },
  { is: world('quota', false), status: among(400, 403, 412), words: spent, but_not: tooLong },
  // The server could not read the call that its model wrote: the next one may be sound.
  { is: world('server_error'), status: among(400), words: /tool_use_failed/ },
  { is: world('timeout'), status: among(408, 425) },
  { is: world('conflict'), status: among(409) },
  { is: refused('context_length'), words: tooLong },
  { is: world('quota', false), words: /insufficient_(quota|credits)|spend_limit|billing_error/ },
  { is: world('overloaded'), status: among(503, 529) },
  { is: world('overloaded'), words: /overload/i, but_not: policyWords },
  { is: setup('not_available'), words: startedWithout },
  { is: world('server_error'), status: (status) => status >= 500 || status === 499 },
  { is: setup('unauthorized'), status: request, words: keyWords },
  { is: setup('not_available'), status: request, words: offerWords },
  { is: setup('unknown_model'), status: among(400, 403, 404, 422), words: modelWords },
  { is: refused('policy'), status: request, words: policyWords },
  { is: setup('unauthorized'), status: among(401, 403) },
  { is: setup('unknown_model'), status: among(404, 405, 410) },
  { is: setup('redirected'), status: (status) => status >= 300 && status < 400 },
  { is: refused('policy'), words: policyWords },
  { is: refused('thinking_refused'), status: among(400, 422), words: thinkingWords },
  { is: setup('not_available'), status: among(400, 422), words: unknownField },
  { is: setup('not_available'), status: among(407) },
  { is: refused('bad_request'), status: (status) => status >= 400 },
  // An error without a status came inside a stream whose names say nothing: the stream failed.
  { is: world('stream_broken') },
]

export function classOf(signs: Signs): FaultClass {
  const found = rows.find((row) => fits(row, signs))
  if (found === undefined) throw new Error('The last row of the table fits every error.')
  return found.is
}

function fits(row: Row, { status, names, words, body, broken }: Signs): boolean {
  const said = `${names}\n${words}\n${status === 429 ? (body ?? '') : ''}`
  if (row.broken !== undefined && row.broken !== broken) return false
  if (row.status !== undefined && (status === null || !row.status(status))) return false
  if (row.words !== undefined && !row.words.test(said)) return false
  return row.but_not === undefined || !row.but_not.test(said)
}

/** What each code says to a person; the provider's words follow, without secrets. */
export const meaning: Readonly<Record<ModelFaultCode, string>> = {
  network: 'could not be reached',
  timeout: 'took too long to answer',
  conflict: 'reported a conflict',
  rate_limited: 'limits the rate of requests',
  overloaded: 'is overloaded',
  server_error: 'failed on its side',
  quota: 'has no credit or quota left for this account',
  stream_broken: 'broke off its answer',
  stream_hung: 'went silent',
  too_slow: 'did not end its answer',
  too_much_output: 'sent too much',
  no_key: 'needs a key',
  unauthorized: 'does not accept this key',
  proxy: 'is not reached through the proxy that is set',
  unknown_model: 'knows no such model or address',
  not_available: 'does not offer this to the account or the model as they are set up',
  secret_unreadable: 'is not asked while a registered secret cannot be read',
  redirected: 'answered with a redirect, which is not followed: check the base URL',
  bad_request: 'refused the request',
  context_length: 'refused the request as too long',
  thinking_refused: 'refused the thoughts that went back, or what is set about them',
  policy: 'refused the request by its policy',
  aborted: 'was aborted',
}
