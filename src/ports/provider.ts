/** The providers of models that can be configured. Types only. */

/** Providers that are reached over a network, each with a wire format of its own. */
export type WireKind = 'anthropic' | 'openai' | 'openai-compatible' | 'google'
