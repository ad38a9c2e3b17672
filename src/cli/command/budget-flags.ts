/**
 * The limits of a budget as flags: a number or a time, or `none` where there is to be no limit. A
 * wrong one names its flag.
 */
import { usage } from './failure.ts'
import { momentOf } from './moment.ts'

export type BudgetFlags = {
  maxTokens?: string
  maxUsd?: string
  maxRounds?: string
  deadline?: string
}

type Limits = {
  max_tokens?: number | null
  max_usd?: number | null
  max_rounds?: number | null
  deadline?: string | null
}

/** The limits that were given; null: none was. */
export function budgetOf({ maxTokens, maxUsd, maxRounds, deadline }: BudgetFlags): Limits | null {
  const limits: Limits = {
    ...(maxTokens === undefined ? {} : { max_tokens: whole('--max-tokens', maxTokens) }),
    ...(maxUsd === undefined ? {} : { max_usd: positive('--max-usd', maxUsd) }),
    ...(maxRounds === undefined ? {} : { max_rounds: whole('--max-rounds', maxRounds) }),
    ...(deadline === undefined ? {} : { deadline: moment(deadline) }),
  }
  return Object.keys(limits).length === 0 ? null : limits
}

function positive(flag: string, text: string): number | null {
  if (text === 'none') return null
  const value = /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw usage('bad_limit', `${flag} ${text} is no limit`, 'write a number above zero, or none')
}

function whole(flag: string, text: string): number | null {
  const value = positive(flag, text)
  if (value === null || Number.isSafeInteger(value)) return value
  throw usage('bad_limit', `${flag} ${text} is not whole`, 'write it like 200000')
}

const moment = (text: string): string | null =>
  text === 'none' ? null : new Date(momentOf('--deadline', text)).toISOString()
