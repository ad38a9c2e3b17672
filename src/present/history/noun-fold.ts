/**
 * What is kept of one noun's events: the newest of each type, how many of each, and what adds up.
 * Each part of it is the same whatever order the events come in, so pages may come in any. Pure.
 */
import type { Event, EventOf, StoredEvent, Usage } from '../../protocol/records/records.ts'
import { checkPlace, isCheck } from './check-place.ts'
import { bounds } from './limits.ts'

export type Noun =
  | 'message'
  | 'turn'
  | 'round'
  | 'call'
  | 'task'
  | 'wait'
  | 'brief'
  | 'completion'
  | 'todos'
  | 'plan'
  | 'change'
  | 'budget'
  | 'delegation'
  | 'decision'
  | 'check'

export type HistoryEvent<T extends Event['type'] = Event['type']> = {
  readonly seq: number
  readonly at: string
  readonly event: EventOf<T>
}

/** Tokens and dollars of the rounds so far; null: a part of it is not known. */
export type Used = Pick<Usage, 'input_tokens' | 'output_tokens' | 'usd'>

export type Group = {
  readonly id: string
  readonly noun: Noun
  readonly agent_id: string
  readonly work_item_id: string | null
  /** The newest event that named an item. */
  readonly item_seq: number
  /** The turn that was open when it began. */
  readonly turn_id: string | null
  /** The first seq that was heard of it, and when that was. */
  readonly seq: number
  readonly at: string
  readonly last_seq: number
  readonly heard: { readonly [T in Event['type']]?: HistoryEvent<T> }
  /** The first event of its kind, where the difference is what is told. */
  readonly first: HistoryEvent | null
  readonly count: { readonly [T in Event['type']]?: number }
  readonly used: Used | null
}

/** Which group an event belongs to. */
export type NounRef = { id: string; noun: Noun }

/** Every type whose noun is named by its own id. */
const nounOf: { readonly [T in Event['type']]?: Noun } = {
  message_admitted: 'message',
  message_claimed: 'message',
  message_bound: 'message',
  message_shown: 'message',
  message_interjected: 'message',
  message_requeued: 'message',
  message_coalesced: 'message',
  message_consumed: 'message',
  message_aborted: 'message',
  message_failed: 'message',
  message_dropped: 'message',
  message_dead: 'message',
  message_taken_back: 'message',
  turn_started: 'turn',
  turn_bound: 'turn',
  model_fell_back: 'turn',
  turn_ended: 'turn',
  request_sent: 'round',
  answer_cut: 'round',
  round_recorded: 'round',
  call_recorded: 'call',
  call_started: 'call',
  call_bound: 'call',
  call_finished: 'call',
  task_queued: 'task',
  task_started: 'task',
  task_promoted: 'task',
  task_readopted: 'task',
  task_asked: 'task',
  task_answered: 'task',
  task_cancelling: 'task',
  task_ended: 'task',
  wait_registered: 'wait',
  wait_rearmed: 'wait',
  wait_triggered: 'wait',
  wait_recheck_due: 'wait',
  wait_reviewed: 'wait',
  wait_resolved: 'wait',
  wait_cancelled: 'wait',
  brief_delivered: 'brief',
  delegation_made: 'delegation',
  delegation_bound: 'delegation',
  delegation_ended: 'delegation',
  decision_made: 'decision',
}

/** The groups that an event is part of; none for bookkeeping that no screen shows. */
export function placesOf({ id, turn_id, work_item_id, event }: StoredEvent): NounRef[] {
  const noun = nounOf[event.type]
  if (noun !== undefined) {
    const own: NounRef = { id: event.id, noun }
    // A turn counts its calls, and adds up its rounds.
    const counted = event.type === 'call_recorded' || event.type === 'round_recorded'
    return counted && turn_id !== null ? [own, { id: turn_id, noun: 'turn' }] : [own]
  }
  if (event.type === 'agent_paced') return turn_id === null ? [] : [{ id: turn_id, noun: 'turn' }]
  if (event.type === 'work_item_updated') return changesOf(event, turn_id, id)
  if (event.type === 'plan_changed') return [{ id: `${turn_id ?? id}/plan`, noun: 'plan' }]
  if (event.type === 'meter_asked') {
    return [{ id: `${work_item_id ?? event.id}/budget`, noun: 'budget' }]
  }
  if (event.type === 'work_item_completed' || event.type === 'work_item_reported') {
    return [{ id: `${event.id}/done`, noun: 'completion' }]
  }
  if (isCheck(event)) return [checkPlace(event)]
  return changes.has(event.type) ? [{ id, noun: 'change' }] : []
}

/** What an item or an agent was made to be, told once each time. */
const changes: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'agent_stopped',
  'agent_started',
  'agent_deleted',
  'work_item_created',
])

