/** The promise of a tool about its effects; the policy and the recovery of calls read it. */

/** What becomes of an intent without an outcome after a crash (docs/spec/turn.md#effects). */
export type EffectClass =
  | 'pure'
  | 'idempotent'
  | 'content_checked'
  | 'keyed'
  | 'reattachable'
  | 'non_repeatable'
