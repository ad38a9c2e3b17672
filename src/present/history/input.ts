/**
 * What a presentation takes in (docs/spec/screens.md#one-presentation): events of the stream, pages
 * of older events, live frames, the state read anew, how the link is, and what this very screen has
 * sent. Times are those of the server, RFC 3339.
 */
import type { LiveFrame } from '../../protocol/live-frame.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { StoredEvent } from '../../protocol/records/records.ts'
import type { StateRecord } from '../../protocol/views/state-record.ts'

export type Link =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** Not connected: everything shown is as of `since`. */
  | { readonly kind: 'stale'; readonly since: string }
  /** The history that was followed is gone: the state has to be read again. */
  | { readonly kind: 'gone'; readonly snapshot: string }

/** A message of this screen, before the ledger's own record of it is heard. */
export type OutboxMessage = {
  readonly key: string
  readonly agent_id: string
  readonly work_item_id: string | null
  readonly text: string
  readonly at: string
  readonly state:
    | { readonly kind: 'sending' }
    | { readonly kind: 'accepted'; readonly message_id: string }
    /** It left, and no answer came. */
    | { readonly kind: 'unknown' }
    | { readonly kind: 'refused'; readonly problem: Pick<Problem, 'code' | 'detail'> }
}

export type Input =
  | { readonly kind: 'events'; readonly events: readonly StoredEvent[] }
  /**
   * Older events of one agent. The page says that it has everything from `from` to `to`, also
   * where that is more than its events.
   */
  | {
      readonly kind: 'page'
      readonly agent_id: string
      readonly from: number
      readonly to: number
      readonly events: readonly StoredEvent[]
    }
  | { readonly kind: 'live'; readonly frames: readonly LiveFrame[]; readonly at: string }
  | { readonly kind: 'state'; readonly state: StateRecord }
  | { readonly kind: 'link'; readonly link: Link }
  /** Holds the history of this agent from now on. */
  | { readonly kind: 'watch'; readonly agent_id: string }
  | { readonly kind: 'sent'; readonly sent: OutboxMessage }
