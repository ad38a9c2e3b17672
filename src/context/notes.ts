/**
 * Runtime notes: what the runtime has to say between two requests of a turn. Each is one text,
 * stored with the round it goes in front of, and begins with the words the system text names.
 */
import { measuredWords, type Measured } from '../domain/budget.ts'
import type { ErrorKind, Warning } from '../domain/call.ts'
import type { Event } from '../domain/event.ts'
import type { WorkItemId } from '../domain/ids.ts'
import type { Message } from '../domain/message.ts'
import { between, type Timestamp } from '../domain/time.ts'
import type { WorkItemChanges } from '../domain/work-item.ts'
import { messageTexts, type MessagesView } from './message-section.ts'
import { clip, quoted, span } from './phrase.ts'
import { template } from './template.ts'

const note = (name: string, values: Readonly<Record<string, string>> = {}): string =>
  `Runtime note: ${template('notes', name, values)}`

/** What interrupted a turn: one note says what happened and how long ago. */
export type Interruption =
  | {
      kind: 'recovered'
      since: Timestamp
      /** The calls found without an outcome and what became of each. */
      calls: readonly { tool_name: string; became: 'result' | 'run_again' | ErrorKind }[]
    }
  | { kind: 'held'; since: Timestamp; cause: string }
  | { kind: 'slept'; since: Timestamp }

export function interruptionNote(interruption: Interruption, now: Timestamp): string {
  const passed = span(between(interruption.since, now))
  switch (interruption.kind) {
    case 'recovered': {
      const calls = interruption.calls.map(({ tool_name, became }) => `${tool_name} (${became})`)
      const settled =
        calls.length === 0
          ? template('notes', 'recovered_clean')
          : template('notes', 'recovered_calls', { calls: calls.join(', ') })
      return note('recovered', { ago: passed, calls: settled })
    }
    case 'held':
      return note('held', { ago: passed, cause: clip(interruption.cause, 500) })
    case 'slept':
      return note('slept', { ago: passed })
  }
}

/** The operator's changes to a running turn's item; null when these events hold none. */
export function operatorChangeNote(item: WorkItemId, events: readonly Event[]): string | null {
  const changes = events.flatMap((event) => changeWords(item, event))
  return changes.length === 0
    ? null
    : note('operator_change', { item, changes: changes.join('; ') })
}

function changeWords(item: WorkItemId, event: Event): string[] {
  if (event.type === 'work_item_updated') {
    return event.id === item && event.by === 'operator' ? fieldWords(event.changed) : []
  }
  if (event.type === 'work_item_completed') {
    return event.id === item && event.by === 'operator' ? ['completed it'] : []
  }
  if (event.type === 'wait_cancelled') {
    return event.by === 'operator' ? [`cancelled its wait ${event.id}`] : []
  }
  return []
}

function fieldWords(changed: WorkItemChanges): string[] {
  const words: string[] = []
  if (changed.objective !== undefined) words.push(`objective: ${quoted(changed.objective, 500)}`)
  if (changed.plan_status !== undefined) words.push(`plan_status: ${changed.plan_status}`)
  if (changed.blocked_by !== undefined) {
    const { blocked_by } = changed
    words.push(blocked_by === null ? 'blocker cleared' : `blocked_by: ${quoted(blocked_by, 500)}`)
  }
  if (changed.todo_list !== undefined) {
    const list = changed.todo_list.map(({ state, text }) => `${state} ${quoted(text, 300)}`)
    words.push(`todo list: ${list.length === 0 ? 'empty' : list.join(', ')}`)
  }
  if (changed.budget !== undefined) words.push(`budget: ${JSON.stringify(changed.budget)}`)
  return words
}

/** Messages of the operator that enter the running turn, labelled and quoted like any input. */
export const interjectedNote = (messages: readonly Message[], view: MessagesView): string =>
  [note('interjected'), ...messageTexts(messages, view)].join('\n\n')

/** Told once for each limit of which little is left. */
export const budgetNote = (item: string, nearly: readonly Measured[]): string =>
  note('budget', { item, used: nearly.map(measuredWords).join(', ') })

export const emptyAnswerNote = (): string => note('again')

export const cutAnswerNote = (): string => note('cut')

/** Asks for the report of a completed item; the request that carries it has tool choice none. */
export function reportNote(
  item: { id: WorkItemId; objective: string },
  warnings: readonly Warning[] = [],
): string {
  const said = warnings.map(({ message }) => ` Mention: ${clip(message, 500)}`).join('')
  return note('report', { item: item.id, objective: clip(item.objective, 500), warnings: said })
}

/** Whether a note tells of an interruption: a request sent again carries only the newest one. */
export const isInterruptionNote = (text: string): boolean =>
  /^Runtime note: (The runtime stopped in the middle|This turn was held|\d.* passed since)/.test(
    text,
  )
