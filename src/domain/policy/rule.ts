/**
 * A policy: rules over values, and what holds where none speaks. The file that a
 * person writes is a schema of `protocol`; this is what it means.
 */
import type { EffectClass } from '../effect-class.ts'
import type { AgentId } from '../ids.ts'
import type { ActionOrigin, Area } from './action.ts'

export type Verdict = 'allow' | 'ask' | 'deny'

/** A word, one of some words, or flags in any order, of which one is enough. */
export type RunToken = string | readonly string[] | { any: readonly string[] }

/** What a rule is about; a rule has one subject. */
export type RuleSubject =
  | { kind: 'run'; tokens: readonly RunToken[] }
  | { kind: 'write'; globs: readonly string[] }
  /** `name`, `name:port`, `*.name`. */
  | { kind: 'host'; hosts: readonly string[] }
  /** `server/tool`, with `*` for either; a call that has all of `unless` is spared. */
  | { kind: 'mcp'; tools: readonly string[]; unless: { pinned?: boolean; read_only?: boolean } }
  /** The call as a whole. */
  | { kind: 'call'; tools: readonly string[]; classes: readonly EffectClass[] }

/** Where a rule comes from: its words say so. */
export type RuleSource =
  | { from: 'preset'; preset: PresetName }
  | { from: 'home' | 'repository'; file: string; line: number }

export type PolicyRule = {
  decide: Verdict
  subject: RuleSubject
  /** Only there: a command's folder, a file's place. */
  in: Area | null
  origin: ActionOrigin | null
  agent: AgentId | null
  /** The operator's words; empty where none were written. */
  why: string
  source: RuleSource
}

export const presetNames = ['watch', 'work', 'alone', 'open'] as const

export type PresetName = (typeof presetNames)[number]

/** What holds for a part that no rule is about. */
export type Otherwise = {
  /** `sandboxed`: allowed where the machine confines commands, else asked. */
  run: Verdict | 'sandboxed'
  /** `workspace`: allowed in the workspace and the agent's own folder, else asked. */
  write: Verdict | 'workspace'
  host: Verdict
  mcp: Verdict
}

export type Policy = {
  /** Hash of all it was made of: the same revision decides the same. */
  revision: string
  preset: PresetName
  rules: readonly PolicyRule[]
  otherwise: Otherwise
  /** Whether somebody is there to be asked; where nobody is, what would ask is refused. */
  asking: 'operator' | 'nobody'
}
