/** The policy of a home, as the command line asks for it. */
import type { Config } from '../../protocol/config.ts'
import type { PoliciesRecord, PolicyDecisionRecord } from '../../protocol/records/policy-record.ts'

/** `file`: read in the place of the home's own; null: that one. */
export type PolicySettings = {
  home: string
  file: string | null
  agent: string
  workspace: string
  /** Of the home. */
  config: Config
}

/** A file is refused whole: which one, where in it, and what is wrong. */
export type PolicyRefused = { ok: false; file: string; line: number | null; why: string }

/** `in_force`: the file with the last good rules; null: there are none, and everything is asked. */
export type PolicyStanding = PolicyRefused & { in_force: string | null }

export interface OpenedPolicy {
  ok: true
  record: PoliciesRecord
  /** What is decided of a line, in the workspace. */
  line(text: string): PolicyDecisionRecord
  /** Of a call as it was made, by the workspace of its agent. */
  call(call: { tool_name: string; input: unknown; effect_class: string }): PolicyDecisionRecord
}

export interface PolicyPorts {
  /** Does not reject for what is in a file. */
  open(settings: PolicySettings): Promise<OpenedPolicy | PolicyRefused>
  /** What is wrong with the policy.json of a home; null: nothing, or there is none. */
  refused(home: string): Promise<PolicyStanding | null>
  /**
   * Every call of the ledger, oldest first, judged by a policy of its agent's workspace; null:
   * there is no home. A workspace whose file is refused is judged without it.
   */
  past(
    settings: Omit<PolicySettings, 'agent' | 'workspace'>,
    each: (call: PastCall) => void,
  ): Promise<PolicyRefused | { ok: true } | null>
}

export type PastCall = {
  id: string
  title: string
  decision: PolicyDecisionRecord
}
