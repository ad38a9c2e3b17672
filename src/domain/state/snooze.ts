/**
 * Snooze: an entry of the attention list that a person put away, for a while or for good
 * (docs/spec/http.md#attention). The entry stands there again when it changes, or when the time is
 * over.
 */
import type { AgentId } from '../ids.ts'
import { stableHash } from '../stable-hash.ts'
import type { Timestamp } from '../time.ts'

export type Snooze = {
  /** The id of the entry: of the noun it is about. */
  id: string
  agent_id: AgentId
  /** Null: dismissed. */
  until: Timestamp | null
  /** The mark of the entry as it was put away: see `fingerprint`. */
  fingerprint: string
  at: Timestamp
}

export type SnoozeEvent =
  | { type: 'attention_snoozed'; id: string; until: Timestamp; fingerprint: string }
  | { type: 'attention_dismissed'; id: string; fingerprint: string }

export function evolveSnooze(
  _: Snooze | null,
  event: SnoozeEvent,
  meta: { at: Timestamp; agent_id: AgentId },
): Snooze {
  const { id, fingerprint } = event
  const common = { id, agent_id: meta.agent_id, fingerprint, at: meta.at }
  switch (event.type) {
    case 'attention_snoozed':
      return { ...common, until: event.until }
    case 'attention_dismissed':
      return { ...common, until: null }
  }
}

export type AttentionEntry = { kind: string; text: string; since: Timestamp }

/** What must stay the same for an entry to stay put away. */
export const fingerprint = ({ kind, text, since }: AttentionEntry): string =>
  stableHash(JSON.stringify([kind, text, since]))

/** Whether the entry is put away now. */
export const isSnoozed = (
  snooze: Snooze | undefined,
  entry: AttentionEntry,
  now: Timestamp,
): boolean =>
  snooze !== undefined &&
  snooze.fingerprint === fingerprint(entry) &&
  (snooze.until === null || snooze.until > now)
