/** What of an action was judged, and what of a policy decided. */
import type { ShellDoubt } from '../shell/command.ts'
import type { ActionCommand, ActionHost, ActionMcp, ActionPath } from './action.ts'
import type { Otherwise, PolicyRule, Verdict } from './rule.ts'

/** What of an action was judged. */
export type ActionPart =
  | { kind: 'run'; command: ActionCommand }
  | { kind: 'write'; path: ActionPath }
  | { kind: 'host'; host: ActionHost }
  | { kind: 'mcp'; mcp: ActionMcp }
  | { kind: 'call' }

/** What decided. */
export type Because =
  /** `could_be`: only running it would say whether the rule is about it. */
  | { by: 'rule'; rule: PolicyRule; match: 'is' | 'could_be' }
  /** `in_doubt`: the part of the line that is; null: the command itself. */
  | { by: 'doubt'; doubt: ShellDoubt; in_doubt: string | null }
  /** What holds for a part that no rule is about, and what came of it. */
  | OtherwiseSaid
  /** A program of the operator's that was asked about it. */
  | { by: 'hook'; program: string; why: string }
  /** Nothing of it is judged: it only looks, or writes the agent's own records. */
  | { by: 'no_part' }

type OtherwiseSaid = {
  [K in keyof Otherwise]: { by: 'otherwise'; of: K; has: Otherwise[K]; decide: Verdict }
}[keyof Otherwise]

/** `length`: how much of the part the rule names; the longest one has the words. */
export type Match = { is: 'yes' | 'no' | 'maybe'; length: number }
