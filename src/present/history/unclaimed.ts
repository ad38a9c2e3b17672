/**
 * The operator's messages that no turn has claimed yet, by what the stream told since it was opened
 * and by the histories that are held: the newest of a target is what can be taken back. A claim
 * that was not heard makes no harm: the server knows, and says so. Pure.
 */
import type { StoredEvent } from '../../protocol/records/records.ts'
import type { Feed } from './history.ts'
import type { Group } from './noun-fold.ts'
import type { OutboxMessage } from './input.ts'
import { bounds } from './limits.ts'
import { shelved } from './chunked-map.ts'

export type UnclaimedMessage = {
  readonly id: string
  readonly agent_id: string
  readonly work_item_id: string | null
  /** The agent seq of its admission. */
  readonly seq: number
  /** A turn that dies before its first request gives back what it claimed. */
  readonly state: 'queued' | 'claimed' | 'over'
}

/** The same list where the events say nothing of it. */
export function waitingAfter(
  before: readonly UnclaimedMessage[],
  events: readonly StoredEvent[],
): readonly UnclaimedMessage[] {
  let now = before
  for (const stored of events) {
    const { event } = stored
    if (!event.type.startsWith('message_') || !movesIt(event.type)) continue
    if (event.type === 'message_admitted') {
      const one = admitted(stored)
      if (one !== null) now = [...now, one].slice(-bounds.sent)
    } else if (now.some(({ id }) => id === event.id)) {
      const state = stateAfter(event.type)
      now = now.map((one) => (one.id === event.id ? { ...one, state } : one))
    }
  }
  return now
}

/** Whether it may no longer wait where it did. */
const movesIt = (type: string): boolean => type !== 'message_shown' && type !== 'message_bound'

function stateAfter(type: string): UnclaimedMessage['state'] {
  if (type === 'message_claimed') return 'claimed'
  return type === 'message_requeued' ? 'queued' : 'over'
}

/** Words of the operator; what answers a question has ended it, and stays. */
function admitted({ event, agent_id, seq }: StoredEvent): UnclaimedMessage | null {
  if (event.type !== 'message_admitted' || event.provenance.kind !== 'operator_prompt') return null
  if (event.wait_id !== null || event.consumed_because !== null) return null
  const { id, work_item_id } = event
  return { id, agent_id, work_item_id, seq, state: 'queued' }
}

type Target = Pick<UnclaimedMessage, 'agent_id' | 'work_item_id'>

/** What of the presentation it is read from. */
type Known = {
  sent: readonly OutboxMessage[]
  waiting: readonly UnclaimedMessage[]
  feeds: readonly Feed[]
}

/** `sending`: the newest of this screen has no id yet. Null: nothing there waits for a turn. */
export function newestWaiting(p: Known, to: Target): { id: string } | 'sending' | null {
  const isTo = (one: Target) => one.agent_id === to.agent_id && one.work_item_id === to.work_item_id
  const isOut = ({ kind }: OutboxMessage['state']) => kind === 'sending' || kind === 'accepted'
  const sent = p.sent.findLast((one) => isTo(one) && isOut(one.state))
  if (sent?.state.kind === 'sending') return 'sending'
  const id = sent?.state.kind === 'accepted' ? sent.state.message_id : null
  // The stream may not have told of it yet: it comes in batches.
  if (id !== null && p.waiting.every((one) => one.id !== id)) return { id }
  const told = new Set(p.waiting.map((one) => one.id))
  const older = held(p, to.agent_id).filter((one) => !told.has(one.id))
  let newest: UnclaimedMessage | null = null
  for (const one of [...p.waiting, ...older]) {
    if (one.state === 'queued' && isTo(one) && one.seq > (newest?.seq ?? 0)) newest = one
  }
  return newest
}

/** Those of before the stream was opened, where the agent's history was read. */
function held(p: Known, agent_id: string): UnclaimedMessage[] {
  const feed = p.feeds.find((one) => one.agent_id === agent_id)
  if (feed === undefined) return []
  return [...shelved(feed.groups)].flatMap((group) =>
    group.noun === 'message' ? inQueue(group) : [],
  )
}

function inQueue({ agent_id, heard, last_seq }: Group): UnclaimedMessage[] {
  const first = heard.message_admitted
  if (first === undefined) return []
  const { event, seq } = first
  const isNew = last_seq === seq
  const isBack = heard.message_requeued?.seq === last_seq
  if (event.provenance.kind !== 'operator_prompt' || !(isNew || isBack)) return []
  if (event.wait_id !== null || event.consumed_because !== null) return []
  const { id, work_item_id } = event
  return [{ id, agent_id, work_item_id, seq, state: 'queued' }]
}
