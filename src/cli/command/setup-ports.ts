/** What `holon init` needs from the machine and from the models beside the usual. Types only. */
import type { WireKind } from '../../ports/provider.ts'

export const providerKinds: readonly WireKind[] = [
  'anthropic',
  'openai',
  'google',
  'openai-compatible',
]

/** A provider before it is configured. `key` is the secret itself; it goes nowhere but to it. */
export type Candidate = {
  kind: WireKind
  base_url: string | null
  key: string | null
}

/** `refused_key`: another key, and only that, may help. `message` is a sentence without secrets. */
export type SetupRefusal = { ok: false; refused_key: boolean; message: string }

/**
 * A program of another maker on this machine. It speaks the protocol that `acp/…` needs only by its
 * adapter; `adapter` is that one's command, null: it is not installed, and `package` brings it.
 */
export type PlanFound = { name: 'claude' | 'codex'; adapter: string | null; package: string }

export type FoundHere = {
  /** Servers of this machine that list models where local ones usually listen. */
  servers: readonly { base_url: string; models: readonly string[] }[]
  plans: readonly PlanFound[]
}

export type SetupTried = {
  ok: true
  ms: number
  tokens: number | null
  usd: number | null
  calls: boolean
}

export interface SetupPorts {
  /** What stands ready here. Asks the loopback only, half a second at most; rejects never. */
  found(): Promise<FoundHere>
  /** As `ask`, for one line that is not shown while it is typed. */
  ask_secret(prompt: string, signal: AbortSignal): Promise<string | null>
  /** The variable that has a key for this kind, when it is set; and where the kind is reached. */
  usual(kind: WireKind): Promise<{ base_url: string | null; key_variable: string | null }>
  /** The key in that variable of the environment. */
  key_in(variable: string): string | null
  /** Names of the models there, those we know the price of first. */
  list_models(
    candidate: Candidate,
    signal: AbortSignal,
  ): Promise<{ ok: true; models: readonly string[] } | SetupRefusal>
  /**
   * One small request that asks for a call of a tool; `calls`: it came. `usd` is null without a
   * known price, tokens where they are not counted.
   */
  try_model(
    candidate: Candidate,
    model: string,
    signal: AbortSignal,
  ): Promise<SetupTried | SetupRefusal>
}
