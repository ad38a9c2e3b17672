/**
 * An item's state in one cell of a list, with the mark that goes before it: what it waits for,
 * since or until when, or what runs now. The longer words are in `protocol/why.ts`. Pure.
 */
import type { AgentView } from '../protocol/agent-view.ts'
import {
  measuredWords,
  verificationOf,
  type Projection,
  type Usage,
  type Wait,
} from '../protocol/records.ts'
import type { Mark } from './marks.ts'
import { clock, clockSpan, due, since, type Zone } from './span.ts'

export type StateCell = { mark: Mark; text: string }

export function stateCell(view: AgentView, p: Projection, zone: Zone): StateCell {
  const { reason, item } = p
  switch (reason.code) {
    case 'completed':
      return done(p, reason.at, zone)
    case 'wait':
      return waiting(view, reason.wait, zone)
    case 'blocked_by':
      return { mark: 'blocked', text: `blocked: ${reason.text}` }
    case 'needs_input':
      return { mark: 'needs_me', text: 'your input on its plan' }
    case 'imported':
      return { mark: 'needs_me', text: 'imported: look at it, then pick it' }
    case 'budget':
      return { mark: 'needs_me', text: `budget: ${reason.over.map(measuredWords).join(', ')}` }
    case 'nothing_holds_it':
      break
  }
  if (view.turn?.work_item_id === item.id) {
    const ms = Date.parse(zone.now) - Date.parse(view.turn.started_at)
    return view.survey.running
      ? { mark: 'working', text: `turn ${view.turn_count}, ${clockSpan(ms)}` }
      : { mark: 'next', text: `turn ${view.turn_count} is open; a run goes on` }
  }
  return { mark: 'next', text: heldBack(view, zone) ?? queued(view, p, zone) }
}

/** A claim is not shown as verified; without checks it is a claim and no more. */
function done({ item }: Projection, at: string, zone: Zone): StateCell {
  const when = clock(at, zone)
  const { state } = verificationOf(item)
  switch (state) {
    case 'none':
    case 'asked':
      return { mark: 'done', text: `done ${when}, claimed` }
    case 'verified':
      return { mark: 'done', text: `done ${when}, verified` }
    case 'pending':
      return { mark: 'waiting', text: `done ${when}, checks pending` }
    case 'failed':
      return { mark: 'failed', text: `done ${when}, checks failed` }
    case 'unknown':
    case 'changed':
      return { mark: 'unknown', text: `done ${when}, not verified` }
  }
}

function waiting(view: AgentView, wait: Wait, zone: Zone): StateCell {
  switch (wait.wake) {
    case 'operator_input':
      return { mark: 'needs_me', text: `you, ${since(wait.created_at, zone)}` }
    case 'task_result':
      return { mark: 'waiting', text: `${wait.resource}, ${since(wait.created_at, zone)}` }
    case 'timer':
      return { mark: 'waiting', text: `timer ${due(wait.wake_at ?? zone.now, zone)}` }
    case 'external':
    case 'system':
      return external(view, wait, zone)
  }
}

function external(view: AgentView, wait: Wait, zone: Zone): StateCell {
  if (wait.trigger_count > wait.reviewed_trigger_count) {
    const held = heldBack(view, zone)
    return { mark: 'arrived', text: held === null ? 'arrived' : `arrived; ${held}` }
  }
  const what = wait.source ?? wait.resource ?? 'an event'
  const recheck = wait.recheck_at === null ? '' : `; looks at ${due(wait.recheck_at, zone)}`
  return { mark: 'waiting', text: `${what}, ${since(wait.created_at, zone)}${recheck}` }
}

/** Why the whole agent starts nothing; null when it may. */
function heldBack(view: AgentView, zone: Zone): string | null {
  const { survey, agent } = view
  if (survey.stopped) return `${agent.id} is stopped`
  if (!survey.hold) return null
  const { wake_at } = survey.hold
  return wake_at === null ? `${agent.id} is held` : `${agent.id} is held to ${due(wake_at, zone)}`
}

function queued(view: AgentView, p: Projection, zone: Zone): string {
  if (!view.has_owner) return 'ready; a run goes on'
  if (view.next.do === 'wait' && view.next.for === 'backoff' && view.next.until !== null) {
    return `tries again ${due(view.next.until, zone)}`
  }
  return p.focus === 'current' ? 'next' : 'queued'
}

/** `$0.31`, else tokens, else nothing spent. A price that is not known is never `$0.00`. */
export function spent(usage: Usage | null): string {
  if (usage === null) return '-'
  if (usage.usd !== null && usage.usd > 0) return dollars(usage.usd)
  const tokens = tokensOf(usage)
  if (tokens === null) return 'not counted'
  return tokens === 0 ? '-' : `${thousandths(tokens)} tokens`
}

export const tokensOf = (usage: Usage): number | null =>
  usage.input_tokens === null || usage.output_tokens === null
    ? null
    : usage.input_tokens + usage.output_tokens

export const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.095 ? 3 : 2)}`

/** `18.2k` from a thousand on. */
export const thousandths = (n: number): string =>
  n < 1_000 ? String(n) : n < 999_500 ? `${(n / 1_000).toFixed(1)}k` : `${(n / 1e6).toFixed(1)}M`
