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

export interface SetupPorts {
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
  /** One small request. `usd` is null without a known price, tokens where they are not counted. */
  try_model(
    candidate: Candidate,
    model: string,
    signal: AbortSignal,
  ): Promise<{ ok: true; ms: number; tokens: number | null; usd: number | null } | SetupRefusal>
}
