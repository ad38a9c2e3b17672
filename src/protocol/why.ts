/**
 * `why` as readers get it: the record of the rules, with what a person may do about it now, as
 * shell lines, and the last decision that was stored (contracts 13, experience.md A7). Pure.
 */
import type { Decision } from '../domain/decision.ts'
import type { Projection } from '../domain/readiness.ts'
import { haltOf } from '../domain/told.ts'
import { unreviewed, type Wait } from '../domain/wait.ts'
import { why, type Why as Told } from '../domain/why.ts'
import { activeWaitsOf, type AgentView } from './agent-view.ts'

export { sentenceOf } from '../domain/why.ts'
export type { Decision } from '../domain/decision.ts'

/** Something a person may do about it now, as a shell line. */
export type Can = { label: string; cli: string }

export type Why = Told & {
  can: readonly Can[]
  /** The last stored decision of the agent. */
  last_decision: Decision | null
}

export function whyOf(view: AgentView, p: Projection, last_decision: Decision | null): Why {
  return { ...why(view, p), can: canOf(view, p), last_decision }
}

/** What moves the item first (a stopped agent takes no message); looking is always possible. */
function canOf(view: AgentView, p: Projection): Can[] {
  const [acts, starts] = [actsOn(view, p), goesOn(view, p)]
  const look = { label: 'look at it', cli: `holon work show ${p.item.id}` }
  const all = [...(view.survey.stopped ? [...starts, ...acts] : [...acts, ...starts]), look]
  return all.filter((one, n) => all.findIndex(({ cli }) => cli === one.cli) === n)
}

function actsOn(view: AgentView, { item, reason }: Projection): Can[] {
  switch (reason.code) {
    case 'completed':
      return []
    case 'wait':
      return actsOnWait(reason.wait, item.id)
    case 'blocked_by':
      return unblocks(view, item.id)
    case 'needs_input':
      return [{ label: 'answer', cli: `holon send --work-item ${item.id} <text>` }]
    case 'nothing_holds_it':
      return activeWaitsOf(view.facts)
        .filter((wait) => wait.by === 'runtime' && wait.work_item_id === null)
        .filter((wait) => wait.wake === 'operator_input')
        .map(answer)
  }
}

const answer = ({ id }: Wait): Can => ({ label: 'answer', cli: `holon answer ${id} <text>` })

function actsOnWait(wait: Wait, item: string): Can[] {
  switch (wait.wake) {
    case 'operator_input':
      return [answer(wait)]
    case 'task_result':
      return [{ label: 'see its output', cli: `holon tasks output ${wait.resource}` }]
    case 'timer':
      return [{ label: 'let it go on now', cli: `holon work unblock ${item}` }]
    case 'external':
      return unreviewed(wait) ? [] : [{ label: 'fire it by hand', cli: `holon trigger ${wait.id}` }]
    case 'system':
      throw new Error(`a system wait ${wait.id} on ${item}`)
  }
}

/** A runbook has nobody to tell; a run of its own clears the blocker and tries the step again. */
function unblocks({ agent, has_owner }: AgentView, item: string): Can[] {
  const unblock = `holon work unblock ${item}`
  if (agent.model !== 'runbook') {
    return [
      { label: 'let it go on', cli: unblock },
      { label: 'tell the agent', cli: `holon send --work-item ${item} <text>` },
    ]
  }
  return has_owner
    ? [{ label: 'run the step again', cli: unblock }]
    : [
        { label: 'run the step again', cli: resume },
        { label: 'let it go on', cli: unblock },
      ]
}

const resume = 'holon run --resume'

/** What lets its agent start turns again. With an owner it is started there, else by a run. */
function goesOn(view: AgentView, p: Projection): Can[] {
  if (p.reason.code === 'completed') return []
  const start = view.has_owner ? `holon agents start ${view.agent.id}` : resume
  const halt = haltOf(view)
  switch (halt?.by) {
    case undefined:
      return []
    case 'stopped':
      return [{ label: 'start the agent', cli: start }]
    case 'hold':
      return [{ label: 'try again, once it is settled', cli: start }]
    case 'nobody':
      return wantsRun(view, p) ? [{ label: 'go on', cli: resume }] : []
  }
}

/** Whether a run has something to do, or to wait for, on this item. */
const wantsRun = ({ turn }: AgentView, p: Projection): boolean =>
  turn?.work_item_id === p.item.id ||
  p.candidate_class === 'triggered_blocked' ||
  ['runnable', 'waiting_task', 'waiting_timer'].includes(p.scheduling_state)
