/**
 * How long a text is for a model, before a provider has counted it. Estimates decide what is cut
 * and what fits, corrected by what a provider counted before (runtime/turn/token-factor.ts); the
 * provider's own usage decides what was spent.
 */

/**
 * *Contract.* Tokens of `text`, a whole number ≥ 0, never throws, and the same text always gives
 * the same number: what was cut once must be cut the same way when a request is rebuilt.
 */
export type TokenEstimator = (text: string) => number

/** Letters of English prose and code per token, averaged over the large providers. */
export const charsPerToken = 4

/**
 * Four ASCII characters to a token, one token for each other character. Within a quarter for
 * prose and code in English; high for accented text, about right for Chinese, Japanese, Korean.
 */
export const charTokens: TokenEstimator = (text) => {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) wide++
  return Math.ceil((text.length - wide) / charsPerToken) + wide
}
