/**
 * Why a work item is as it is: what holds it, what happens next and when, what it costs meanwhile,
 * what may be done, and what the scheduler says about every candidate now. Computed from present
 * facts for any item, never stored (contracts 5, experience.md A7). Pure.
 */
import type { Considered, Decision } from '../domain/decision.ts'
import type { Projection, SchedulingState } from '../domain/readiness.ts'
import { itemReady } from '../domain/pacing.ts'
import type { Timestamp } from '../domain/time.ts'
import { considered, verdictOf } from '../domain/verdicts.ts'
import { unreviewed, type Wait } from '../domain/wait.ts'
import { backOffEnd, type AgentView } from './agent-view.ts'

/** Something a person may do about it now, as a shell line. */
export type Can = { label: string; cli: string }

export type Why = {
  work_item_id: string
  agent_id: string
  objective: string
  state: SchedulingState
  since: Timestamp
  /** `phrase: "detail"`, as one string. */
  why: string
  phrase: string
  detail: string | null
  next: string
  when: Timestamp | null
  /** Nothing has been spent on it since; null while it is worked on. */
  cost_since: Timestamp | null
  can: readonly Can[]
  /** What the agent's scheduler says now, about this item first of all. */
  now: { decision: string; because: string; verdict: string }
  considered: readonly Considered[]
  /** The last stored decision of the agent. */
  decision: Decision | null
}

type Held = {
  phrase: string
  detail?: string | null
  since: Timestamp
  next: string
  when?: Timestamp | null
  can?: readonly Can[]
  working?: boolean
}

export function whyOf(view: AgentView, p: Projection, decision: Decision | null): Why {
  const held = holdOfItem(view, p)
  const detail = held.detail ?? null
  return {
    work_item_id: p.item.id,
    agent_id: p.item.agent_id,
    objective: p.item.objective,
    state: p.scheduling_state,
    since: held.since,
    why: detail === null ? held.phrase : `${held.phrase}: "${detail}"`,
    phrase: held.phrase,
    detail,
    next: held.next,
    when: held.when ?? null,
    cost_since: held.working === true ? null : held.since,
    can: [...(held.can ?? []), { label: 'look at it', cli: `holon work show ${p.item.id}` }],
    now: {
      decision: view.next.do,
      because: view.next.because,
      verdict: verdictOf(view.facts, view.survey, p, view.next),
    },
    considered: considered(view.facts, view.survey, view.next),
    decision,
  }
}

function holdOfItem(view: AgentView, p: Projection): Held {
  const { reason, item } = p
  switch (reason.code) {
    case 'completed':
      return { phrase: 'is completed', since: reason.at, next: 'nothing: completed work is final' }
    case 'wait':
      return waiting(view, p, reason.wait)
    case 'blocked_by':
      return blocked(view, p, reason.text)
    case 'needs_input':
      return {
        phrase: 'needs your input on its plan',
        since: item.updated_at,
        next: 'your message starts a turn in which the agent goes on',
        can: [{ label: 'answer', cli: `holon send --work-item ${item.id} <text>` }],
      }
    case 'budget':
      return {
        phrase: 'is over its budget',
        since: item.updated_at,
        next: 'raising the limit lets it go on',
      }
    case 'nothing_holds_it':
      return runnable(view, p)
  }
}

function blocked(view: AgentView, p: Projection, text: string): Held {
  const { id } = p.item
  const unblock = { label: 'let it go on', cli: `holon work unblock ${id}` }
  const runbook = view.agent.model === 'runbook'
  return {
    phrase: 'is blocked',
    detail: text,
    since: p.item.updated_at,
    next: runbook
      ? 'unblocked, it runs that step again'
      : 'the agent or you must clear the blocker; nothing else wakes it',
    can: runbook
      ? [{ label: 'run the step again', cli: 'holon run --resume' }, unblock]
      : [unblock, { label: 'tell the agent', cli: `holon send --work-item ${id} <text>` }],
  }
}