function changesOf(
  { changed }: Extract<Event, { type: 'work_item_updated' }>,
  turn_id: string | null,
  id: string,
): NounRef[] {
  const places: NounRef[] = []
  if (changed.todo_list !== undefined) {
    places.push({ id: `${turn_id ?? id}/todos`, noun: 'todos' })
  }
  const told = ['blocked_by', 'objective', 'budget'] as const
  if (told.some((field) => changed[field] !== undefined)) places.push({ id, noun: 'change' })
  return places
}

/** The group with the event in it, which was not in it before. */
export function withEvent(before: Group | undefined, place: NounRef, stored: StoredEvent): Group {
  const event = trimmed(stored.event)
  const { seq, at, agent_id } = stored
  const heard = { seq, at, event } as HistoryEvent
  const item = itemOf(stored)
  if (before === undefined) {
    return {
      ...place,
      agent_id,
      work_item_id: item,
      item_seq: item === null ? 0 : seq,
      turn_id: stored.turn_id,
      seq,
      at,
      last_seq: seq,
      heard: { [event.type]: heard },
      first: heard,
      count: { [event.type]: 1 },
      used: usedOf(event),
    }
  }
  const known = before.heard[event.type]
  const isNewest = known === undefined || known.seq < seq
  const isFirst = seq < before.seq
  return {
    ...before,
    // The newest event knows best whose it is: a turn is bound, a message gets its item.
    work_item_id: item !== null && seq > before.item_seq ? item : before.work_item_id,
    item_seq: item === null ? before.item_seq : Math.max(seq, before.item_seq),
    turn_id: isFirst ? stored.turn_id : before.turn_id,
    seq: isFirst ? seq : before.seq,
    at: isFirst ? at : before.at,
    last_seq: Math.max(seq, before.last_seq),
    heard: isNewest ? { ...before.heard, [event.type]: heard } : before.heard,
    first: isFirst ? heard : before.first,
    count: { ...before.count, [event.type]: (before.count[event.type] ?? 0) + 1 },
    used: plus(before.used, usedOf(event)),
  }
}

function itemOf({ event, work_item_id }: StoredEvent): string | null {
  return event.type === 'turn_bound' ? event.work_item_id : work_item_id
}

const usedOf = (event: Event): Used | null =>
  event.type === 'round_recorded'
    ? {
        input_tokens: event.usage.input_tokens,
        output_tokens: event.usage.output_tokens,
        usd: event.usage.usd,
      }
    : null

function plus(a: Used | null, b: Used | null): Used | null {
  if (a === null || b === null) return a ?? b
  const sum = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y)
  return {
    input_tokens: sum(a.input_tokens, b.input_tokens),
    output_tokens: sum(a.output_tokens, b.output_tokens),
    usd: sum(a.usd, b.usd),
  }
}

/** The same event with no long string in it; how many lines an output had is kept beside it. */
function trimmed(event: Event): Event {
  if (event.type === 'call_finished') return { ...event, result: counted(event.result) }
  return long.has(event.type) ? (shortened(event) as Event) : event
}

/** Events that may hold long texts. */
const long: ReadonlySet<Event['type']> = new Set<Event['type']>([
  'message_admitted',
  'round_recorded',
  'call_recorded',
  'call_started',
  'brief_delivered',
  'work_item_updated',
  'work_item_completed',
  'decision_made',
])

type Result = Extract<Event, { type: 'call_finished' }>['result']

function counted(result: Result): Result {
  const short = shortened(result) as Result
  if (result.status !== 'success' || short.status !== 'success') return short
  const { stdout } = Object(result.result) as { stdout?: unknown }
  if (typeof stdout !== 'string' || stdout.length <= bounds.text) return short
  const stdout_lines = stdout.split('\n').filter((line) => line !== '').length
  return { ...short, result: { ...Object(short.result), stdout_lines } }
}

/** Strings keep their beginning and their end: the end is where an output says what went wrong. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') {
    if (value.length <= bounds.text) return value
    const half = bounds.text / 2
    return `${value.slice(0, half)}…${value.slice(-half)}`
  }
  if (Array.isArray(value)) {
    let changed = false
    const list = value.map((one) => {
      const short = shortened(one)
      changed ||= short !== one
      return short
    })
    return changed ? list : value
  }
  if (typeof value !== 'object' || value === null) return value
  let out: Record<string, unknown> | null = null
  // Plain data has no fields but its own; a list of them would be made for every event.
  for (const key in value) {
    const one = (value as Record<string, unknown>)[key]
    if (typeof one === 'string' ? one.length <= bounds.text : typeof one !== 'object') continue
    const short = shortened(one)
    if (short !== one) (out ??= { ...value })[key] = short
  }
  return out ?? value
}
