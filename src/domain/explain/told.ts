/**
 * What `why` tells of an item: the words of its sentence, what makes it go on and when that comes.
 * Here is what the tellings of all states share: what is looked at, and what keeps the whole agent
 * from starting a turn. Times are timestamps and ids are whole; a screen shortens them.
 */
import { agentOf, type Facts } from '../facts/facts.ts'
import type { Message } from '../state/message.ts'
import type { Projection } from '../facts/readiness.ts'
import type { Next } from '../scheduler/next.ts'
import type { Survey } from '../scheduler/survey.ts'
import type { Timestamp } from '../time.ts'
import { chosenItems } from '../scheduler/excluded.ts'
import type { Wait } from '../state/wait.ts'

/** What a reader looks at: the facts, and what the scheduler says about them now. */
export type AgentSnapshot = {
  facts: Facts
  survey: Survey
  next: Next
  /** A live process works on this home; without one nothing starts by itself. */
  has_owner: boolean
}

export type ItemSnapshot = AgentSnapshot & { p: Projection }

export type Explanation = {
  /** What the item does, in words that follow its objective. */
  why: string
  /** The words of whoever holds it, which end the sentence; null: there are none. */
  detail: string | null
  /** Since when that is so; null: the facts do not say. */
  since: Timestamp | null
  /** What makes it go on. */
  next: string
  /** When that comes by itself; null: nothing is due. */
  when: Timestamp | null
}

/** What keeps the whole agent from starting a turn, the first rule first. */
export type Halt =
  | { by: 'stopped' }
  | { by: 'hold'; reason: string; until: Timestamp | null; wait: Wait; has_model: boolean }
  | { by: 'budget'; reason: string; until: Timestamp | null; wait: Wait }
  | { by: 'nobody' }

export function haltOf({ facts, survey, has_owner }: AgentSnapshot): Halt | null {
  if (survey.stopped) return { by: 'stopped' }
  const { hold } = survey
  if (hold !== null) {
    const { reason, wake_at: until, runtime_cause: cause } = hold
    if (cause === 'budget' || cause === 'spending')
      return { by: 'budget', reason, until, wait: hold }
    const has_model = agentOf(facts).model !== null
    return { by: 'hold', reason, until, wait: hold, has_model }
  }
  return has_owner ? null : { by: 'nobody' }
}

/** What a sentence about the item adds when its agent may not start anything. */
export function haltWords(halt: Halt | null): string | null {
  switch (halt?.by) {
    case undefined:
    case 'nobody':
      return null
    case 'stopped':
      return 'its agent is stopped'
    case 'hold':
      if (!halt.has_model) return 'its agent is held until it has a model'
      return halt.until === null
        ? 'its agent is held until you start it again'
        : `its agent is held until ${halt.until}`
    case 'budget': {
      const end = halt.until === null ? '' : `, until ${halt.until}`
      return `its agent is held${end}: ${halt.reason.replace(/\.$/, '')}`
    }
  }
}

/** From when on a turn may follow: `usual` when nothing keeps the agent. */
export function onceIt(view: AgentSnapshot, usual = ''): string {
  const halt = haltOf(view)
  switch (halt?.by) {
    case undefined:
      return usual
    case 'stopped':
      return ' once its agent is started'
    case 'hold':
      if (!halt.has_model) return ' once its agent has a model'
      return halt.until === null
        ? ' once its agent is started'
        : ' once its agent is no longer held'
    case 'budget':
      return ' once its agent may spend more'
    case 'nobody':
      return ' at the next run'
  }
}

/** When what is due now happens: now, or not by itself. */
export const nowUnlessHalted = (view: AgentSnapshot): Timestamp | null =>
  haltOf(view) === null ? view.survey.now : null

/** Asides in brackets, or nothing. */
export function aside(...parts: readonly (string | null)[]): string {
  const said = parts.filter((part) => part !== null)
  return said.length === 0 ? '' : ` (${said.join('; ')})`
}

/** Whether the turn that starts next is about this item, or offers it. */
export function startsAbout({ next, p }: ItemSnapshot): boolean {
  if (next.do !== 'start_turn') return false
  const { start } = next
  const told = start.rule === 'message' && isAbout(p, start.message)
  return told || chosenItems(next).includes(p.item.id)
}

/** A message without an item is about the item in focus, unless that is over its budget. */
export function isAbout(p: Projection, message: Message): boolean {
  if (message.work_item_id !== null) return message.work_item_id === p.item.id
  return p.focus === 'current' && (p.budget?.over ?? []).length === 0
}
