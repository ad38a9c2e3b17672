/**
 * Message: one admitted input with its provenance. The inbox is the wake ledger: every accepted
 * signal is a row before it is acknowledged, and each row ends in exactly one terminal status.
 */
import type { AgentId, MessageId, TaskId, TurnId, WaitId, WorkItemId } from '../ids.ts'
import type { Image } from '../image.ts'
import type { DeliverySurface, Provenance } from './provenance.ts'
import type { Timestamp } from '../time.ts'

export const priorities = ['interject', 'next', 'normal', 'background'] as const
export type Priority = (typeof priorities)[number]

export type Message = Provenance & {
  id: MessageId
  agent_id: AgentId
  /** Order of admission in this agent: the seq of the admitting event. */
  inbox_seq: number
  priority: Priority
  body: string
  /** Sent with the words; absent: none. Only words of the operator have some. */
  images?: readonly Image[]
  dedupe_key: string | null
  /** What an event says it is about; null for the other kinds. */
  source: string | null
  resource: string | null
  work_item_id: WorkItemId | null
  task_id: TaskId | null
  wait_id: WaitId | null
  correlation_id: string | null
  causation_id: string | null
  status:
    | 'queued'
    | 'claimed'
    | 'consumed'
    | 'aborted'
    | 'failed'
    | 'interjected'
    | 'coalesced'
    | 'dropped'
    | 'dead'
  status_reason: string | null
  attempts: number
  turn_id: TurnId | null
  /** It does not stand in the input itself but in the file of coalesced events. */
  to_coalesce: boolean
  /** The round whose request carries it first; it is used up when that one is answered. */
  round: number | null
  /** It starts no turn before; null: at once. */
  due_at: Timestamp | null
  /** How often it came: what comes again before it is read is counted, not admitted. */
  came: number
  /** The agent's turn count at admission: how many turns have passed it over since. */
  turn_count: number
  created_at: Timestamp
}

/** When a message that is queued while a turn is open is read. */
export function readingWords({ priority }: Pick<Message, 'priority'>): string {
  switch (priority) {
    case 'interject':
      return 'the next request of the open turn shows it'
    case 'next':
    case 'normal':
    case 'background':
      return 'it is read after the open turn, by the next'
  }
}

/** What a queued message waits for, whether a turn is open or not. */
export function queuedWords({ priority }: Pick<Message, 'priority'>): string {
  switch (priority) {
    case 'interject':
      return 'queued for the next request'
    case 'next':
    case 'normal':
    case 'background':
      return 'queued for the next turn'
  }
}

export type MessageEvent =
  | {
      type: 'message_admitted'
      id: MessageId
      provenance: Provenance
      priority: Priority
      body: string
      images?: readonly Image[]
      dedupe_key: string | null
      source: string | null
      resource: string | null
      work_item_id: WorkItemId | null
      task_id: TaskId | null
      wait_id: WaitId | null
      correlation_id: string | null
      causation_id: string | null
      turn_count: number
      due_at: Timestamp | null
      /** A message that needs no model is consumed by the commit that admits it; why. */
      consumed_because: string | null
    }
  | { type: 'message_counted'; id: MessageId }
  /** An event that came before the wait it meets was made: it is of that wait from now on. */
  | { type: 'message_bound'; id: MessageId; wait_id: WaitId; work_item_id: WorkItemId | null }
  | {
      type: 'message_claimed'
      id: MessageId
      turn_id: TurnId
      to_coalesce: boolean
      /** It named no item, and went into a turn about this one. */
      work_item_id?: WorkItemId
    }
  | { type: 'message_shown'; id: MessageId; turn_id: TurnId; round: number }
  | { type: 'message_interjected'; id: MessageId; turn_id: TurnId; round: number }
  | { type: 'message_requeued'; id: MessageId; attempts: number }
  | { type: 'message_coalesced'; id: MessageId; turn_id: TurnId }
  | { type: 'message_consumed'; id: MessageId; turn_id: TurnId | null; because: string }
  | { type: 'message_aborted' | 'message_failed'; id: MessageId; turn_id: TurnId }
  | { type: 'message_dropped' | 'message_dead'; id: MessageId; reason: string }
  /** By the operator, through this door, before any turn claimed it. */
  | { type: 'message_taken_back'; id: MessageId; surface: DeliverySurface }

