/**
 * Invariants 45 and 46, over the events of an agent in order: what the model said to a person was
 * delivered, and a question with its text; a call begins for the item that the turn is about then.
 * For tests alone: programs of before delivered less, and their homes are sound all the same.
 */
import type { Event, EventType, StoredEvent } from '../../domain/state/event.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { mayStand } from '../../domain/work/report.ts'
import { roundText, type Outcome, type RoundKind } from '../../domain/state/turn.ts'

type Of<T extends EventType> = Extract<Event, { type: T }>

/** The words of an answer; `hasCalls`: they stand beside calls. */
type Said = { round: string; n: number; kind: RoundKind; text: string; hasCalls: boolean }

type Past = {
  found: string[]
  /** The item the open turn is about now. */
  about: WorkItemId | null
  rounds: Map<string, Of<'request_sent'>>
  /** Of the open turn, in order. */
  said: Said[]
  /** What went, or is to go, to a person in the open turn. */
  delivered: Pick<Of<'brief_delivered'>, 'kind' | 'text'>[]
  /** By wait: the text of its question, until that was delivered. */
  asked: Map<string, string>
}

type Walk = { readonly [T in EventType]?: (past: Past, event: Of<T>) => void }

export function toldHistory(events: readonly StoredEvent[]): string[] {
  const past: Past = {
    found: [],
    about: null,
    rounds: new Map(),
    said: [],
    delivered: [],
    asked: new Map(),
  }
  for (const { event } of events) {
    const on = walk[event.type] as ((past: Past, event: Event) => void) | undefined
    on?.(past, event)
  }
  for (const [wait] of past.asked) past.found.push(`45: the question of ${wait} reached nobody`)
  return past.found
}

const walk: Walk = {
  turn_started(past, event) {
    past.about = event.work_item_id
    past.said = []
    past.delivered = []
  },
  turn_bound(past, event) {
    past.about = event.work_item_id
  },
  request_sent: (past, event) => void past.rounds.set(event.id, event),
  round_recorded(past, event) {
    const request = past.rounds.get(event.id)
    past.rounds.delete(event.id)
    if (!request) return
    const text = event.finish === 'content_filter' ? '' : roundText(event)
    // A call that could not be read is a call: the model is asked for it again.
    const hasCalls = event.finish === 'unreadable_call'
    past.said.push({ round: event.id, n: request.n, kind: request.kind, text, hasCalls })
  },
  call_recorded(past, event) {
    const said = past.said.at(-1)
    if (said?.n === event.round) said.hasCalls = true
  },
  brief_delivered(past, event) {
    past.delivered.push(event)
    const question = past.asked.get(event.wait_id ?? '')
    if (question !== undefined && event.text.includes(question)) {
      past.asked.delete(event.wait_id ?? '')
    }
  },
  work_item_updated(past, { changed }) {
    // It is asked when the item's other wait has ended.
    if (changed.input_wanted)
      past.delivered.push({ kind: 'question', text: changed.input_wanted.question })
  },
  wait_registered(past, event) {
    if (event.wake !== 'operator_input') return
    past.asked.set(event.id, event.question?.text ?? '')
  },
  call_started(past, { id, work_item_id }) {
    if (work_item_id === past.about) return
    past.found.push(`46: ${id} began for ${work_item_id} in a turn about ${past.about}`)
  },
  turn_ended(past, { outcome, reason }) {
    // What a person stopped, or a refusal ended, is told in other words.
    if (outcome === 'aborted' || outcome === 'failed') return
    for (const said of past.said) {
      if (said.text === '' || !isForAPerson(past, said, outcome) || isTold(past, said)) continue
      past.found.push(`45: the words of ${said.round} reached nobody (${outcome}, ${reason})`)
    }
  },
}

/**
 * Words without calls end an answer; words beside calls are for a person where a wait ended the
 * turn with them. Of an answer that was cut and went on both parts are one.
 */
function isForAPerson({ said: all }: Past, said: Said, outcome: Outcome): boolean {
  const next = all.find(({ n }) => n === said.n + 1)
  const end = next?.kind === 'continue' ? next : said
  return !end.hasCalls || (end === all.at(-1) && outcome === 'waiting')
}

/** The answer to the question for a report may be the worse one of two, or no report at all. */
function isTold({ delivered }: Past, { text, kind }: Said): boolean {
  if (kind === 'report' && (!mayStand(text) || delivered.some((one) => one.kind === 'result'))) {
    return true
  }
  return delivered.some((one) => one.text.includes(text))
}
