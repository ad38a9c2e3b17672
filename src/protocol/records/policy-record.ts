/** The policy and what it says, as commands print it with `--json`. */
import type { Otherwise, PresetName, Verdict } from '../../domain/policy/rule.ts'

export type { HomeAge } from '../../domain/policy/in-force.ts'
export { presetNames, type PresetName } from '../../domain/policy/rule.ts'

export type PolicyRuleRecord = {
  decide: Verdict
  /** What it is about, in a line. */
  about: string
  why: string
  /** `preset work`, or a file with its line. */
  from: string
}

export type PolicyRecord = {
  revision: string
  preset: PresetName
  rules: readonly PolicyRuleRecord[]
  otherwise: Otherwise
}

/** What an agent is judged by: its own preset's first, then those of the agents above it. */
export type PoliciesRecord = {
  /** False: nothing is judged, and the policy is what it would be. */
  in_force: boolean
  policies: readonly PolicyRecord[]
  /** Files that are part of it. */
  files: readonly string[]
  /** The home's file, while the last good one is in force in its place. */
  refused: { file: string; line: number | null; why: string } | null
}

export type PolicyDecisionRecord = {
  decide: Verdict
  /** What of the call decided: a command, a file, a host. */
  part: string
  why: string
  by: 'rule' | 'doubt' | 'otherwise' | 'hook' | 'no_part'
  rule: PolicyRuleRecord | null
  /** Only running it would say whether the rule is about it. */
  could_be: boolean
  revision: string
}
