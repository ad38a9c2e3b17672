/**
 * Ingress: how inputs enter. Every accepted signal is a row before it is acknowledged; what it
 * resolves or triggers happens in the same commit; nothing here creates a work item
 * (docs/spec/message.md#inbox).
 */
import { isCommandOf } from '../state/check.ts'
import { activeWaitOf, agentOf, agentPacing, type Draft } from '../facts/facts.ts'
import { tooMuchOf, type Image } from '../image.ts'
import { taskResultId, type MessageId, type TaskId, type WaitId, type WorkItemId } from '../ids.ts'
import { limits } from '../limits.ts'
import {
  hintKey,
  hintReason,
  isOwnTrigger,
  queuedEvent,
  type MessageEvent,
  type Priority,
} from '../state/message.ts'
import { outsideInput } from '../waits/pacing.ts'
import { askForInput } from '../waits/plan-question.ts'
import { isAdmitted, taskResult, type Provenance } from '../state/provenance.ts'
import { answerWords } from '../state/question.ts'
import { rankingOf } from '../facts/ranking.ts'
import { isTerminal, type Task, type TaskEnd } from '../state/task.ts'
import { between, plus, type Timestamp } from '../time.ts'
import { no, overLimit, type Rejection } from '../rejection.ts'
import type { DeliveryMode, Wait } from '../state/wait.ts'
import { resolveWait } from '../waits/wait-end.ts'
import { trigger } from '../waits/wait-for.ts'

export type Admitted = { ok: true; message_id: MessageId; resolved: WaitId[]; triggered: WaitId[] }

export type OperatorPrompt = {
  provenance: Provenance
  text: string
  images: readonly Image[]
  work_item_id: WorkItemId | null
  wait_id: WaitId | null
  priority: 'interject' | 'next'
  start: boolean
}

/** An operator's words, bound to a wait, to an item, or to nothing. */
export function admitPrompt(d: Draft, prompt: OperatorPrompt): Admitted | Rejection {
  const agent = agentOf(d)
  const wrong = checkPrompt(prompt) ?? checkBinding(d, prompt)
  if (wrong) return wrong
  if (agent.state === 'deleted') return no('agent_not_found', `${agent.id} was deleted.`)
  if (agent.state === 'stopped') {
    if (!prompt.start) return no('agent_stopped', `${agent.id} is ${agent.state}.`)
    d.emit({ type: 'agent_started', id: agent.id, by: 'operator' })
  }
  // Asked by now: words about an item that needs input are the answer.
  askForInput(d)
  const bound = prompt.wait_id === null ? null : (d.row('waits', prompt.wait_id) ?? null)
  const item = bound?.work_item_id ?? prompt.work_item_id
  const wait = bound ?? operatorWaitOf(d, item)
  const id = d.mint('msg')
  admit(d, {
    id,
    provenance: prompt.provenance,
    priority: prompt.priority,
    body: answerWords(wait?.question ?? null, prompt.text),
    ...(prompt.images.length === 0 ? {} : { images: prompt.images }),
    work_item_id: item,
    wait_id: wait?.id ?? null,
  })
  outsideInput(d, item, 'operator')
  if (wait) resolveByAnswer(d, wait.id, id)
  return { ok: true, message_id: id, resolved: wait ? [wait.id] : [], triggered: [] }
}

/** Resolves the question by its answer. False: it was over already, by the same input perhaps. */
export function resolveByAnswer(d: Draft, id: WaitId, message_id: MessageId): boolean {
  const wait = d.row('waits', id)
  // outsideInput may have ended this very wait, when it was the runtime's own question.
  if (wait?.status !== 'active') return false
  resolveWait(d, wait, { kind: 'operator', message_id }, null)
  return true
}

function checkPrompt(prompt: OperatorPrompt): Rejection | null {
  if (prompt.text.trim() === '') return no('message_empty', 'The message is empty.')
  const bytes = utf8Length(prompt.text)
  if (bytes > limits.operator_text.value) return overLimit(limits.operator_text, bytes)
  if (!isAdmitted(prompt.provenance)) {
    return no('message_not_admitted', 'This combination of origin and surface has no route.')
  }
  return tooMuchOf(prompt.images.map(({ bytes }) => bytes))
}

