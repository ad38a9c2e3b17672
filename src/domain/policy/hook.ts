/**
 * What a hook, a program of the operator's, says of an action before it has an effect. It may deny
 * or ask, with words, and never allow: what it says joins the decision of the policy by strictness.
 * Whatever else it does (it fails, it hangs, it says what nobody understands) is a question.
 */
import { decided, strictestOf, strictness, type PolicyDecision } from './decision.ts'
import type { Policy } from './rule.ts'

/** How a program came to its end. */
export type HookEnd = { state: 'ended'; stdout: string } | { state: 'failed'; why: string }

/** Null: it has nothing to say. */
export type HookWord = { decide: 'ask' | 'deny'; why: string } | null

export type HookAnswer = { program: string; word: HookWord }

/** Characters of its words; more is cut. */
const WORDS = 500

export function hookWord(end: HookEnd): HookWord {
  if (end.state === 'failed') return failed(end.why)
  // Blank as JSON has it: a byte order mark is not silence.
  if (/^[ \t\r\n]*$/.test(end.stdout)) return null
  let value: unknown
  try {
    value = JSON.parse(end.stdout)
  } catch {
    return failed('what it wrote is no JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return failed('what it wrote is no object')
  }
  const { decide, why, ...others } = value as Record<string, unknown>
  if (decide !== 'ask' && decide !== 'deny') {
    const allows = decide === 'allow'
    return failed(allows ? 'it says allow, which no hook may' : 'its "decide" is not ask or deny')
  }
  const [other] = Object.keys(others)
  if (other !== undefined) return failed(`it wrote a field that is not known, ${short(other)}`)
  if (typeof why !== 'string' || why.trim() === '') return failed('it gives no reason in "why"')
  return { decide, why: short(why) }
}

const failed = (why: string): HookWord => ({ decide: 'ask', why: `no answer: ${why}` })

const short = (text: string): string =>
  text.trim().replaceAll(/\s+/g, ' ').slice(0, WORDS).toWellFormed()

/**
 * The strictest of all; among equals what the policy itself says, then the first hook. Where one of
 * them asks no grant answers for the question; and of several policies that judge together, one
 * that asks nobody makes it a refusal.
 */
export function joinHooks(
  decision: PolicyDecision,
  answers: readonly HookAnswer[],
  policies: readonly Pick<Policy, 'asking' | 'preset' | 'revision'>[],
): PolicyDecision {
  let strictest = decision
  for (const { program, word } of answers) {
    if (word === null) continue
    const { decide, why } = word
    const ruling = { decide, because: { by: 'hook', program, why } } as const
    const judged = { ruling, part: { kind: 'call' } } as const
    const joined = strictestOf(policies.map((policy) => decided(judged, policy, null)))
    const isStricter = strictness[joined.decide] > strictness[strictest.decide]
    strictest = isStricter ? joined : { ...strictest, lifts: null }
  }
  return strictest
}
