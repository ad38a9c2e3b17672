/**
 * How long a text is for a model, before a provider has counted it. Estimates decide what is cut
 * and what fits; the provider's own usage decides what was spent.
 */

/**
 * *Contract.* Tokens of `text`, a whole number ≥ 0, never throws, and the same text always gives
 * the same number: what was cut once must be cut the same way when a request is rebuilt.
 */
export type TokenEstimator = (text: string) => number

/** Letters of English prose and code per token, averaged over the large providers. */
const asciiPerToken = 4

/**
 * Four ASCII characters to a token, one token for each other character. Within a quarter for
 * prose and code in English; high for accented text, about right for Chinese, Japanese, Korean.
 */
export const charTokens: TokenEstimator = (text) => {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) wide++
  return Math.ceil((text.length - wide) / asciiPerToken) + wide
}

/**
 * `tokens` corrected by one request the provider has counted. For `fits` only: a result rendered
 * with one estimator and rebuilt with another would change a prefix that providers have cached.
 */
export function calibrated(
  tokens: TokenEstimator,
  seen: { estimated: number; counted: number },
): TokenEstimator {
  if (seen.estimated <= 0 || seen.counted <= 0) return tokens
  // Beyond these bounds the figures are about different requests.
  const factor = Math.min(3, Math.max(0.5, seen.counted / seen.estimated))
  return (text) => Math.ceil(tokens(text) * factor)
}