function checkBinding(d: Draft, prompt: OperatorPrompt): Rejection | null {
  if (prompt.wait_id !== null) {
    const wait = d.row('waits', prompt.wait_id)
    if (!wait) return no('wait_not_found', `${prompt.wait_id} is not a wait of ${d.agent_id}.`)
    if (wait.wake !== 'operator_input') {
      return no('not_a_question', `${wait.id} waits for ${wait.wake}, not for the operator.`)
    }
    if (wait.status !== 'active') return no('wait_not_active', `${wait.id} is ${wait.status}.`)
  }
  if (prompt.work_item_id !== null && !d.row('work_items', prompt.work_item_id)) {
    return no('work_item_not_found', `${prompt.work_item_id} is not an item of ${d.agent_id}.`)
  }
  return null
}

function operatorWaitOf(d: Draft, item: WorkItemId | null): Wait | null {
  if (item === null) return null
  const wait = activeWaitOf(d, item)
  return wait?.wake === 'operator_input' ? wait : null
}

export type OutsideEvent = {
  provenance: Provenance
  source: string | null
  resource: string | null
  body: string
  dedupe_key: string | null
  /** Fired by hand at one wait, whatever it names. */
  wait_id: WaitId | null
  /** Fixed by what it came through; absent or null: the mode of the waits it meets. */
  delivery_mode?: DeliveryMode | null
}

/** Counted along by the live facts: every delivery asks. */
function queuedEvents(d: Draft): number {
  const counted = d.queuedEvents()
  if (counted !== undefined) return counted
  let count = 0
  for (const message of d.rows('messages')) count += queuedEvent(message)
  return count
}

function firedAt(d: Draft, { wait_id }: OutsideEvent): Wait[] {
  const wait = wait_id === null ? undefined : d.row('waits', wait_id)
  return wait?.status === 'active' && wait.wake === 'external' ? [wait] : []
}

/** An event from outside: triggers every matching external wait in the commit that stores it. */
export function admitEvent(d: Draft, event: OutsideEvent): Admitted | Rejection {
  if (!isAdmitted(event.provenance)) {
    return no('message_not_admitted', 'This combination of origin and surface has no route.')
  }
  const bytes = utf8Length(event.body)
  if (bytes > limits.operator_text.value) return overLimit(limits.operator_text, bytes)
  const queued = queuedEvents(d)
  if (queued >= limits.queued_events.value) {
    return no('queue_full', `${queued} external messages are queued already.`)
  }
  const waits = event.wait_id === null ? [...rankingOf(d).waitsForEvent(event)] : firedAt(d, event)
  if (event.wait_id !== null && waits.length === 0) {
    return no('trigger_no_match', `${event.wait_id} is not an active external wait.`)
  }
  const only = waits.length === 1 ? waits[0] : undefined
  const byWaits = waits.length > 0 && waits.every((wait) => wait.delivery_mode === 'wake_hint')
  const hintOnly = event.delivery_mode ? event.delivery_mode === 'wake_hint' : byWaits
  const id = d.mint('msg')
  admit(d, {
    id,
    provenance: event.provenance,
    priority: 'normal',
    body: event.body,
    dedupe_key: event.dedupe_key,
    source: event.source,
    resource: event.resource,
    work_item_id: only?.work_item_id ?? null,
    wait_id: only?.id ?? null,
    consumed_because: hintOnly ? hintReason : null,
  })
  const { admission_context } = event.provenance
  for (const wait of waits) trigger(d, wait, { id, admission_context })
  if (hintOnly && waits.length === 0) tellOfHint(d, event)
  if (!isOwnTrigger(event.provenance)) fromOutside(d, waits)
  return { ok: true, message_id: id, resolved: [], triggered: waits.map((wait) => wait.id) }
}

function fromOutside(d: Draft, waits: readonly Wait[]): void {
  for (const item of new Set(waits.map((wait) => wait.work_item_id))) {
    outsideInput(d, item, 'external')
  }
  if (waits.length === 0) outsideInput(d, null, 'external')
}

/**
 * Nothing waits for a hint, so the agent is told that it came, when it has nothing else to do: at
 * most once an hour of one source and resource. What comes in between is counted.
 */