function waiting(view: AgentView, p: Projection, wait: Wait): Held {
  const since = wait.created_at
  const detail = wait.reason
  switch (wait.wake) {
    case 'operator_input':
      return {
        phrase: 'waits for you',
        detail,
        since,
        next: `your answer resumes it ${atOnce(view)}${unlessHeld(view)}`,
        can: [{ label: 'answer', cli: `holon answer ${wait.id} <text>` }],
      }
    case 'task_result':
      return {
        phrase: `waits for ${wait.resource}`,
        detail,
        since,
        next: `when the task ends the agent goes on${unlessHeld(view)}`,
        can: [{ label: 'see its output', cli: `holon tasks output ${wait.resource}` }],
      }
    case 'timer':
      return {
        phrase: 'waits for a time',
        detail,
        since,
        next: `when the time comes the agent goes on${unlessHeld(view)}`,
        when: wait.wake_at,
      }
    case 'external':
      return external(view, wait)
    case 'system':
      throw new Error(`a system wait ${wait.id} on ${p.item.id}`)
  }
}

const atOnce = (view: AgentView): string => (view.has_owner ? 'at once' : 'at the next run')

function external(view: AgentView, wait: Wait): Held {
  const what = [wait.source, wait.resource].filter((part) => part !== null).join(' ')
  const name = what === '' ? 'an outside event' : what
  const trigger = { label: 'fire it by hand', cli: `holon trigger ${wait.id}` }
  const fresh = wait.trigger_count - wait.reviewed_trigger_count
  if (unreviewed(wait)) {
    const times = fresh === 1 ? 'once' : `${fresh} times`
    return {
      phrase: `has news: ${name} came ${times}, not looked at yet`,
      detail: wait.reason,
      since: wait.last_triggered_at ?? wait.created_at,
      next: `the agent reviews it${unlessHeld(view)}`,
      can: [trigger],
    }
  }
  const when = wait.recheck_consumed_at === null ? wait.recheck_at : null
  const orRecheck = when === null ? '' : ', or its recheck,'
  const seen = wait.trigger_count > 0 ? `; came ${wait.trigger_count} times, all looked at` : ''
  return {
    phrase: `waits for ${name}`,
    detail: wait.reason,
    since: wait.created_at,
    next: `an event${orRecheck} makes the agent look at it again${seen}${unlessHeld(view)}`,
    when,
    can: [trigger],
  }
}

function runnable(view: AgentView, p: Projection): Held {
  const { item } = p
  if (view.turn?.work_item_id === item.id) {
    const { turn } = view
    return view.has_owner
      ? {
          phrase: 'is being worked on',
          since: turn.started_at,
          next: 'the turn goes on until it ends or waits',
          working: true,
        }
      : {
          phrase: 'stopped in the middle of a turn',
          since: turn.started_at,
          next: 'the same turn goes on when a run starts',
          can: [resume],
        }
  }
  const ready = itemReady(view.facts, item, view.now)
  const until = ready.ready ? null : (ready.until ?? backOffEnd(view))
  return {
    phrase: ready.ready ? 'can go on' : 'pauses before the next try',
    detail: ready.ready ? null : ready.because,
    since: item.updated_at,
    next: agentHold(view) ?? (ready.ready ? goesOn(view, p) : 'it is tried again then'),
    when: until,
    can: view.has_owner ? [] : [resume],
  }
}

const resume: Can = { label: 'go on', cli: 'holon run --resume' }

function goesOn(view: AgentView, p: Projection): string {
  if (!view.has_owner) return 'nothing runs now; a run takes it up'
  return p.focus === 'current' ? 'the agent goes on with it' : 'the agent picks it when it is free'
}

/** What keeps the whole agent from starting anything, as the next step; null when nothing does. */
function agentHold(view: AgentView): string | null {
  const { id } = view.agent
  if (view.survey.stopped) return `agent ${id} is stopped; it goes on once it is started`
  const { hold } = view.survey
  if (!hold) return null
  return hold.wake_at === null
    ? `agent ${id} is held (${hold.reason}); it goes on once that is settled`
    : `agent ${id} is held (${hold.reason}) until ${hold.wake_at}`
}

function unlessHeld(view: AgentView): string {
  const hold = agentHold(view)
  if (hold !== null) return `; but ${hold}`
  return view.has_owner ? '' : ' (nothing runs now: `holon run --resume`)'
}
