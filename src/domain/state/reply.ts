/**
 * What an operator gets back for an act that was carried out: ids for a program, one sentence for
 * a person. Stored as it is in a receipt, so a repetition is answered with the very same.
 */
import type { FileDiff } from './file-diff.ts'

/**
 * What a revert did with one file: `same` stood as it was to be. `diff` is from what the agent left
 * to what stands there, where both are texts.
 */
export type RevertOutcome = { path: string; name: string } & (
  | { outcome: 'put_back' | 'same' }
  | { outcome: 'left'; why: string; diff: Omit<FileDiff, 'ends'> | null }
)

export type Done = {
  ok: true
  message_id: string | null
  /** Waits that the act ended or triggered. */
  resolved: string[]
  triggered: string[]
  /** The one thing the act made or changed, where a client wants its id: an item, a trigger, … */
  id: string | null
  /** One sentence for a person. */
  said: string
  warnings: { kind: string; message: string }[]
  /** Of a revert: every file that it was about. */
  files?: RevertOutcome[] | undefined
}

export const done = (said: string, more: Partial<Omit<Done, 'ok' | 'said'>> = {}): Done => ({
  ok: true,
  message_id: null,
  resolved: [],
  triggered: [],
  id: null,
  said,
  warnings: [],
  ...more,
})
