/**
 * What went wrong, in our four words: whose fault, which code, whether to try again and when, and
 * one sentence for a person. Pure; never quotes a key.
 */
import { signsOf, type Signs } from './fault-signs.ts'
import { classOf, meaning } from './fault-table.ts'
import { modelLimits } from './limits.ts'
import type { ModelFault, ModelFaultCode } from './model.ts'
import type { PatienceVerdict } from './patience.ts'
import { retryAfterMs } from './retry-after.ts'

export type FaultContext = {
  /** Who failed, as the person knows it: the provider's id. */
  provider: string
  /** Milliseconds since the epoch, for dates in `retry-after`. */
  now: number
  /** Values that must not be quoted. */
  secrets: readonly string[]
}

export function faultOf(error: unknown, context: FaultContext): ModelFault {
  const signs = signsOf(error)
  const again_ms = retryAfterMs(signs, context.now)
  const found = classOf(signs)
  // What is spent does not come back in a minute, whatever delay is named beside it.
  const isHollow = found.code === 'quota' && (again_ms ?? 0) <= modelLimits.retry_after.value
  return {
    ...found,
    message: sentence(found.code, signs, context),
    status: signs.status,
    retry_after_ms: found.kind === 'world' && !isHollow ? again_ms : null,
  }
}

export function streamBroken(why: string, context: FaultContext): ModelFault {
  return plain('stream_broken', true, `${context.provider}: ${why}.`)
}

type Impatient = Exclude<PatienceVerdict, { is: 'patient' }>

export function outOfPatience({ is, after_ms }: Impatient, context: FaultContext): ModelFault {
  const { provider } = context
  const seconds = Math.round(after_ms / 1000)
  switch (is) {
    case 'silent':
      return plain('stream_hung', true, `${provider} sent nothing for ${seconds} seconds.`)
    case 'slow': {
      const few = modelLimits.slow_tokens.value
      const what = `sent fewer than ${few} tokens in ${seconds} seconds`
      return plain('stream_hung', true, `${provider} ${what}.`)
    }
    case 'too_long': {
      const minutes = Math.round(after_ms / 60_000)
      const what = `did not end its answer within ${minutes} minutes`
      return plain('too_slow', true, `${provider} ${what}.`)
    }
  }
}

/** The second time in a row it will not be otherwise the third: somebody has to decide. */
export function tooSlowAgain(fault: ModelFault, model: string): ModelFault {
  const remedy = `raise models["${model}"].request_minutes, or choose another model`
  const message = `${fault.message.replace(/\.$/, '')}, twice: ${remedy}.`
  return { ...fault, kind: 'setup', retryable: false, message }
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

function sentence(code: ModelFaultCode, signs: Signs, context: FaultContext): string {
  const status = signs.status === null ? '' : ` (${signs.status})`
  const head = `${context.provider} ${meaning[code]}${status}`
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