export function evolveMessage(
  message: Message | null,
  event: MessageEvent,
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Message {
  if (event.type === 'message_admitted') return admitted(event, meta)
  if (message === null) throw new Error(`${event.type} before message_admitted: ${event.id}`)
  if (!isLiveMessage(message)) {
    throw new Error(`${event.type} after ${message.id} was ${message.status}`)
  }
  switch (event.type) {
    case 'message_counted':
      return { ...message, came: message.came + 1 }
    case 'message_bound':
      return { ...message, wait_id: event.wait_id, work_item_id: event.work_item_id }
    case 'message_claimed':
      return {
        ...message,
        status: 'claimed',
        turn_id: event.turn_id,
        to_coalesce: event.to_coalesce,
        work_item_id: event.work_item_id ?? message.work_item_id,
      }
    case 'message_shown':
      return { ...message, round: event.round }
    case 'message_interjected':
      return { ...message, status: 'interjected', turn_id: event.turn_id, round: event.round }
    case 'message_requeued':
      return {
        ...message,
        status: 'queued',
        turn_id: null,
        to_coalesce: false,
        round: null,
        attempts: event.attempts,
      }
    case 'message_coalesced':
      return { ...message, status: 'coalesced', turn_id: event.turn_id }
    case 'message_consumed':
      return {
        ...message,
        status: 'consumed',
        turn_id: event.turn_id ?? message.turn_id,
        status_reason: event.because,
      }
    case 'message_aborted':
      return { ...message, status: 'aborted', turn_id: event.turn_id }
    case 'message_failed':
      return { ...message, status: 'failed', turn_id: event.turn_id }
    case 'message_dropped':
      return { ...message, status: 'dropped', status_reason: event.reason }
    case 'message_dead':
      return { ...message, status: 'dead', status_reason: event.reason }
    case 'message_taken_back':
      if (message.status !== 'queued') throw new Error(`${message.id} is ${message.status}`)
      return { ...message, status: 'dropped', status_reason: takenBackReason }
  }
}

function admitted(
  event: MessageEvent & { type: 'message_admitted' },
  meta: { at: Timestamp; seq: number; agent_id: AgentId },
): Message {
  const { type: _, provenance, consumed_because, ...given } = event
  return {
    ...given,
    ...provenance,
    agent_id: meta.agent_id,
    inbox_seq: meta.seq,
    status: consumed_because === null ? 'queued' : 'consumed',
    status_reason: consumed_because,
    attempts: 0,
    came: 1,
    turn_id: null,
    to_coalesce: false,
    round: null,
    created_at: meta.at,
  }
}

const takenBackReason = 'taken back by the operator'

/** Whether the operator took it back: one reason among those for which a message is dropped. */
export const isTakenBack = ({ status, status_reason }: Message): boolean =>
  status === 'dropped' && status_reason === takenBackReason

/** A later request of its turn than the first was the first to carry it. */
export const isLater = ({ round }: Pick<Message, 'round'>): boolean => round !== null && round > 1

/** It came while its turn ran; the end of a task is in the result of the call that read it. */
export const isInterjected = (message: Pick<Message, 'round' | 'kind'>): boolean =>
  isLater(message) && message.kind !== 'task_result'

/** Words of the operator that no turn has claimed: no model reads them, by whatever road. */
export const isUnread = ({ kind, status }: Message): boolean =>
  kind === 'operator_prompt' && (status === 'queued' || status === 'dropped')

/** Whether something must still carry the message: an open turn, a wait, a schedule. */
export const isLiveMessage = (message: Message): boolean =>
  message.status === 'queued' || message.status === 'claimed'

/** Messages that report an outside event, as against words of an operator or a task's end. */
export const isEvent = (message: Message): boolean => isEventKind(message.kind)

/** By the URL that the agent's own commands have. */
export const isOwnTrigger = ({ admission_context }: Pick<Message, 'admission_context'>): boolean =>
  admission_context === 'own_trigger_capability'

/** A word from outside: of a person, or of what a person set up; not of the agent's own work. */
export function isFromOutside(message: Pick<Message, 'origin' | 'admission_context'>): boolean {
  switch (message.origin) {
    case 'operator':
    case 'webhook':
    case 'timer':
      return true
    case 'callback':
      return !isOwnTrigger(message)
    case 'task':
    case 'system':
    case 'agent':
      return false
  }
}

/** Why a message is stored consumed that is a sign of life and nothing else. */
export const hintReason = 'a wake hint'

/** A hint: its body is kept and not shown; what shows it names where it came from. */
export const isHint = ({ status, status_reason }: Message): boolean =>
  status === 'consumed' && status_reason === hintReason

/** By which the messages that tell of hints of one source and resource are known. */
export const hintKey = ({ source, resource }: Pick<Message, 'source' | 'resource'>): string =>
  `hint\n${source ?? ''}\n${resource ?? ''}`

/** Tells of hints that met no wait: the hints themselves are messages of their own. */
export const tellsOfHint = (
  message: Pick<Message, 'dedupe_key' | 'source' | 'resource'>,
): boolean => message.dedupe_key === hintKey(message)

/** 1 for an external message that is queued, else 0: what a count of them is made of. */
export const queuedEvent = (message: Message | undefined): 0 | 1 =>
  message?.status === 'queued' && isEvent(message) ? 1 : 0

export const isEventKind = (kind: Message['kind']): boolean =>
  kind === 'callback_event' || kind === 'webhook_event'

/** Whether the words are those of the world outside: evidence, whatever they claim. */
export function isForeign(message: Pick<Message, 'authority_class'>): boolean {
  switch (message.authority_class) {
    case 'operator_instruction':
    case 'runtime_instruction':
      return false
    case 'integration_signal':
    case 'external_evidence':
      return true
  }
}
