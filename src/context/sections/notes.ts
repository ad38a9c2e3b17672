/**
 * Runtime notes: what the runtime has to say between two requests of a turn. Each is one text,
 * stored with the round it goes in front of, and begins with the words the system text names.
 */
import { measuredWords } from '../../domain/facts/budget.ts'
import type { ErrorKind, Warning } from '../../domain/state/call.ts'
import type { WorkItemId } from '../../domain/ids.ts'
import { limits } from '../../domain/limits.ts'
import type { Message } from '../../domain/state/message.ts'
import type { Measured } from '../../domain/state/meter.ts'
import { mayStand } from '../../domain/work/report.ts'
import { between, type Timestamp } from '../../domain/time.ts'
import { messageTexts, type MessagesView } from './messages.ts'
import { clip, oneLine, span, thousands } from '../phrase.ts'
import { template } from '../template.ts'

const note = (name: string, values: Readonly<Record<string, string>> = {}): string =>
  `Runtime note: ${template('notes', name, values)}`

/** What interrupted a turn: one note says what happened and how long ago. */
export type Interruption =
  | {
      kind: 'recovered'
      since: Timestamp
      /** The calls found without an outcome and what became of each. */
      calls: readonly { tool_name: string; became: 'result' | ErrorKind }[]
    }
  /** `limits`: how the budgets stand now; null: it was no budget that held it. */
  | { kind: 'held'; since: Timestamp; cause: string; limits: readonly string[] | null }
  | { kind: 'slept'; since: Timestamp }

export function interruptionNote(interruption: Interruption, now: Timestamp): string {
  const passed = span(between(interruption.since, now))
  switch (interruption.kind) {
    case 'recovered': {
      const calls = interruption.calls.map(
        ({ tool_name, became }) => `${tool_name} (${settledWords(became)})`,
      )
      const settled =
        calls.length === 0
          ? template('notes', 'recovered_clean')
          : template('notes', 'recovered_calls', { calls: calls.join(', ') })
      return note('recovered', { ago: passed, calls: settled })
    }
    case 'held':
      return note('held', {
        ago: heldFor(interruption, now),
        cause: causeOf(interruption.cause),
        limits: limitsNow(interruption.limits),
      })
    case 'slept':
      return note('slept', { ago: passed })
  }
}

/** A hold that a word ended at once was no time. */
const heldFor = ({ since }: Interruption, now: Timestamp): string => {
  const passed = between(since, now)
  return passed < 1000 ? 'a moment' : span(passed)
}

/** What the words of the hold said of a budget is over with it. */
function limitsNow(limits: readonly string[] | null): string {
  if (limits === null) return ''
  return limits.length === 0 ? 'No budget holds it now. ' : `Used by now: ${limits.join('; ')}. `
}

/** Without its full stop: the sentence goes on. */
const causeOf = (cause: string): string => clip(cause, 500).replace(/\.$/, '')

/** What stands above of a call that was found open: its result, or why there is none. */
function settledWords(became: 'result' | ErrorKind): string {
  switch (became) {
    case 'result':
      return 'its result is recovered above'
    case 'invalid_input':
    case 'rejected':
    case 'fault':
    case 'timeout':
    case 'aborted':
    case 'not_executed':
    case 'outcome_unknown':
      return became
  }
}

/**
 * Messages of the operator that enter the running turn, labelled and quoted like any input.
 * `delivered`: the text before them ended an answer, and was sent although they came meanwhile.
 */
export function interjectedNote(
  messages: readonly Message[],
  view: MessagesView,
  delivered: boolean,
): string {
  const values = { who: whoWrote(messages) }
  const before = delivered ? `${template('notes', 'delivered')} ` : ''
  return [
    `Runtime note: ${before}${template('notes', 'interjected', values)}`,
    ...messageTexts(messages, view),
  ].join('\n\n')
}

/** Tasks that are named of those that wait for a yes. */
const heldShown = 3

/** Beside words of the operator that may be meant as the answer to what is held; '': nothing is. */
export function heldStillText(held: readonly { id: string }[]): string {
  const [first] = held
  if (first === undefined) return ''
  const more = held.length > heldShown ? ` and ${held.length - heldShown} more` : ''
  const tasks = `${held
    .slice(0, heldShown)
    .map(({ id }) => id)
    .join(', ')}${more}`
  const wait = held.length === 1 ? 'waits' : 'wait'
  return template('notes', 'held_still', { tasks, wait, task: first.id })
}

function whoWrote(messages: readonly Message[]): string {
  if (messages.some(({ kind }) => kind === 'operator_prompt')) return 'The operator wrote'
  const isParent = messages.some(({ kind }) => kind === 'delegation')
  return isParent ? 'Your parent wrote' : 'A message came'
}

/** Told once for each limit of which little is left. */
export const budgetNote = (item: string, nearly: readonly Measured[]): string =>
  note('budget', { item, used: nearly.map(measuredWords).join(', ') })

/** Told once before a recap: results of older rounds are about to go. */
export const nearlyFullNote = (left_tokens: number): string =>
  note('nearly_full', { left: thousands(Math.max(100, Math.floor(left_tokens / 100) * 100)) })

/** `unsaid`: the last words of the turn that stood beside calls and were delivered to nobody. */
export function emptyAnswerNote(unsaid: string | null): string {
  const said = unsaid === null ? '' : `${template('notes', 'unsaid', { text: clip(unsaid, 200) })} `
  return note('again', { unsaid: said })
}

/** The calls of the last answers brought nothing that those before had not. */
export const repeatsNote = (): string =>
  note('repeats', {
    told: String(limits.repeats_told.value),
    most: String(limits.repeats.value),
  })

export const cutAnswerNote = (): string => note('cut')

export const cutCallsNote = (): string => note('cut_calls')

/** `word`: what the provider said of the call it could not read. */
export const unreadableCallNote = (word: string): string =>
  note('unreadable_call', { word: clip(word, 100) })

/**
 * Asks for the report of a completed item; the request that carries it has tool choice none. Words
 * that were there are quoted: they stand, or are taken for an announcement.
 */
export function reportNote(
  item: { id: WorkItemId; objective: string },
  warnings: readonly Warning[] = [],
  asked: { text: string; others: readonly WorkItemId[] } = { text: '', others: [] },
): string {
  const said = warnings.map(({ message }) => ` Mention: ${clip(message, 500)}`).join('')
  const also = asked.others.length === 0 ? '' : ` (and ${asked.others.join(', ')})`
  const text = asked.text.trim()
  const values = {
    item: `${item.id}${also}`,
    objective: clip(item.objective, 500),
    warnings: said,
    text: oneLine(text),
  }
  if (text === '') return note('report', values)
  return note(mayStand(text) ? 'report_short' : 'report_announced', values)
}

/** Whether a note warns of a recap: once that has come, it says nothing more. */
export const isNearlyFullNote = (text: string): boolean =>
  /^Runtime note: About [\d,]+ tokens are left before /.test(text)

/** Whether a note tells of an interruption: a request sent again carries only the newest one. */
export const isInterruptionNote = (text: string): boolean =>
  /^Runtime note: (The runtime stopped in the middle|This turn was held|\d.* passed since)/.test(
    text,
  )
