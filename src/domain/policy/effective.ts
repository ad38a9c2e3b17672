/** The policy that is in force: a preset, the operator's file, and what a repository narrows. */
import { canonical } from '../canonical.ts'
import { presets } from './presets.ts'
import type { Otherwise, Policy, PolicyRule, PresetName } from './rule.ts'

export type PolicyParts = {
  preset: PresetName
  /** Of the operator's file. */
  rules: readonly PolicyRule[]
  otherwise: Partial<Otherwise>
  /** Of the repository; a permission in it is no rule. */
  narrower: readonly PolicyRule[]
}

/** `sha256` is handed in: hex of the text's UTF-8. */
export function effectivePolicy(parts: PolicyParts, sha256: (text: string) => string): Policy {
  const { preset } = parts
  const base = presets[preset]
  const narrower = parts.narrower.filter(({ decide }) => decide !== 'allow')
  const rules = [...parts.rules, ...base.rules, ...narrower]
  const otherwise = { ...base.otherwise, ...parts.otherwise }
  const { asking } = base
  const revision = sha256(canonical({ preset, rules, otherwise, asking })).slice(0, 16)
  return { revision, preset, rules, otherwise, asking }
}