function tellOfHint(d: Draft, event: OutsideEvent): void {
  const { provenance, source, resource } = event
  const dedupe_key = hintKey(event)
  const told = [...d.rows('messages')]
    .filter((message) => message.dedupe_key === dedupe_key)
    .toSorted((a, b) => a.inbox_seq - b.inbox_seq)
    .at(-1)
  if (told?.status === 'queued') {
    d.emit({ type: 'message_counted', id: told.id })
    return
  }
  const again = told ? plus(told.due_at ?? told.created_at, limits.hint_pause.value) : null
  const about = [source, resource].filter((name) => name !== null).join(', ')
  admit(d, {
    id: d.mint('msg'),
    provenance,
    priority: 'background',
    body: `A hint${about === '' ? '' : ` of ${about}`} came and met no wait.`,
    dedupe_key,
    source,
    resource,
    due_at: again !== null && again > d.now ? again : null,
  })
}

export type EndedTask = {
  task_id: TaskId
  status: TaskEnd
  reason: string | null
  exit_status: number | null
  output_bytes: number
  ended_at: Timestamp
  /** What the model reads when the end comes as a message: outcome and last lines. */
  body: string
}

/**
 * The end of a task: its terminal row, its one result message, the waits it resolves. The item of a
 * check's command is among the facts while the check runs.
 */
export function endTask(d: Draft, end: EndedTask): void {
  const task = d.row('tasks', end.task_id)
  if (!task) throw new Error(`no row for ${end.task_id}`)
  if (isTerminal(task)) return
  d.emit({
    type: 'task_ended',
    id: task.id,
    status: end.status,
    reason: end.reason,
    exit_status: end.exit_status,
    output_bytes: end.output_bytes,
    ended_at: end.ended_at,
  })
  // How a check's command ended is told by its check.
  const item = task.work_item_id === null ? null : d.row('work_items', task.work_item_id)
  if (task.promoted && !isCommandOf(item?.checks ?? [], task.id)) {
    admit(d, {
      id: taskResultId(task.id),
      provenance: taskResult,
      priority: 'normal',
      body: `${afterYes(task)}${end.body}`,
      dedupe_key: task.id,
      work_item_id: readerOf(d, task),
      task_id: task.id,
    })
    if (task.started_at && between(task.started_at, end.ended_at) >= limits.outside_input.value) {
      outsideInput(d, task.work_item_id, 'lasting')
    }
  }
  const ended = d.row('tasks', task.id) ?? null
  for (const wait of [...rankingOf(d).waitsForTask(task.id)]) {
    resolveWait(d, wait, { kind: 'task', task_id: task.id }, ended)
  }
}

/**
 * What was held ends after a person's yes, of which who reads the end was never told. Of what has
 * no start the end says what is known: it may have run all the same.
 */
function afterYes({ held, started_at }: Task): string {
  if (held?.answer?.allowed !== true) return ''
  const { at, words } = held.answer
  const said = words === '' ? '' : `, with the words ${JSON.stringify(words)}`
  return `The operator said yes at ${at}${said}${started_at === null ? '' : '; it ran'}.\n`
}

/**
 * Whose turn reads the result: the item that waits for it, the task's own before any other. Without
 * one it is of the task's item; where that is over, the agent itself reads what it waits for.
 */
function readerOf(d: Draft, task: Task): WorkItemId | null {
  const own = task.work_item_id
  const waits = [...rankingOf(d).waitsForTask(task.id)]
  const items = waits.flatMap(({ work_item_id }) => work_item_id ?? [])
  if (own !== null && items.includes(own)) return own
  const [first] = items
  if (first !== undefined) return first
  const isOver = own !== null && d.row('work_items', own)?.state !== 'open'
  return isOver && waits.length > 0 ? null : own
}

type NewMessage = Pick<
  MessageEvent & { type: 'message_admitted' },
  'id' | 'provenance' | 'body'
> & { priority: Priority } & Partial<
    Omit<MessageEvent & { type: 'message_admitted' }, 'type' | 'id' | 'provenance' | 'body'>
  >

export function admit(d: Draft, message: NewMessage): void {
  d.emit({
    type: 'message_admitted',
    dedupe_key: null,
    source: null,
    resource: null,
    work_item_id: null,
    task_id: null,
    wait_id: null,
    correlation_id: null,
    causation_id: d.causation_id,
    turn_count: agentPacing(d).turn_count,
    due_at: null,
    consumed_because: null,
    ...message,
  })
}

/** Bytes of `text` in UTF-8, without a platform API. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return bytes
}
